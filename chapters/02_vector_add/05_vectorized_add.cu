// 02/05 Vectorized add: each thread adds four neighbouring floats with 16-byte loads and stores.
//   a, b, c    n floats in device memory, n >= 0, each aligned to 16 bytes (cudaMalloc gives 256);
//              pointers with another alignment are not promised to work
//   The last n % 4 floats form no whole float4: they are the tail.
//   TODOs      3
#include "05_vectorized_add.h"

__global__ void vector_add_float4(const float* a, const float* b, float* c, int n) {
  // TODO(1): Every whole group of four floats is added by one thread, which reads 16 bytes of a
  // and of b at a time and writes 16 bytes of c (about 6 lines).

  // TODO(2): The floats of the tail are added too, each by one thread (about 4 lines).
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  constexpr int kBlock = 256;  // threads
  // TODO(3): As many threads as the n floats need, at four floats each; none for n = 0.
  vector_add_float4<<<1, kBlock>>>(d_a, d_b, d_c, n);
}

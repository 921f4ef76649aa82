// 02/05 Vectorized add: each thread adds four neighbouring floats with 16-byte loads and stores.
//   a, b, c    n floats in device memory, n >= 0, each aligned to 16 bytes (cudaMalloc gives 256);
//              pointers with another alignment are not promised to work
//   The last n % 4 floats form no whole float4: they are the tail.
//   TODOs      3
#include "05_vectorized_add.h"

__global__ void vector_add_float4(const float* a, const float* b, float* c, int n) {
  // TODO(1): Thread i of the grid adds float4 number i, if there is a whole one: read a float4
  // of a and of b, write one to c (about 6 lines).

  // TODO(2): The first threads of the grid add one float of the tail each (about 4 lines).
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  constexpr int kBlock = 256;  // threads
  const int grid = 1;  // TODO(3): Enough blocks to cover n floats, four per thread (2 lines).
  if (grid > 0) {
    vector_add_float4<<<grid, kBlock>>>(d_a, d_b, d_c, n);
  }
}

// Another right answer: n / kBlock + 1 blocks (one of them idle when n is a multiple), a 64-bit
// index and the guard around the write.
#include "02_global_index.h"

__global__ void arange_guarded(int* out, int first, int step, int n) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < static_cast<size_t>(n)) {
    out[i] = static_cast<int>(i) * step + first;
  }
}

void launch_arange(int* d_out, int first, int step, int n) {
  constexpr int kBlock = 256;  // threads
  arange_guarded<<<n / kBlock + 1, kBlock>>>(d_out, first, step, n);
}

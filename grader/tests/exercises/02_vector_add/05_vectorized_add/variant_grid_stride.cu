// Another right answer: a grid-stride loop over float4, the tail by the last thread of the grid.
#include "05_vectorized_add.h"

__global__ void vector_add_strided(const float4* a, const float4* b, float4* c, int groups, int n) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int threads = gridDim.x * blockDim.x;
  for (int i = thread; i < groups; i += threads) {
    const float4 p = a[i], q = b[i];
    c[i] = {p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w};
  }
  if (thread == threads - 1) {
    const float* a_tail = reinterpret_cast<const float*>(a);
    const float* b_tail = reinterpret_cast<const float*>(b);
    float* c_tail = reinterpret_cast<float*>(c);
    for (int k = 4 * groups; k < n; ++k) {
      c_tail[k] = a_tail[k] + b_tail[k];
    }
  }
}

void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n == 0) return;
  constexpr int kMostBlocks = 2048;  // of 128 threads: enough for every card, the loop does the rest
  const int wanted = n / 4 / 128 + 1;
  const int grid = wanted < kMostBlocks ? wanted : kMostBlocks;
  vector_add_strided<<<grid, 128>>>(reinterpret_cast<const float4*>(d_a),
                                 reinterpret_cast<const float4*>(d_b),
                                 reinterpret_cast<float4*>(d_c), n / 4, n);
}

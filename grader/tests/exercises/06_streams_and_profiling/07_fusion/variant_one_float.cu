// Accepted: one float per thread and step.
#include "07_fusion.h"

int predicted_bytes(bool fused) { return fused ? 4 * 4 : 3 * 4 + 3 * 4 + 2 * 4; }

__global__ void gate_strided(const float* __restrict__ a, const float* __restrict__ b,
                             const float* __restrict__ c, float* __restrict__ y, int n) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = 1.0f / (1.0f + expf(-fmaf(b[i], c[i], a[i])));
  }
}

void launch_sigmoid_fused(const float* d_a, const float* d_b, const float* d_c, float* d_y, int n) {
  gate_strided<<<(n + 511) / 512, 512>>>(d_a, d_b, d_c, d_y, n);
}

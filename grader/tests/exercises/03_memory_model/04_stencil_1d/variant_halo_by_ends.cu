// Another right answer: 128 threads, each loads its own element, the first four the halo as well.
#include "04_stencil_1d.h"

__global__ void stencil_ends(const float* x, float* y, Weights weight, int n) {
  __shared__ float tile[128 + 2 * kRadius];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int own = threadIdx.x + kRadius;
  tile[own] = i < n ? x[i] : 0.0f;
  if (threadIdx.x < kRadius) {
    tile[own - kRadius] = i >= kRadius ? x[i - kRadius] : 0.0f;
    tile[own + 128] = i + 128 < n ? x[i + 128] : 0.0f;
  }
  __syncthreads();
  if (i >= n) return;
  float sum = weight.at[kRadius] * tile[own];
  for (int k = 1; k <= kRadius; ++k) {
    sum = fmaf(weight.at[kRadius - k], tile[own - k], sum);
    sum = fmaf(weight.at[kRadius + k], tile[own + k], sum);
  }
  y[i] = sum;
}

void launch_stencil(const float* d_x, float* d_y, Weights weight, int n) {
  if (n > 0) stencil_ends<<<(n + 127) / 128, 128>>>(d_x, d_y, weight, n);
}

// Online softmax for all rows with a block of 256 per row (no registers kernel): may miss the speed bar only
#include <cfloat>
#include "10_softmax_rows.h"
#include "support.h"
__global__ void __launch_bounds__(256) softmax(const float* x, float* y, int cols) {
  __shared__ float part[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float m = -FLT_MAX, s = 0;
  for (int c = threadIdx.x; c < cols; c += 256) { const float v = row[c], w = fmaxf(m, v); s = s * expf(m - w) + expf(v - w); m = w; }
  const float wm = warp_max(m);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = wm;
  __syncthreads();
  float bm = part[0];
  for (int k = 1; k < 8; ++k) bm = fmaxf(bm, part[k]);
  __syncthreads();
  s = warp_sum(s * expf(m - bm));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  float total = 0;
  for (int k = 0; k < 8; ++k) total += part[k];
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(row[c] - bm) / total;
}
void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  if (rows > 0) softmax<<<rows, 256>>>(d_x, d_y, cols);
}

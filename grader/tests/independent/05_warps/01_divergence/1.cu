// Warps in pairs on 64 samples
#include "01_divergence.h"
constexpr int kBlock = 256;
int predicted_launches(int) { return 1; }
int predicted_passes(const int path[32]) {
  unsigned seen = 0;
  for (int l = 0; l < 32; ++l) seen |= 1u << path[l];
  int c = 0;
  for (; seen; seen &= seen - 1) ++c;
  return c;
}
__global__ void process_channels(const float* x, float* y, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int pair = t / 64 * 64, lane = t % 32, odd = t / 32 % 2;
  const int i = pair + 2 * lane + odd;
  if (i < n) y[i] = odd ? right_channel(x[i]) : left_channel(x[i]);
}
void launch_process_channels(const float* d_x, float* d_y, int n) {
  if (n > 0) process_channels<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_x, d_y, n);
}

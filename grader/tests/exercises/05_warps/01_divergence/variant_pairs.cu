// Another right answer: a thread takes a left and the right sample beside it, so no branch is left.
#include "01_divergence.h"

int predicted_launches(int) { return 1; }

int predicted_passes(const int path[32]) {
  unsigned seen = 0;  // bit w: some lane goes the way w
  for (int lane = 0; lane < 32; ++lane) seen |= 1u << path[lane];
  int passes = 0;
  for (; seen != 0; seen &= seen - 1) ++passes;
  return passes;
}

__global__ void process_pairs(const float* x, float* y, int n) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    y[i] = left_channel(x[i]);
    y[i + 1] = right_channel(x[i + 1]);
  } else if (i < n) {
    y[i] = left_channel(x[i]);
  }
}

void launch_process_channels(const float* d_x, float* d_y, int n) {
  if (n > 0) process_pairs<<<(n + 255) / 256, 128>>>(d_x, d_y, n);
}

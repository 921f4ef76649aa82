// 05/01 Divergence: what the exercise is compared with.
#include "01_divergence.h"

namespace {

__global__ void process_channels_divergent(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    if (i % 2 == 0) {  // neighbours disagree: every warp goes both ways
      y[i] = left_channel(x[i]);
    } else {
      y[i] = right_channel(x[i]);
    }
  }
}

__global__ void count_passes(const int* path, int* passes) {
  const int lane = threadIdx.x;
  const int mine = path[lane];
  for (int way = 0; way < 32; ++way) {
    if (mine == way) {
      // The lanes that are here together are one pass; the lowest of them counts it.
      if (lane == __ffs(__activemask()) - 1) atomicAdd(passes, 1);
    }
    __syncwarp();
  }
}

}  // namespace

void launch_process_channels_divergent(const float* d_x, float* d_y, int n) {
  constexpr int kBlock = 256;  // threads
  process_channels_divergent<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_x, d_y, n);
}

void launch_count_passes(const int* d_path, int* d_passes) {
  count_passes<<<1, 32>>>(d_path, d_passes);
}

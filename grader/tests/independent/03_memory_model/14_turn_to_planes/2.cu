// 1-D grid with division, 16 warps, all loads of a thread in registers before the first goes to the tile
#include "14_turn_to_planes.h"

namespace {

constexpr int kSide = 32, kWarps = 16;

constexpr int kPitch = 97;  // words: row r of the tile begins at word 97 r

__global__ void __launch_bounds__(kSide * kWarps)
    turn(const float* __restrict__ pixels, const Mix mix, float* __restrict__ planes, int rows, int cols,
         int tiles_across) {
  __shared__ float flat[kSide * kPitch];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row0 = static_cast<int>(blockIdx.x / tiles_across) * kSide;
  const int col0 = static_cast<int>(blockIdx.x % tiles_across) * kSide;
  const int wide = min(kSide, cols - col0), high = min(kSide, rows - row0);

  float v[kSide / kWarps][3];
#pragma unroll
  for (int j = 0; j < kSide / kWarps; ++j) {
    const int r = warp + j * kWarps;
    const float* from = pixels + 3 * (static_cast<size_t>(row0 + r) * cols + col0);
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int i = lane + 32 * k;
      v[j][k] = r < high && i < 3 * wide ? __ldcs(from + i) : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < kSide / kWarps; ++j) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int i = lane + 32 * k;
      flat[(warp + j * kWarps) * kPitch + i] = v[j][k];
    }
  }
  __syncthreads();
  const size_t plane = static_cast<size_t>(rows) * cols;
  if (lane < high) {
    for (int c = warp; c < wide; c += kWarps) {
      const float* p = flat + lane * kPitch + 3 * c;
      const float a = p[0], b = p[1], d = p[2];
      float* to = planes + static_cast<size_t>(col0 + c) * rows + (rows - 1 - row0 - lane);
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        to[k * plane] = fmaf(mix.at[k][2], d, fmaf(mix.at[k][1], b, mix.at[k][0] * a));
      }
    }
  }
}

}  // namespace

void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
  if (rows < 1 || cols < 1) return;
  const int across = (cols + kSide - 1) / kSide, down = (rows + kSide - 1) / kSide;
  turn<<<static_cast<unsigned>(across) * static_cast<unsigned>(down), kSide * kWarps>>>(
      d_pixels, mix, d_planes, rows, cols, across);
}

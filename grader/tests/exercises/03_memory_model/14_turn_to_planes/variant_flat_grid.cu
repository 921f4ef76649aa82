// 03/14 Turn to planes, the capstone: a photo becomes three planes, mixed and turned.
//   pixels  rows x cols x 3 floats in device memory, row-major: r g b r g b ...
//   mix     3 x 3 weights: channel k of the result is the sum over j of mix.at[k][j] * channel j
//   planes  3 x cols x rows floats; planes[k][c][rows - 1 - r] belongs to pixel (r, c)
//           0 <= rows, cols <= 2^20
//   Budget: every pixel is loaded once, nothing is moved that is not wanted, no bank conflict.
//   Bar, on a GPU: half of the copy rate.
//
//   Nothing is given here: kernels, launches and all sizes are yours.
#include "14_turn_to_planes.h"

namespace {

constexpr int kThreads = 256;
constexpr int kSide = 32;               // pixels of a tile side
constexpr int kFloats = 3 * kSide;      // of a row of the tile
constexpr int kPitch = kFloats + 1;     // 97: a column of pixels lies in 32 different banks

// Interleaved floats come in along rows; each warp then takes a column of pixels, one per lane, and
// makes all three channels from three conflict-free reads.
__global__ void __launch_bounds__(kThreads)
    turn_and_mix(const float* __restrict__ pixels, const Mix mix, float* __restrict__ planes,
                 unsigned rows, unsigned cols, unsigned tiles_along) {
  __shared__ float tile[kSide * kPitch];
  const unsigned first_col = blockIdx.x % tiles_along * kSide;
  const unsigned first_row = blockIdx.x / tiles_along * kSide;
  const unsigned floats = min(kSide, cols - first_col) * 3;
  constexpr int kEach = kSide * kFloats / kThreads;  // 12
  float v[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const unsigned e = k * kThreads + threadIdx.x, r = e / kFloats, f = e % kFloats;
    const bool exists = first_row + r < rows && f < floats;
    v[k] = exists ? pixels[(static_cast<size_t>(first_row + r) * cols + first_col) * 3 + f] : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < kEach; ++k) {
    const unsigned e = k * kThreads + threadIdx.x;
    tile[e / kFloats * kPitch + e % kFloats] = v[k];
  }
  __syncthreads();

  // Lanes in the order of the result: the last row of the photo comes first. Tiles are cut so that
  // the least index of the result that a warp writes is a multiple of 32 where rows is.
  const unsigned lane = threadIdx.x % 32;
  const unsigned down = min(kSide, rows - first_row);
  if (lane >= down) return;
  const unsigned r = down - 1 - lane;                     // of the tile
  const unsigned place = rows - 1 - (first_row + r);      // along a row of the result
  const size_t plane = static_cast<size_t>(rows) * cols;
#pragma unroll
  for (int k = 0; k < kSide / (kThreads / 32); ++k) {
    const unsigned c = k * (kThreads / 32) + threadIdx.x / 32;
    if (first_col + c >= cols) break;
    const float* p = tile + r * kPitch + 3 * c;
    const float red = p[0], green = p[1], blue = p[2];
    float* out = planes + static_cast<size_t>(first_col + c) * rows + place;
#pragma unroll
    for (int channel = 0; channel < 3; ++channel) {
      out[channel * plane] = mix.at[channel][0] * red + mix.at[channel][1] * green +
                             mix.at[channel][2] * blue;
    }
  }
}

}  // namespace

void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
  if (rows < 1 || cols < 1) return;
  const unsigned along = (cols + kSide - 1) / kSide, down = (rows + kSide - 1) / kSide;
  turn_and_mix<<<along * down, kThreads>>>(d_pixels, mix, d_planes, rows, cols, along);
}

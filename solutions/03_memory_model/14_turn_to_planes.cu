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

//~begin 1
constexpr int kTile = 32;         // rows and columns of pixels that a block turns
constexpr int kHeight = 8;        // threadIdx.y
constexpr int kRow = 3 * kTile;   // floats in a row of a tile
constexpr int kPitch = kRow + 1;  // odd: a column of pixels lies in 32 banks

__global__ void turn_to_planes(const float* pixels, Mix mix, float* planes, int rows, int cols) {
  __shared__ float tile[kTile][kPitch];  // [row of pixels][r g b r g b ...]
  // blockIdx.x counts down the rows: blocks that run together write neighbouring parts of planes.
  const int row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;

  float x[kTile / kHeight][3];  // in registers: twelve loads are under way together
#pragma unroll
  for (int j = 0; j < kTile / kHeight; ++j) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      const int r = row0 + threadIdx.y + j * kHeight, f = threadIdx.x + k * kTile;
      const bool inside = r < rows && f < 3 * (cols - col0);
      x[j][k] = inside ? pixels[(static_cast<size_t>(r) * cols + col0) * 3 + f] : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < kTile / kHeight; ++j) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      tile[threadIdx.y + j * kHeight][threadIdx.x + k * kTile] = x[j][k];
    }
  }
  __syncthreads();  // closes write against read: the three colours were brought by three threads
  const int r = row0 + threadIdx.x;  // neighbours in a row of planes are neighbours in a column
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    const int c = col0 + j;
    if (r >= rows || c >= cols) continue;
    const float* pixel = &tile[threadIdx.x][3 * j];
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      planes[(static_cast<size_t>(k) * cols + c) * rows + rows - 1 - r] =
          mix.at[k][0] * pixel[0] + mix.at[k][1] * pixel[1] + mix.at[k][2] * pixel[2];
    }
  }
}

//~end
void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
  //~begin 1
  const dim3 grid((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    turn_to_planes<<<grid, dim3(kTile, kHeight)>>>(d_pixels, mix, d_planes, rows, cols);
  }
  //~end
}

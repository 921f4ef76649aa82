// 03/14 Turn to planes: a photo becomes three planes, mixed and turned.
#include "14_turn_to_planes.h"

// No padding: row j of the tile begins j words further on and goes on at its beginning.
constexpr int kTile = 32, kHeight = 16, kRow = 96;

__global__ void turn_rotated(const float* pixels, Mix mix, float* planes, int rows, int cols) {
  __shared__ float tile[kTile][kRow];
  const int row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;
  for (int j = threadIdx.y; j < kTile; j += kHeight) {
    for (int f = threadIdx.x; f < kRow; f += kTile) {
      if (row0 + j < rows && f < 3 * (cols - col0)) {
        tile[j][(f + j) % kRow] = pixels[(static_cast<size_t>(row0 + j) * cols + col0) * 3 + f];
      }
    }
  }
  __syncthreads();  // all rows are there before a column is read
  const int j = threadIdx.x, r = row0 + j;
  if (r >= rows) return;
  for (int c = threadIdx.y; c < kTile && col0 + c < cols; c += kHeight) {
    const float red = tile[j][(3 * c + j) % kRow];
    const float green = tile[j][(3 * c + 1 + j) % kRow];
    const float blue = tile[j][(3 * c + 2 + j) % kRow];
    for (int k = 0; k < 3; ++k) {
      planes[(static_cast<size_t>(k) * cols + col0 + c) * rows + rows - 1 - r] =
          mix.at[k][0] * red + mix.at[k][1] * green + mix.at[k][2] * blue;
    }
  }
}

void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
  if (rows == 0 || cols == 0) return;
  turn_rotated<<<dim3((rows - 1) / kTile + 1, (cols - 1) / kTile + 1), dim3(kTile, kHeight)>>>(
      d_pixels, mix, d_planes, rows, cols);
}

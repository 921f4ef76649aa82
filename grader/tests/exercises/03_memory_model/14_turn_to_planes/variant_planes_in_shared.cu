// 03/14 Turn to planes: a photo becomes three planes, mixed and turned.
#include "14_turn_to_planes.h"

// The colours part on the way into shared memory: a tile for each, 11 words apart in their banks.
constexpr int kSide = 32, kRows = 8;
constexpr int kPlane = kSide * (kSide + 1) + 11;  // words from one colour to the next

__constant__ Mix weights;

__global__ void turn_parted(const float* pixels, float* planes, int rows, int cols) {
  __shared__ float part[3 * kPlane];  // [colour][row of pixels][column]
  const int top = blockIdx.x * kSide, left = blockIdx.y * kSide;
  for (int j = threadIdx.y; j < kSide; j += kRows) {
    for (int f = threadIdx.x; f < 3 * kSide; f += kSide) {
      if (top + j < rows && f < 3 * (cols - left)) {
        part[f % 3 * kPlane + j * (kSide + 1) + f / 3] =
            pixels[(static_cast<size_t>(top + j) * cols + left) * 3 + f];
      }
    }
  }
  __syncthreads();  // all three colours are there
  const int r = top + threadIdx.x;
  for (int j = threadIdx.y; j < kSide; j += kRows) {
    if (r >= rows || left + j >= cols) return;
    const float* at = part + threadIdx.x * (kSide + 1) + j;
    for (int k = 0; k < 3; ++k) {
      const float mixed = weights.at[k][0] * at[0] + weights.at[k][1] * at[kPlane] +
                          weights.at[k][2] * at[2 * kPlane];
      planes[(static_cast<size_t>(k) * cols + left + j) * rows + rows - 1 - r] = mixed;
    }
  }
}

void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows,
                           int cols) {
  cudaMemcpyToSymbol(weights, &mix, sizeof mix);
  const dim3 grid((rows + kSide - 1) / kSide, (cols + kSide - 1) / kSide);
  if (grid.x > 0 && grid.y > 0) {
    turn_parted<<<grid, dim3(kSide, kRows)>>>(d_pixels, d_planes, rows, cols);
  }
}

// Tile of three planes in shared memory (bank conflicts on store 3-strided? each lane i%3, i/3)
#include "14_turn_to_planes.h"
constexpr int T = 32;
__global__ void turn(const float* px, Mix mix, float* planes, int rows, int cols) {
  __shared__ float tile[3][T][T + 1];
  const int r0 = blockIdx.x * T, c0 = blockIdx.y * T;
  const int width = min(T, cols - c0) * 3;
  for (int j = threadIdx.y; j < T; j += blockDim.y) {
    if (r0 + j >= rows) break;
    const float* row = px + ((size_t)(r0 + j) * cols + c0) * 3;
    for (int i = threadIdx.x; i < width; i += 32) tile[i % 3][j][i / 3] = row[i];
  }
  __syncthreads();
  const int r = r0 + T - 1 - threadIdx.x;
  if (r >= rows) return;
  for (int j = threadIdx.y; j < T; j += blockDim.y) {
    if (c0 + j >= cols) break;
    const float a = tile[0][T - 1 - threadIdx.x][j], b = tile[1][T - 1 - threadIdx.x][j], c = tile[2][T - 1 - threadIdx.x][j];
    for (int k = 0; k < 3; ++k)
      planes[((size_t)k * cols + c0 + j) * rows + rows - 1 - r] = mix.at[k][0] * a + mix.at[k][1] * b + mix.at[k][2] * c;
  }
}
void launch_turn_to_planes(const float* d_pixels, const Mix& mix, float* d_planes, int rows, int cols) {
  if (rows > 0 && cols > 0) turn<<<dim3((rows + T - 1) / T, (cols + T - 1) / T), dim3(32, 8)>>>(d_pixels, mix, d_planes, rows, cols);
}

// no padding: columns are exchanged by exclusive or with the row (swizzle); wavefronts by the greatest common divisor
#include "06_transpose_padded.h"

constexpr int kTile = 64;
constexpr int kWidth = 32;
constexpr int kHeight = 16;
constexpr int kDown = kTile / kHeight, kAcross = kTile / kWidth;

int column_wavefronts(int pitch) {
  const unsigned lowest = static_cast<unsigned>(pitch) & (0u - static_cast<unsigned>(pitch));
  return lowest < 32u ? static_cast<int>(lowest) : 32;  // gcd(pitch, 32)
}

__device__ __forceinline__ int place(int row, int col) { return row * kTile + (col ^ (row & 31)); }

__global__ void transpose_padded(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[kTile * kTile];
  const int row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;

  float x[kDown][kAcross];
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = row0 + threadIdx.y + j * kHeight, c = col0 + threadIdx.x + i * kWidth;
      x[j][i] = r < rows && c < cols ? in[static_cast<size_t>(r) * cols + c] : 0.0f;
    }
  }
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      tile[place(threadIdx.y + j * kHeight, threadIdx.x + i * kWidth)] = x[j][i];
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int down = threadIdx.x + i * kWidth, across = threadIdx.y + j * kHeight;
      const int r = row0 + down, c = col0 + across;
      if (r < rows && c < cols) out[static_cast<size_t>(c) * rows + r] = tile[place(down, across)];
    }
  }
}

void launch_transpose_padded(const float* d_in, float* d_out, int rows, int cols) {
  const dim3 grid((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    transpose_padded<<<grid, dim3(kWidth, kHeight)>>>(d_in, d_out, rows, cols);
  }
}

// Another right answer: no padding, row r of the tile is rotated by r words; tiles of 32 x 32.
#include "06_transpose_padded.h"

int column_wavefronts(int pitch) {
  int divisor = 32;  // the greatest common divisor of pitch and 32, a power of two
  while (pitch % divisor != 0) divisor /= 2;
  return divisor;
}

__global__ void transpose_shifted(const float* __restrict__ in, float* __restrict__ out, int rows,
                                  int cols) {
  __shared__ float tile[32 * 32];
  const int x = threadIdx.x, y = threadIdx.y;
  const int r0 = blockIdx.x * 32, c0 = blockIdx.y * 32;
  float value[4];
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int r = r0 + y + 8 * k;
    value[k] = r < rows && c0 + x < cols ? in[static_cast<size_t>(r) * cols + c0 + x] : 0.0f;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) tile[(y + 8 * k) * 32 + (x + y + 8 * k) % 32] = value[k];
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const int c = c0 + y + 8 * k;
    if (c < cols && r0 + x < rows) {
      out[static_cast<size_t>(c) * rows + r0 + x] = tile[x * 32 + (y + 8 * k + x) % 32];
    }
  }
}

void launch_transpose_padded(const float* d_in, float* d_out, int rows, int cols) {
  if (rows == 0 || cols == 0) return;
  transpose_shifted<<<dim3((rows + 31) / 32, (cols + 31) / 32), dim3(32, 8)>>>(d_in, d_out, rows,
                                                                               cols);
}

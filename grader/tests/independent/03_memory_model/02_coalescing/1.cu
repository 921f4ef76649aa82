// 1-D grid of column tiles times groups of eight rows
#include "02_coalescing.h"
constexpr int kBlock = 256;
__global__ void scale_columns(const float* __restrict__ gain, const float* __restrict__ in, float* __restrict__ out, int rows, int cols) {
  const int tiles = (cols + kBlock - 1) / kBlock;
  const long long tile = blockIdx.x;
  const int col = (int)(tile % tiles) * kBlock + threadIdx.x;
  const int row0 = (int)(tile / tiles) * 8;
  if (col >= cols) return;
  const float g = gain[col];
  float v[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = row0 + k < rows ? in[(size_t)(row0 + k) * cols + col] : 0.0f;
#pragma unroll
  for (int k = 0; k < 8; ++k) if (row0 + k < rows) out[(size_t)(row0 + k) * cols + col] = g * v[k];
}
void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows, int cols) {
  if (rows <= 0 || cols <= 0) return;
  const long long blocks = (long long)((cols + kBlock - 1) / kBlock) * ((rows + 7) / 8);
  scale_columns<<<(unsigned)blocks, kBlock>>>(d_gain, d_in, d_out, rows, cols);
}

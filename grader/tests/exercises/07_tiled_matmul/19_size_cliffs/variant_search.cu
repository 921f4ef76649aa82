// Accepted: looks for the cliffs size by size, and pads with a memset and a copy of rows.
#include "08_matmul_vectorized.h"
#include "19_size_cliffs.h"

static long long tiles(int n, int tile) {
  const long long side = 1 + (n - 1) / tile;
  return side * side;
}

int waves(int n, int tile, int multiprocessors) {
  return static_cast<int>(1 + (tiles(n, tile) - 1) / multiprocessors);
}

int next_tile_cliff(int n, int tile) {
  int size = n + 1;
  while (tiles(size, tile) == tiles(n, tile)) ++size;
  return size;
}

int next_wave_cliff(int n, int tile, int multiprocessors) {
  int size = n + 1;
  while (waves(size, tile, multiprocessors) == waves(n, tile, multiprocessors)) ++size;
  return size;
}

int padded(int size) { return (size + 3) & ~3; }

void launch_pad(const float* d_x, int rows, int cols, float* d_out, int out_rows, int out_cols) {
  cudaMemset(d_out, 0, sizeof(float) * out_rows * out_cols);
  if (rows == 0 || cols == 0) return;
  cudaMemcpy2D(d_out, sizeof(float) * out_cols, d_x, sizeof(float) * cols, sizeof(float) * cols,
               rows, cudaMemcpyDeviceToDevice);
}

void launch_matmul_padded(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  launch_matmul_vectorized(d_a, d_b, d_c, m, padded(n), padded(k));
}

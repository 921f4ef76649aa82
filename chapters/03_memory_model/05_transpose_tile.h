// 03/05 Transpose, tile: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_05_TRANSPOSE_TILE_H_
#define CHAPTERS_03_MEMORY_MODEL_05_TRANSPOSE_TILE_H_

// out[c][r] = in[r][c].
//   d_in    rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   d_out   cols x rows floats in device memory, row-major; nothing happens if one of them is 0
void launch_transpose_tile(const float* d_in, float* d_out, int rows, int cols);

// The same without a tile (05_transpose_tile_baseline.cu); rows, cols >= 1.
void launch_transpose_direct(const float* d_in, float* d_out, int rows, int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_05_TRANSPOSE_TILE_H_

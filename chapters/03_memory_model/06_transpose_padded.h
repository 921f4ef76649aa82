// 03/06 Transpose, padded: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_06_TRANSPOSE_PADDED_H_
#define CHAPTERS_03_MEMORY_MODEL_06_TRANSPOSE_PADDED_H_

// Wavefronts of a warp's load from shared memory if lane k reads the 4-byte word at index
// k * pitch; pitch >= 1.
int column_wavefronts(int pitch);

// out[c][r] = in[r][c].
//   d_in    rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   d_out   cols x rows floats in device memory, row-major; nothing happens if one of them is 0
void launch_transpose_padded(const float* d_in, float* d_out, int rows, int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_06_TRANSPOSE_PADDED_H_

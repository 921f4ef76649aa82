// 03/02 Coalescing: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_02_COALESCING_H_
#define CHAPTERS_03_MEMORY_MODEL_02_COALESCING_H_

// out[r][c] = gain[c] * in[r][c].
//   d_gain       cols floats in device memory
//   d_in, d_out  rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^18; nothing
//                happens where one of them is 0
void launch_scale_columns(const float* d_gain, const float* d_in, float* d_out, int rows, int cols);

// The same by columns (02_coalescing_baseline.cu); rows, cols >= 1.
void launch_scale_columns_strided(const float* d_gain, const float* d_in, float* d_out, int rows,
                                  int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_02_COALESCING_H_

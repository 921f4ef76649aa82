// 03/01 Shift left: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_01_SHIFT_LEFT_H_
#define CHAPTERS_03_MEMORY_MODEL_01_SHIFT_LEFT_H_

// x[r][c] = x[r][c + 1] for c < cols - 1, in place; column cols - 1 keeps its values.
//   d_x   rows x cols floats in device memory, row-major; rows >= 1, 1 <= cols <= 1024
void launch_shift_left(float* d_x, int rows, int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_01_SHIFT_LEFT_H_

// 03/01 Shift left: every element of a row moves one place to the left. A barrier is missing.
//   x      rows x cols floats in device memory, row-major, changed in place;
//          rows >= 1, 1 <= cols <= 1024
//   x[r][c] becomes what x[r][c + 1] was; the last column keeps its values.
//   On a GPU the result is often right. Often is not enough: the simulator says why.
//   TODOs  1
#include "01_shift_left.h"

// One block per row, one thread per column.
__global__ void shift_left_in_place(float* x, int cols) {
  float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  const int c = threadIdx.x;
  // TODO(1): No thread may write its element before every thread of the block has read its own
  // (about 6 lines).
  if (c + 1 < cols) {
    row[c] = row[c + 1];
  }
}

void launch_shift_left(float* d_x, int rows, int cols) {
  shift_left_in_place<<<rows, cols>>>(d_x, cols);
}

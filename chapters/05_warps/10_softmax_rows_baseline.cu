// 05/10 Softmax of rows: what the exercise is compared with, a thread per row.
#include "10_softmax_rows.h"

namespace {

__global__ void softmax_row_by_thread(const float* x, float* y, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const size_t begin = static_cast<size_t>(row) * cols;
  float greatest = -INFINITY;
  for (int col = 0; col < cols; ++col) greatest = fmaxf(greatest, x[begin + col]);
  float sum = 0.0f;
  for (int col = 0; col < cols; ++col) sum += expf(x[begin + col] - greatest);
  for (int col = 0; col < cols; ++col) y[begin + col] = expf(x[begin + col] - greatest) / sum;
}

}  // namespace

void launch_softmax_rows_by_thread(const float* d_x, float* d_y, int rows, int cols) {
  constexpr int kBlock = 64;  // threads
  if (rows > 0) {
    softmax_row_by_thread<<<(rows + kBlock - 1) / kBlock, kBlock>>>(d_x, d_y, rows, cols);
  }
}

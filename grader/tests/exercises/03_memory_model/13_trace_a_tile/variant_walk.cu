// Another right answer: a thread per column walks down its tile, without shared memory.
#include "13_trace_a_tile.h"

FirstWrongLoad first_wrong_load() { return {kTile * 2, 1000, 10}; }

__global__ void column_totals_walk(const int* in, int* out, int rows, int cols) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int top = blockIdx.y * kTile;
  if (x >= cols) return;
  int total = 0;
  for (int y = top; y < rows && y < top + kTile; ++y) {
    total += in[static_cast<size_t>(y) * cols + x];
    out[static_cast<size_t>(y) * cols + x] = total;
  }
}

void launch_column_totals(const int* d_in, int* d_out, int rows, int cols) {
  const dim3 grid((cols + 63) / 64, (rows + kTile - 1) / kTile);
  column_totals_walk<<<grid, 64>>>(d_in, d_out, rows, cols);
}

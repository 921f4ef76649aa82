// 03/13 Trace a tile: running totals down the columns of 4 x 4 tiles. One index is wrong.
//   in, out  rows x cols ints in device memory, row-major; rows up to 2^17, cols to 2^20
//   Inside each tile, an element becomes the sum of itself and all elements above it.
//   Do not guess. The tile of the first test has values that show of which rows a sum is made:
//   step through it with `./grade trace` until a thread loads what it should not.
//   TODOs  2
#include "13_trace_a_tile.h"

//~ // TODO(1): Write down what the trace showed before you repair the kernel (3 numbers).
//~ // Of the threads that load a wrong element: the lowest, what it loads, what it should load.
//~ FirstWrongLoad first_wrong_load() { return {-1, -1, -1}; }
//~begin 1
// Thread 8 is row 2, column 0. In the first round it adds 1000, row 3, to its 100: nothing above
// row 2 is that large. The row above it, row 1, has 10.
FirstWrongLoad first_wrong_load() { return {8, 1000, 10}; }
//~end

// One block per tile. Each round doubles the number of rows that a sum covers: 1, then 2, then 4.
__global__ void column_totals(const int* in, int* out, int rows, int cols) {
  //~ // TODO(2): One index in this kernel is wrong. Repair it when the trace has shown which.
  //~ __shared__ int tile[kTile][kTile];  // [row][column]
  //~ const int row = threadIdx.y, col = threadIdx.x;
  //~ const int y = blockIdx.y * kTile + row, x = blockIdx.x * kTile + col;
  //~ const bool inside = y < rows && x < cols;
  //~ const size_t at = static_cast<size_t>(y) * cols + x;
  //~
  //~ tile[row][col] = inside ? in[at] : 0;
  //~ __syncthreads();  // the tile is filled before a thread reads what another one wrote
  //~ for (int step = 1; step < kTile; step *= 2) {
  //~   int total = tile[row][col];
  //~   if (row >= step) total += tile[row ^ step][col];
  //~   __syncthreads();  // all have read the sums of this round before one is replaced
  //~   tile[row][col] = total;
  //~   __syncthreads();  // all are replaced before the next round reads them
  //~ }
  //~ if (inside) out[at] = tile[row][col];
  //~begin 2
  __shared__ int tile[kTile][kTile];  // [row][column]
  const int row = threadIdx.y, col = threadIdx.x;
  const int y = blockIdx.y * kTile + row, x = blockIdx.x * kTile + col;
  const bool inside = y < rows && x < cols;
  const size_t at = static_cast<size_t>(y) * cols + x;

  tile[row][col] = inside ? in[at] : 0;
  __syncthreads();  // the tile is filled before a thread reads what another one wrote
  for (int step = 1; step < kTile; step *= 2) {
    int total = tile[row][col];
    if (row >= step) total += tile[row - step][col];
    __syncthreads();  // all have read the sums of this round before one is replaced
    tile[row][col] = total;
    __syncthreads();  // all are replaced before the next round reads them
  }
  if (inside) out[at] = tile[row][col];
  //~end
}

void launch_column_totals(const int* d_in, int* d_out, int rows, int cols) {
  const dim3 block(kTile, kTile);
  const dim3 grid((cols + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  column_totals<<<grid, block>>>(d_in, d_out, rows, cols);
}

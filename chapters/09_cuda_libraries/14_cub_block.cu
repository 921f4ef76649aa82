// 09/14 CUB in a block: collectives that all threads of a block call together.
//   x, sums  rows x cols ints, row-major,  largest  rows ints; all in device memory, any size
//   sums[row][i] = x[row][0] + ... + x[row][i]; largest[row] = the largest element of the row
//   A block takes one row, a tile at a time. The pieces are in cub/block: they load, scan, store
//   and reduce what the threads of a block hold, and each wants some shared memory for it.
//   TODOs  2
#include <climits>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "14_cub_block.h"

namespace {

constexpr int kThreads = 128;

}  // namespace

__global__ void row_sums(const int* x, int* sums, int* largest, int cols) {
  int most = INT_MIN;  // the largest element that this thread has seen
  // TODO(1): The inclusive sums of the row, and in `most` the largest element that this thread
  // has met. A row may be longer than a tile, and a tile longer than what is left. Between two
  // uses of the same shared memory all threads have to meet.
  static_cast<void>(x), static_cast<void>(sums), static_cast<void>(cols);
  // TODO(2): This is what thread 0 has met. The largest of all threads belongs there.
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

void launch_row_sums(const int* d_x, int* d_sums, int* d_largest, int rows, int cols) {
  if (rows > 0) row_sums<<<rows, kThreads>>>(d_x, d_sums, d_largest, cols);
}

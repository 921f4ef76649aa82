// 09/14 CUB in a block: collectives that all threads of a block call together.
//   x, sums  rows x cols ints, row-major,  largest  rows ints; all in device memory, any size
//   sums[row][i] = x[row][0] + ... + x[row][i]; largest[row] = the largest element of the row
//   A block takes one row, in tiles of kThreads x kItems. Each thread gets kItems neighbours of a
//   tile: a "blocked arrangement". The collectives share one piece of shared memory, one after the
//   other, so a barrier has to stand between two of them.
//   TODOs  3
#include <climits>
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>

#include "14_cub_block.h"

namespace {

constexpr int kThreads = 128, kItems = 4, kTile = kThreads * kItems;

// Neighbouring threads load neighbours, and hand them on through shared memory.
using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
using Scan = cub::BlockScan<int, kThreads>;
using Reduce = cub::BlockReduce<int, kThreads>;

union Temporary {
  Load::TempStorage load;
  Store::TempStorage store;
  Scan::TempStorage scan;
  Reduce::TempStorage reduce;
};

struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

}  // namespace

__global__ void row_sums(const int* x, int* sums, int* largest, int cols) {
  __shared__ Temporary shared;
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  int before = 0;      // the sum of all tiles so far, the same in every thread
  int most = INT_MIN;  // the largest element that this thread has seen
  for (int first = 0; first < cols; first += kTile) {
    const int count = cols - first < kTile ? cols - first : kTile;
    int items[kItems];  // elements first + threadIdx.x * kItems + 0 .. kItems - 1
    // TODO(1): Load `count` elements of the tile; items past them become INT_MIN (1 line, and a
    // barrier: the memory is needed again).
    for (int& item : items) item = INT_MIN;
    for (int i = 0; i < kItems; ++i) {
      most = Larger()(most, items[i]);
      if (threadIdx.x * kItems + i >= count) items[i] = 0;  // adds nothing
    }
    // TODO(2): Replace items by their inclusive sums over the whole block, and get the sum of the
    // tile; a barrier; add `before` to items and the tile's sum to `before` (about 5 lines).
    for (int& item : items) item += before;
    Store(shared.store).Store(sums + row + first, items, count);
    __syncthreads();  // closes read against write: the next tile is loaded through it
  }
  // TODO(3): This is what thread 0 has seen. Reduce `most` over the block with Larger: which
  // threads get the result (1 line more)?
  if (threadIdx.x == 0) largest[blockIdx.x] = most;
}

void launch_row_sums(const int* d_x, int* d_sums, int* d_largest, int rows, int cols) {
  if (rows > 0) row_sums<<<rows, kThreads>>>(d_x, d_sums, d_largest, cols);
}

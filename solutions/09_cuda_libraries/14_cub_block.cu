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

//~begin 1
constexpr int kItems = 4, kTile = kThreads * kItems;  // of a thread, of a block

// Neighbouring threads load neighbours, and hand them on through shared memory.
using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
using Scan = cub::BlockScan<int, kThreads>;

union Temporary {  // one after the other
  Load::TempStorage load;
  Store::TempStorage store;
  Scan::TempStorage scan;
};

//~end
//~begin 2
using Reduce = cub::BlockReduce<int, kThreads>;

struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};

//~end
}  // namespace

__global__ void row_sums(const int* x, int* sums, int* largest, int cols) {
  int most = INT_MIN;  // the largest element that this thread has seen
  //~ // TODO(1): The inclusive sums of the row, and in `most` the largest element that this thread
  //~ // has met. A row may be longer than a tile, and a tile longer than what is left. Between two
  //~ // uses of the same shared memory all threads have to meet.
  //~ static_cast<void>(x), static_cast<void>(sums), static_cast<void>(cols);
  //~begin 1
  __shared__ Temporary shared;
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  int before = 0;  // the sum of all tiles so far, the same in every thread
  for (int first = 0; first < cols; first += kTile) {
    const int count = cols - first < kTile ? cols - first : kTile;
    int items[kItems];  // elements first + threadIdx.x * kItems + 0 .. kItems - 1
    Load(shared.load).Load(x + row + first, items, count, INT_MIN);
    __syncthreads();  // closes read against write: the scan takes the memory that the load has used
    for (int i = 0; i < kItems; ++i) {
      most = max(most, items[i]);
      if (threadIdx.x * kItems + i >= count) items[i] = 0;  // adds nothing
    }
    int total = 0;
    Scan(shared.scan).InclusiveSum(items, items, total);
    __syncthreads();  // closes read against write: the store takes the memory next
    for (int& item : items) item += before;
    before += total;
    Store(shared.store).Store(sums + row + first, items, count);
    __syncthreads();  // closes read against write: the next tile is loaded through it
  }
  //~end
  //~ // TODO(2): This is what thread 0 has met. The largest of all threads belongs there.
  //~ if (threadIdx.x == 0) largest[blockIdx.x] = most;
  //~begin 2
  __shared__ Reduce::TempStorage for_reduce;
  most = Reduce(for_reduce).Reduce(most, Larger());
  if (threadIdx.x == 0) largest[blockIdx.x] = most;  // the others have parts of it
  //~end
}

void launch_row_sums(const int* d_x, int* d_sums, int* d_largest, int rows, int cols) {
  if (rows > 0) row_sums<<<rows, kThreads>>>(d_x, d_sums, d_largest, cols);
}

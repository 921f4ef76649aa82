// Memory of its own for every collective, so that fewer barriers are needed; one item per thread,
// and the sum so far by a callback of the scan.
#include <climits>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "14_cub_block.h"

namespace {

constexpr int kWide = 256;
using WideScan = cub::BlockScan<int, kWide, cub::BLOCK_SCAN_WARP_SCANS>;
using WideReduce = cub::BlockReduce<int, kWide>;

// The first warp calls it with the sum of a tile; what it returns is added to every element.
struct Running {
  int sum = 0;
  __device__ int operator()(int of_tile) {
    const int before = sum;
    sum += of_tile;
    return before;
  }
};

struct Greater {
  __device__ int operator()(int a, int b) const { return max(a, b); }
};

__global__ void row_sums_wide(const int* x, int* sums, int* largest, int cols) {
  __shared__ WideScan::TempStorage for_scan;
  __shared__ WideReduce::TempStorage for_reduce;
  const size_t row = static_cast<size_t>(blockIdx.x) * cols;
  Running running;
  int most = INT_MIN;
  for (int first = 0; first < cols; first += kWide) {
    const int col = first + static_cast<int>(threadIdx.x);
    int item = col < cols ? x[row + col] : 0;
    if (col < cols) most = max(most, item);
    WideScan(for_scan).InclusiveSum(item, item, running);
    __syncthreads();  // closes read against write: the next tile takes the same memory
    if (col < cols) sums[row + col] = item;
  }
  const int most_of_all = WideReduce(for_reduce).Reduce(most, Greater());
  if (threadIdx.x == 0) largest[blockIdx.x] = most_of_all;
}

}  // namespace

void launch_row_sums(const int* d_x, int* d_sums, int* d_largest, int rows, int cols) {
  if (rows > 0) row_sums_wide<<<rows, kWide>>>(d_x, d_sums, d_largest, cols);
}

// 05/06 Block scan: prefix sums of the rows of a matrix, one block per row.
//   x, y      rows x cols floats in device memory, row-major; any cols >= 1
//   A block goes along its row in chunks of kBlock elements, one per thread.
//   Given: warp_inclusive_sum() in support.h, which every lane of a warp must call.
//   TODOs     3
#include "06_block_scan.h"
#include "support.h"

constexpr int kBlock = 256;             // threads
constexpr int kWarps = kBlock / kWarp;  // of a block

// Thread t gets the sum of the values of threads 0 to t; *total is the sum of all, in every thread.
__device__ float block_inclusive_sum(float value, float* total) {
  __shared__ float warp_totals[kWarps];  // [warp], then the sum of warps 0 to w
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  // TODO(1): Scan inside the warps; the last lane of each leaves the total of its warp in
  // warp_totals, for all to see (about 3 lines).
  if (lane == 0) warp_totals[warp] = value;
  // TODO(2): The first warp scans the totals; then each thread adds what the warps before its own
  // have, and learns the total of the block (about 8 lines).
  *total = lane == 0 ? warp_totals[warp] : value;
  return value;
}

__global__ void __launch_bounds__(kBlock) scan_rows(const float* x, float* y, int cols) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  // TODO(3): Go along the row chunk by chunk and carry the sum of what came before (about 8
  // lines). Every thread must call block_inclusive_sum, also past the end of the row.
  float total = 0.0f;
  const float sum = block_inclusive_sum(threadIdx.x < cols ? x[begin + threadIdx.x] : 0.0f, &total);
  if (threadIdx.x == 0) y[begin] = sum;
}

void launch_block_scan(const float* d_x, float* d_y, int rows, int cols) {
  if (rows > 0) scan_rows<<<rows, kBlock>>>(d_x, d_y, cols);
}

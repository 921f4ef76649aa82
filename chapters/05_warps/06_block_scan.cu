// 05/06 Block scan: prefix sums of the rows of a matrix, one block per row.
//   x, y      rows x cols floats in device memory, row-major; any cols >= 1
//   Given: warp_inclusive_sum() in 06_block_scan_support.h, which every lane of a warp must call.
//   kBlock is a starting value. The starter goes through the first kBlock columns of a row and
//   stops.
//   TODOs     2
#include "06_block_scan.h"
#include "06_block_scan_support.h"

constexpr int kBlock = 256;                    // threads
inline constexpr int kWarps = kBlock / kWarp;  // of a block

// Thread t gets the sum of the values of threads 0 to t; *total is the sum of all, in every thread.
__device__ float block_inclusive_sum(float value, float* total) {
  // TODO(1): What the line above says; whoever returns may call this function again at once. Only
  // one value per warp goes through shared memory (about 14 lines).
  *total = value;
  return value;
}

__global__ void __launch_bounds__(kBlock) scan_rows(const float* x, float* y, int cols) {
  // TODO(2): Rows of any length, each element read once. Every thread must call
  // block_inclusive_sum, also past the end of the row (about 9 lines).
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  float total = 0.0f;
  const float sum = block_inclusive_sum(threadIdx.x < cols ? x[begin + threadIdx.x] : 0.0f, &total);
  if (threadIdx.x < cols) y[begin + threadIdx.x] = sum;
}

void launch_block_scan(const float* d_x, float* d_y, int rows, int cols) {
  if (rows > 0) scan_rows<<<rows, kBlock>>>(d_x, d_y, cols);
}

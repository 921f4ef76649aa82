// 05/05 Warp scan: prefix sums of the rows of a matrix, one warp per row, in registers.
//   x, inclusive, exclusive  rows x cols floats in device memory, row-major; any cols >= 1
//   Lane l gets the sum of lanes 0 to l (inclusive) or 0 to l - 1 (exclusive). No shared memory.
//   The starter goes through the first 32 columns of a row and stops.
//   TODOs     3
#include "05_warp_scan.h"

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kBlock = 256;  // threads: 8 warps, 8 rows

// Lane l gets the sum of the values of lanes 0 to l.
__device__ float warp_inclusive_sum(float value) {
  //~ // TODO(1): Lane l returns the sum of lanes 0 to l, after five shuffles (about 6 lines).
  //~ return value;
  //~begin 1
  const int lane = threadIdx.x % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const float before = __shfl_up_sync(kAllLanes, value, offset);  // all lanes take part
    if (lane >= offset) value += before;  // the others got their own value back
  }
  return value;
  //~end
}

// Lane l gets what `inclusive` is in lane l - 1, lane 0 gets 0.
__device__ float shift_to_exclusive(float inclusive) {
  //~ // TODO(2): Not a digit is lost, also where the own value is far larger than the sum (2 lines).
  //~ return 0.0f;
  //~begin 2
  const float before = __shfl_up_sync(kAllLanes, inclusive, 1);
  return threadIdx.x % 32 == 0 ? 0.0f : before;
  //~end
}

__global__ void scan_rows(const float* x, float* inclusive, float* exclusive, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp goes: no shuffle waits for it
  const size_t begin = static_cast<size_t>(row) * cols;
  //~ // TODO(3): Rows of any length. The lanes of a warp still go along the row together, and each
  //~ // element is read once (about 11 lines).
  //~ const float sum = warp_inclusive_sum(lane < cols ? x[begin + lane] : 0.0f);
  //~ const float sum_before = shift_to_exclusive(sum);
  //~ if (lane < cols) {
  //~   inclusive[begin + lane] = sum;
  //~   exclusive[begin + lane] = sum_before;
  //~ }
  //~begin 3
  float carry = 0.0f;  // the sum of all chunks before this one, in every lane
  for (int chunk = 0; chunk < cols; chunk += 32) {
    const int col = chunk + lane;
    const float sum = warp_inclusive_sum(col < cols ? x[begin + col] : 0.0f);
    const float sum_before = shift_to_exclusive(sum);
    if (col < cols) {
      inclusive[begin + col] = carry + sum;
      exclusive[begin + col] = carry + sum_before;
    }
    carry += __shfl_sync(kAllLanes, sum, 31);  // the last lane has the sum of all
  }
  //~end
}

void launch_scan_rows(const float* d_x, float* d_inclusive, float* d_exclusive, int rows,
                      int cols) {
  //~ // Still TODO(1): A warp for every row; no launch for no rows (about 2 lines).
  //~begin 1
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) scan_rows<<<grid, kBlock>>>(d_x, d_inclusive, d_exclusive, rows, cols);
  //~end
}

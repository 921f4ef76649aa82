// 05/05 Warp scan: prefix sums of the rows of a matrix, one warp per row, in registers.
//   x, inclusive, exclusive  rows x cols floats in device memory, row-major; any cols >= 1
//   A warp goes along its row in chunks of 32; what came before a chunk is carried along.
//   TODOs     3
#include "05_warp_scan.h"

inline constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kBlock = 256;  // threads: 8 warps, 8 rows

// Lane l gets the sum of the values of lanes 0 to l.
__device__ float warp_inclusive_sum(float value) {
  // TODO(1): Double the distance five times: a lane adds what the lane `offset` below it holds, if
  // there is one (__shfl_up_sync; about 5 lines).
  return value;
}

// Lane l gets what `inclusive` is in lane l - 1, lane 0 gets 0.
__device__ float shift_to_exclusive(float inclusive) {
  // TODO(2): One more shuffle (2 lines). Subtracting the own value is not the same in floats.
  return 0.0f;
}

__global__ void scan_rows(const float* x, float* inclusive, float* exclusive, int rows, int cols) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp goes: no shuffle waits for it
  const size_t begin = static_cast<size_t>(row) * cols;
  float carry = 0.0f;  // the sum of all chunks before this one, in every lane
  for (int chunk = 0; chunk < cols; chunk += 32) {
    const int col = chunk + lane;
    const float sum = warp_inclusive_sum(col < cols ? x[begin + col] : 0.0f);
    const float sum_before = shift_to_exclusive(sum);
    if (col < cols) {
      inclusive[begin + col] = carry + sum;
      exclusive[begin + col] = carry + sum_before;
    }
    // TODO(3): Carry the sum of this chunk on, in every lane (__shfl_sync; 1 line).
  }
}

void launch_scan_rows(const float* d_x, float* d_inclusive, float* d_exclusive, int rows,
                      int cols) {
  const int grid = (rows + kBlock / 32 - 1) / (kBlock / 32);
  if (grid > 0) scan_rows<<<grid, kBlock>>>(d_x, d_inclusive, d_exclusive, rows, cols);
}

// Another right answer: blocks of one warp, and the carry is inside the sums.
#include "05_warp_scan.h"

__device__ float scan_lanes(float value, unsigned lane) {
#pragma unroll
  for (unsigned offset = 1; offset < 32; offset <<= 1) {
    const float before = __shfl_up_sync(0xffffffffu, value, offset);
    value += lane < offset ? 0.0f : before;
  }
  return value;
}

__global__ void scan_row_by_block(const float* x, float* inclusive, float* exclusive, int cols) {
  x += static_cast<size_t>(blockIdx.x) * cols;
  inclusive += static_cast<size_t>(blockIdx.x) * cols;
  exclusive += static_cast<size_t>(blockIdx.x) * cols;
  float last = 0.0f;  // in every lane: the inclusive sum of the chunk before, at its end
  for (int col = threadIdx.x; col - static_cast<int>(threadIdx.x) < cols; col += 32) {
    const float own = col < cols ? x[col] : 0.0f;
    const float sum = last + scan_lanes(own, threadIdx.x);
    const float shifted = __shfl_up_sync(0xffffffffu, sum, 1);
    if (col < cols) {
      inclusive[col] = sum;
      exclusive[col] = threadIdx.x == 0 ? last : shifted;
    }
    last = __shfl_sync(0xffffffffu, sum, 31);
  }
}

void launch_scan_rows(const float* d_x, float* d_inclusive, float* d_exclusive, int rows,
                      int cols) {
  if (rows > 0) scan_row_by_block<<<rows, 32>>>(d_x, d_inclusive, d_exclusive, cols);
}

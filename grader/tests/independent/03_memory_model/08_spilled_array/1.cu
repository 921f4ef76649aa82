// Shifting registers
#include "08_spilled_array.h"
constexpr int kBlock = 128;
constexpr int kSegment = 256;
__global__ void filter_columns(const float* in, float* out, Taps taps, int rows, int cols) {
  const int col = blockIdx.x * kBlock + threadIdx.x;
  const int begin = blockIdx.y * kSegment;
  const int end = begin + kSegment < rows ? begin + kSegment : rows;
  if (col >= cols) return;
  float v[kTaps];
#pragma unroll
  for (int k = 1; k < kTaps; ++k) v[k] = begin - k >= 0 ? in[(size_t)(begin - k) * cols + col] : 0.0f;
  for (int r = begin; r < end; ++r) {
    v[0] = in[(size_t)r * cols + col];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) sum += taps.weight[k] * v[k];
    out[(size_t)r * cols + col] = sum;
#pragma unroll
    for (int k = kTaps - 1; k > 0; --k) v[k] = v[k - 1];
  }
}
void launch_filter_columns(const float* d_in, float* d_out, const Taps& taps, int rows, int cols) {
  const dim3 grid((cols + kBlock - 1) / kBlock, (rows + kSegment - 1) / kSegment);
  if (grid.x > 0 && grid.y > 0) filter_columns<<<grid, kBlock>>>(d_in, d_out, taps, rows, cols);
}

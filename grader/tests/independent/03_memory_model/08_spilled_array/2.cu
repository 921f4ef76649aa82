// an unrolled shift of 16 registers instead of a ring, partial last rows by the same code, fmaf
#include "08_spilled_array.h"

constexpr int kBlock = 128;
constexpr int kSegment = 256;

__global__ void filter_columns(const float* in, float* out, Taps taps, int rows, int cols) {
  const int col = blockIdx.x * kBlock + threadIdx.x;
  const int begin = blockIdx.y * kSegment;
  const int end = begin + kSegment < rows ? begin + kSegment : rows;
  if (col >= cols) return;

  float recent[kTaps];  // row r, r % 16 being known when this is compiled
  recent[0] = 0.0f;
#pragma unroll
  for (int j = 1; j < kTaps; ++j) {
    const int r = begin - kTaps + j;
    recent[j] = r >= 0 ? in[static_cast<size_t>(r) * cols + col] : 0.0f;
  }
#pragma unroll 16
  for (int r = begin; r < end; ++r) {
#pragma unroll
    for (int j = 0; j + 1 < kTaps; ++j) recent[j] = recent[j + 1];
    const size_t at = static_cast<size_t>(r) * cols + col;
    recent[kTaps - 1] = in[at];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) sum = fmaf(taps.weight[k], recent[kTaps - 1 - k], sum);
    out[at] = sum;
  }
}

void launch_filter_columns(const float* d_in, float* d_out, const Taps& taps, int rows, int cols) {
  const dim3 grid((cols + kBlock - 1) / kBlock, (rows + kSegment - 1) / kSegment);
  if (grid.x > 0 && grid.y > 0) {
    filter_columns<<<grid, kBlock>>>(d_in, d_out, taps, rows, cols);
  }
}

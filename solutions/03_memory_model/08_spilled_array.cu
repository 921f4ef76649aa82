// 03/08 Spilled array: an array of each thread's own that does not stay in registers. Fix it.
//   in, out  rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   taps     kTaps = 16 weights; out[r][c] = sum over k < 16 of taps.weight[k] * in[r - k][c],
//            where rows before the first count as 0
//   A thread walks down 256 rows of one column and keeps the last 16 values. Registers have no
//   addresses: an array whose index is known only at run time goes to local memory instead, which
//   is global memory that nobody else can see.
//   TODOs    1
#include "08_spilled_array.h"

constexpr int kBlock = 128;    // threads: columns of a block
constexpr int kSegment = 256;  // rows of a block

__global__ void filter_columns(const float* in, float* out, Taps taps, int rows, int cols) {
  const int col = blockIdx.x * kBlock + threadIdx.x;
  const int begin = blockIdx.y * kSegment;
  const int end = begin + kSegment < rows ? begin + kSegment : rows;
  if (col >= cols) return;

  //~ // TODO(1): Row r lies in recent[r % 16], so the compiler does not know which element that is. No
  //~ // value that a thread keeps may have an index that is known at run time only; every row is still
  //~ // loaded once per column (about 20 lines).
  //~ float recent[kTaps];
  //~ for (int r = begin - kTaps + 1; r < begin; ++r) {
  //~   recent[(r + kTaps) % kTaps] = r >= 0 ? in[static_cast<size_t>(r) * cols + col] : 0.0f;
  //~ }
  //~ for (int r = begin; r < end; ++r) {
  //~   recent[r % kTaps] = in[static_cast<size_t>(r) * cols + col];
  //~   float sum = 0.0f;
  //~   for (int k = 0; k < kTaps; ++k) sum += taps.weight[k] * recent[(r - k + kTaps) % kTaps];
  //~   out[static_cast<size_t>(r) * cols + col] = sum;
  //~ }
  //~begin 1
  constexpr int kGroup = 8;      // rows that are loaded together
  float window[kTaps + kGroup];  // window[i] is row base - kTaps + i, each a register of its own
#pragma unroll
  for (int i = 0; i < kTaps; ++i) {
    const int r = begin - kTaps + i;
    window[i] = r >= 0 ? in[static_cast<size_t>(r) * cols + col] : 0.0f;
  }
  for (int base = begin; base < end; base += kGroup) {
    const size_t first = static_cast<size_t>(base) * cols + col;
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {  // eight loads are under way together
      window[kTaps + j] = base + j < end ? in[first + static_cast<size_t>(j) * cols] : 0.0f;
    }
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      float sum = 0.0f;
#pragma unroll
      for (int k = 0; k < kTaps; ++k) sum += taps.weight[k] * window[kTaps + j - k];
      if (base + j < end) out[first + static_cast<size_t>(j) * cols] = sum;
    }
#pragma unroll
    for (int i = 0; i < kTaps; ++i) window[i] = window[i + kGroup];  // the oldest drop out
  }
  //~end
}

void launch_filter_columns(const float* d_in, float* d_out, const Taps& taps, int rows, int cols) {
  const dim3 grid((cols + kBlock - 1) / kBlock, (rows + kSegment - 1) / kSegment);
  if (grid.x > 0 && grid.y > 0) {
    filter_columns<<<grid, kBlock>>>(d_in, d_out, taps, rows, cols);
  }
}

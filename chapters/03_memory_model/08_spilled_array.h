// 03/08 Spilled array: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_
#define CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_

constexpr int kTaps = 16;

struct Taps {
  float weight[kTaps];
};

// out[r][c] = sum over k < kTaps of taps.weight[k] * in[r - k][c]; rows before the first are 0.
//   d_in, d_out  rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20; nothing
//                happens where one of them is 0
void launch_filter_columns(const float* d_in, float* d_out, const Taps& taps, int rows, int cols);

// The same with the array in local memory (08_spilled_array_baseline.cu); rows, cols >= 1.
void launch_filter_columns_local(const float* d_in, float* d_out, const Taps& taps, int rows,
                                 int cols);

#endif  // CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_

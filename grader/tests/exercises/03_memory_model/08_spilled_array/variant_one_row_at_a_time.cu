// Another right answer: for each row all values move one place on, and one row is loaded.
#include "08_spilled_array.h"

__global__ void filter_shifted(const float* __restrict__ in, float* __restrict__ out, Taps taps,
                               int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int begin = blockIdx.y * 256;
  if (c >= cols) return;
  float recent[kTaps];  // recent[k] is row r - k
#pragma unroll
  for (int k = 0; k < kTaps; ++k) {
    const int r = begin - 1 - k;
    recent[k] = r >= 0 ? in[static_cast<size_t>(r) * cols + c] : 0.0f;
  }
#pragma unroll 4
  for (int r = begin; r < begin + 256 && r < rows; ++r) {
#pragma unroll
    for (int k = kTaps - 1; k > 0; --k) recent[k] = recent[k - 1];
    recent[0] = in[static_cast<size_t>(r) * cols + c];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kTaps; ++k) sum += taps.weight[k] * recent[k];
    out[static_cast<size_t>(r) * cols + c] = sum;
  }
}

void launch_filter_columns(const float* d_in, float* d_out, const Taps& taps, int rows, int cols) {
  if (rows == 0 || cols == 0) return;
  filter_shifted<<<dim3((cols + 255) / 256, (rows + 255) / 256), 256>>>(d_in, d_out, taps, rows,
                                                                        cols);
}

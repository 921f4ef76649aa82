// 08/07 Convolution modes: full, same and valid; convolution and correlation.
//   x   n floats,  w   k floats: the signal and the filter, in device memory; n, k >= 1
//   y   conv1d_size(n, k, mode) floats
//   full[i] = sum over j of w[j] x[i - j], where x has a value; i from 0 to n + k - 2. The filter
//   runs against the signal. A correlation takes the filter from its other end, so both run the
//   same way. Deep learning says convolution and computes a correlation.
//   TODOs  3
#include <algorithm>

#include "07_conv1d_modes.h"

namespace {

constexpr int kBlock = 256;  // threads

// What a mode keeps of the full result: `size` values from `first` on.
struct Part {
  int first, size;
};

Part part_of(int n, int k, ConvMode mode) {
  //~ // TODO(1): Where each mode begins in the full result, and how many values it keeps, for any n
  //~ // and k; a filter may be longer than the signal (about 3 lines).
  //~ return {0, mode == ConvMode::kFull ? n : k};
  //~begin 1
  if (mode == ConvMode::kFull) return {0, n + k - 1};
  if (mode == ConvMode::kSame) return {(k - 1) / 2, n};
  return {k - 1, std::max(n - k + 1, 0)};  // full[k - 1] is the first that uses w[k - 1]
  //~end
}

template <bool kCorrelation>
__global__ void conv1d(const float* x, const float* w, float* y, int n, int k, Part part) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= part.size) return;
  const int at = part.first + i;  // in the full result
  //~ // TODO(2): j from begin on and before end are the weights that meet a value of x (2 lines).
  //~ const int begin = 0, end = 0;
  //~begin 2
  const int begin = max(0, at - n + 1);  // at - j < n
  const int end = min(k, at + 1);        // at - j >= 0
  //~end
  //~ // TODO(3): y[i] is the value of the full result at this place, of a convolution or of a
  //~ // correlation, with no product that adds nothing (5 lines, and 5 in the launcher).
  //~ if (begin < end) y[i] = w[begin] * x[at - begin];
  //~begin 3
  float sum = 0.0f;
  for (int j = begin; j < end; ++j) {
    sum += w[kCorrelation ? k - 1 - j : j] * x[at - j];
  }
  y[i] = sum;
  //~end
}

template <bool kCorrelation>
void launch(const float* d_x, const float* d_w, float* d_y, int n, int k, ConvMode mode) {
  //~ conv1d<kCorrelation><<<1, kBlock>>>(d_x, d_w, d_y, n, k, part_of(n, k, mode));
  //~begin 3
  const Part part = part_of(n, k, mode);
  const int grid = (part.size + kBlock - 1) / kBlock;
  if (grid > 0) {
    conv1d<kCorrelation><<<grid, kBlock>>>(d_x, d_w, d_y, n, k, part);
  }
  //~end
}

}  // namespace

int conv1d_size(int n, int k, ConvMode mode) { return part_of(n, k, mode).size; }

void launch_convolve1d(const float* d_x, const float* d_w, float* d_y, int n, int k,
                       ConvMode mode) {
  launch<false>(d_x, d_w, d_y, n, k, mode);
}

void launch_correlate1d(const float* d_x, const float* d_w, float* d_y, int n, int k,
                        ConvMode mode) {
  launch<true>(d_x, d_w, d_y, n, k, mode);
}

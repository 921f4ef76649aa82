// A grid-stride loop; the sum goes along the signal, and asks for each weight whether it exists.
#include "07_conv1d_modes.h"

namespace {

__global__ void along(const float* x, const float* w, float* y, int n, int k, int first, int size,
                      int step) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
    const float* weights = step > 0 ? w : w + k - 1;
    float sum = 0.0f;
    for (int from = 0; from < n; ++from) {
      const int j = first + i - from;
      if (j >= 0 && j < k) {
        sum += weights[step * j] * x[from];
      }
    }
    y[i] = sum;
  }
}

void launch(const float* d_x, const float* d_w, float* d_y, int n, int k, ConvMode mode, int step) {
  const int size = conv1d_size(n, k, mode);
  const int first = mode == ConvMode::kFull ? 0 : mode == ConvMode::kSame ? (k - 1) / 2 : k - 1;
  if (size > 0) along<<<2, 96>>>(d_x, d_w, d_y, n, k, first, size, step);
}

}  // namespace

int conv1d_size(int n, int k, ConvMode mode) {
  switch (mode) {
    case ConvMode::kFull:
      return n + k - 1;
    case ConvMode::kSame:
      return n;
    default:
      return k > n ? 0 : n - k + 1;
  }
}

void launch_convolve1d(const float* d_x, const float* d_w, float* d_y, int n, int k,
                       ConvMode mode) {
  launch(d_x, d_w, d_y, n, k, mode, 1);
}

void launch_correlate1d(const float* d_x, const float* d_w, float* d_y, int n, int k,
                        ConvMode mode) {
  launch(d_x, d_w, d_y, n, k, mode, -1);
}

// Another right answer: a block per image and four filters, a plane of x with its border in shared
// memory, a thread per column that walks down the rows.
#include "06_conv_forward.h"

namespace {

constexpr int kFilters = 4;  // of a block
constexpr int kRows = 8;     // of y that a thread makes at a time

__global__ void conv_planes(const float* x, const float* weights, float* y, int c, int h, int w,
                            int k) {
  extern __shared__ float plane[];            // [h + 2][w + 2]
  __shared__ float of_channel[kFilters * 9];  // [filter][weight]
  const int image = blockIdx.x, first_filter = blockIdx.y * kFilters, width = w + 2;
  for (int begin = 0; begin < h; begin += kRows) {
    for (int first_col = 0; first_col < w; first_col += blockDim.x) {
      const int col = first_col + threadIdx.x;
      float sums[kFilters][kRows] = {};
      for (int channel = 0; channel < c; ++channel) {
        __syncthreads();  // read against write: the last plane has been used
        for (int e = threadIdx.x; e < (h + 2) * width; e += blockDim.x) {
          const int row = e / width - 1, from = e % width - 1;
          const bool inside = row >= 0 && row < h && from >= 0 && from < w;
          plane[e] = inside ? x[((image * c + channel) * h + row) * w + from] : 0.0f;
        }
        for (int e = threadIdx.x; e < kFilters * 9; e += blockDim.x) {
          const int filter = min(first_filter + e / 9, k - 1);
          of_channel[e] = weights[(filter * c + channel) * 9 + e % 9];
        }
        __syncthreads();  // write against read: the plane and its weights are complete
        for (int j = 0; j < 9 * kFilters && col < w; ++j) {
          for (int row = 0; row < kRows && begin + row < h; ++row) {
            const int under = (begin + row + j % 9 / 3) * width + col + j % 3;
            sums[j / 9][row] += of_channel[j] * plane[under];
          }
        }
      }
      for (int f = 0; f < kFilters && first_filter + f < k && col < w; ++f) {
        for (int row = 0; row < kRows && begin + row < h; ++row) {
          y[((image * k + first_filter + f) * h + begin + row) * w + col] = sums[f][row];
        }
      }
    }
  }
}

}  // namespace

void launch_conv_forward(const float* d_x, const float* d_w, float* d_y, int n, int c, int h, int w,
                         int k) {
  if (n == 0) return;
  const dim3 grid(n, (k + kFilters - 1) / kFilters);
  const size_t shared = sizeof(float) * (h + 2) * (w + 2);
  conv_planes<<<grid, 32, shared>>>(d_x, d_w, d_y, c, h, w, k);
}

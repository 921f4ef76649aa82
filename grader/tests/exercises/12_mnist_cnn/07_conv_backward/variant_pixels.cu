// Another right answer: a thread per pixel for dx, a block per weight for dw, as in 08/12. No
// parts, so no scratch memory.
#include "07_conv_backward.h"

namespace {

constexpr int kBlock = 128;  // threads

__global__ void grad_pixels(const float* dy, const float* weights, float* dx, int count, int c,
                            int h, int w, int k) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count) return;
  const int col = i % w, row = i / w % h, channel = i / (w * h) % c, image = i / (w * h * c);
  float sum = 0.0f;
  for (int filter = 0; filter < k; ++filter) {
    for (int j = 0; j < 9; ++j) {
      const int to_row = row + 1 - j / 3, to_col = col + 1 - j % 3;
      if (to_row < 0 || to_row >= h || to_col < 0 || to_col >= w) continue;
      sum += weights[(filter * c + channel) * 9 + j] *
             dy[((image * k + filter) * h + to_row) * w + to_col];
    }
  }
  dx[i] = sum;
}

__global__ void grad_weight(const float* x, const float* dy, float* dw, int n, int c, int h, int w,
                            int k) {
  __shared__ float sums[kBlock];  // [thread]
  const int j = blockIdx.x % 9, channel = blockIdx.x / 9 % c, filter = blockIdx.x / 9 / c;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n * h * w; i += kBlock) {
    const int image = i / (h * w), row = i / w % h + j / 3 - 1, col = i % w + j % 3 - 1;
    if (row < 0 || row >= h || col < 0 || col >= w) continue;
    sum += x[((image * c + channel) * h + row) * w + col] *
           dy[(image * k + filter) * h * w + i % (h * w)];
  }
  sums[threadIdx.x] = sum;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();  // write against read: the sums of the last round are there
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) dw[blockIdx.x] = sums[0];
}

}  // namespace

size_t conv_backward_scratch(int, int, int) { return 0; }

void launch_conv_backward(const float* d_x, const float* d_w, const float* d_dy, float* d_dx,
                          float* d_dw, float*, int n, int c, int h, int w, int k) {
  const int count = n * c * h * w, grid = (count + kBlock - 1) / kBlock;
  if (d_dx != nullptr && grid > 0)
    grad_pixels<<<grid, kBlock>>>(d_dy, d_w, d_dx, count, c, h, w, k);
  grad_weight<<<k * c * 9, kBlock>>>(d_x, d_dy, d_dw, n, c, h, w, k);
}

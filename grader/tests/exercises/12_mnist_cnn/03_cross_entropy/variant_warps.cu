// A warp per image, for the derivatives; one more warp adds up the losses in a fixed order.
#include "03_cross_entropy.h"

namespace {

__device__ float warp_max(float value) {
  for (int offset = 16; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(~0u, value, offset));
  }
  return value;
}
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0u, value, offset);
  return value;
}

// Max and sum of a row, the same in every lane.
__device__ float2 row_of(const float* x, int classes) {
  float max = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < classes; c += 32) max = fmaxf(max, x[c]);
  max = warp_max(max);
  for (int c = threadIdx.x; c < classes; c += 32) sum += expf(x[c] - max);
  return make_float2(max, warp_sum(sum));
}

__global__ void derivatives(const float* logits, const unsigned char* labels, float* dlogits, int n,
                            int classes) {
  const int image = blockIdx.x * 4 + threadIdx.y;
  if (image >= n) return;
  const float* x = logits + image * classes;
  const float2 row = row_of(x, classes);
  for (int c = threadIdx.x; c < classes; c += 32) {
    const float p = expf(x[c] - row.x) / row.y;
    dlogits[image * classes + c] = (c == labels[image] ? p - 1 : p) / n;
  }
}

__global__ void mean_loss(const float* logits, const unsigned char* labels, float* loss, int n,
                          int classes) {
  float sum = 0, correction = 0;  // one warp, image after image: errors are carried along
  for (int image = 0; image < n; ++image) {
    const float* x = logits + image * classes;
    const float2 row = row_of(x, classes);
    const float term = logf(row.y) - (x[labels[image]] - row.x) - correction;
    const float next = sum + term;
    correction = (next - sum) - term;
    sum = next;
  }
  if (threadIdx.x == 0) *loss = sum / n;
}

}  // namespace

void launch_cross_entropy(const float* d_logits, const unsigned char* d_labels, float* d_loss,
                          float* d_dlogits, int n, int classes) {
  derivatives<<<(n + 3) / 4, dim3(32, 4)>>>(d_logits, d_labels, d_dlogits, n, classes);
  mean_loss<<<1, 32>>>(d_logits, d_labels, d_loss, n, classes);
}

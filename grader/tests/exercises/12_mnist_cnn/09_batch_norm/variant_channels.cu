// Another right answer: a block per channel, without parts. Statistics around the first value; the
// sums of a block in a tree.
#include "09_batch_norm.h"

namespace {

constexpr int kBlock = 512;  // threads

// The sums of both values over the block, in every thread.
__device__ float2 tree_sum(float2 value) {
  __shared__ float2 sums[kBlock];  // [thread]
  __syncthreads();                 // read against write: the last result has been read
  sums[threadIdx.x] = value;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();  // write against read: the sums of the last round
    if (threadIdx.x < half) {
      sums[threadIdx.x].x += sums[threadIdx.x + half].x;
      sums[threadIdx.x].y += sums[threadIdx.x + half].y;
    }
  }
  __syncthreads();  // write against read: the result
  return sums[0];
}

// Where value e of this block's channel lies.
__device__ size_t place(int e, int c, int hw) {
  return (static_cast<size_t>(e / hw) * c + blockIdx.x) * hw + e % hw;
}

__global__ void forward(const float* x, const float* gamma, const float* beta, float* y,
                        float* mean, float* inv_std, int n, int c, int hw) {
  const float origin = x[place(0, c, hw)];
  float2 sums = {0.0f, 0.0f};
  for (int e = threadIdx.x; e < n * hw; e += kBlock) {
    const float distance = x[place(e, c, hw)] - origin;
    sums.x += distance;
    sums.y += distance * distance;
  }
  sums = tree_sum(sums);
  const float offset = sums.x / (n * hw);
  const float center = origin + offset;
  const float of_y = gamma[blockIdx.x], shift = beta[blockIdx.x];
  const float scale =
      1.0f / sqrtf(fmaxf(sums.y / (n * hw) - offset * offset, 0.0f) + kBatchNormEpsilon);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = center;
    inv_std[blockIdx.x] = scale;
  }
  for (int e = threadIdx.x; e < n * hw; e += kBlock) {
    const size_t i = place(e, c, hw);
    y[i] = of_y * ((x[i] - center) * scale) + shift;
  }
}

__global__ void backward(const float* x, const float* gamma, const float* mean,
                         const float* inv_std, const float* dy, float* dx, float* dgamma,
                         float* dbeta, int n, int c, int hw) {
  const float center = mean[blockIdx.x], scale = inv_std[blockIdx.x];
  float2 sums = {0.0f, 0.0f};
  for (int e = threadIdx.x; e < n * hw; e += kBlock) {
    const size_t i = place(e, c, hw);
    sums.x += dy[i];
    sums.y += dy[i] * ((x[i] - center) * scale);
  }
  sums = tree_sum(sums);
  if (threadIdx.x == 0) {
    dbeta[blockIdx.x] = sums.x;
    dgamma[blockIdx.x] = sums.y;
  }
  const float of_dy = sums.x / (n * hw), of_dy_xhat = sums.y / (n * hw);
  for (int e = threadIdx.x; e < n * hw; e += kBlock) {
    const size_t i = place(e, c, hw);
    const float xhat = (x[i] - center) * scale;
    dx[i] = gamma[blockIdx.x] * scale * (dy[i] - of_dy - xhat * of_dy_xhat);
  }
}

__global__ void apply(const float* x, const float* gamma, const float* beta, const float* mean,
                      const float* inv_std, float* y, int count, int c, int hw) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= count) return;
  const int channel = i / hw % c;
  y[i] = (x[i] - mean[channel]) * inv_std[channel] * gamma[channel] + beta[channel];
}

}  // namespace

size_t batch_norm_scratch(int) { return 0; }

void launch_batch_norm_forward(const float* d_x, const float* d_gamma, const float* d_beta,
                               float* d_y, float* d_mean, float* d_inv_std, float*, int n, int c,
                               int hw) {
  forward<<<c, kBlock>>>(d_x, d_gamma, d_beta, d_y, d_mean, d_inv_std, n, c, hw);
}

void launch_batch_norm_backward(const float* d_x, const float* d_gamma, const float* d_mean,
                                const float* d_inv_std, const float* d_dy, float* d_dx,
                                float* d_dgamma, float* d_dbeta, float*, int n, int c, int hw) {
  backward<<<c, kBlock>>>(d_x, d_gamma, d_mean, d_inv_std, d_dy, d_dx, d_dgamma, d_dbeta, n, c, hw);
}

void launch_batch_norm_apply(const float* d_x, const float* d_gamma, const float* d_beta,
                             const float* d_mean, const float* d_inv_std, float* d_y, int n, int c,
                             int hw) {
  const int count = n * c * hw;
  apply<<<(count + kBlock - 1) / kBlock, kBlock>>>(d_x, d_gamma, d_beta, d_mean, d_inv_std, d_y,
                                                   count, c, hw);
}

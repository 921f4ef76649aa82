// 12/09 Batch norm, forward and backward: each channel gets mean 0 and variance 1 over the batch.
//   x, y  n x c x hw floats in device memory: n images of c channels of hw pixels
//   xhat = (x - mean) inv_std, y = gamma xhat + beta; mean, inv_std, gamma, beta: one per channel
//   Statistics need all images of a channel, and a channel is in pieces of hw floats. Block
//   (channel, part) sums up some of the images; then a warp has one part per lane, and adds up the
//   parts (09_batch_norm_support.h).
//   TODOs  4
#include "09_batch_norm.h"
#include "09_batch_norm_support.h"
#include "support.h"

namespace {

// The sum over the block, in every thread. May be called again at once.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / kWarp];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();  // write against read: every warp reads the sums of all
  value = warp_sum(lane < kThreads / kWarp ? of_warp[lane] : 0.0f);
  __syncthreads();  // read against write: the next call writes of_warp
  return value;
}

__global__ void sum_forward(const float* x, Sums* scratch, int n, int c, int hw) {
  const Part part(n, c, hw);
  // Distances from a value of the part: those from 0 would lose their digits where the mean is
  // large.
  const float origin = part.count > 0 ? x[part.place(0)] : 0.0f;
  float mean = 0.0f, squares = 0.0f;
  // TODO(1): Of the values of this part: their mean, and the sum of the squared distances from
  // that mean, from one reading of x; a part may be empty (about 10 lines).
  mean = origin + block_sum(squares);
  if (threadIdx.x == 0) scratch[part.channel * kMostParts + blockIdx.y] = {mean, squares};
}

// Mean and 1 / sqrt(variance + epsilon) of a channel, in every lane of every warp.
__device__ Sums moments_of(const Sums* scratch, int channel, int n, int hw) {
  const Sums part = part_of_lane(scratch, channel);  // mean and squares
  const int lane = threadIdx.x % kWarp;
  float count = 0.0f;  // its values
  if (lane < gridDim.y) {
    count = static_cast<float>((Part::first_image(lane + 1, n) - Part::first_image(lane, n)) * hw);
  }
  float mean = part.first, variance = 0.0f;
  // TODO(2): Mean and variance of the whole channel from parts of different size. The squares
  // of a part are around its own mean: where do they lie around the common one? (about 5 lines)
  variance = part.second / count;
  return {mean, rsqrtf(fmaxf(variance, 0.0f) + kBatchNormEpsilon)};
}

// __restrict__ promises that y does not overlap x: the loads of four values may precede a store.
__device__ void normalise(const Part& part, const float* __restrict__ x, float* __restrict__ y,
                          Sums moments, float gamma, float beta) {
  const float scale = gamma * moments.second;
#pragma unroll 4
  for (int e = threadIdx.x; e < part.count; e += kThreads) {
    const size_t i = part.place(e);
    y[i] = (x[i] - moments.first) * scale + beta;
  }
}

__global__ void normalise_batch(const float* __restrict__ x, const float* gamma, const float* beta,
                                const Sums* scratch, float* __restrict__ y, float* mean,
                                float* inv_std, int n, int c, int hw) {
  const Part part(n, c, hw);
  const int channel = part.channel;
  const Sums moments = moments_of(scratch, channel, n, hw);
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    mean[channel] = moments.first;
    inv_std[channel] = moments.second;
  }
  normalise(part, x, y, moments, gamma[channel], beta[channel]);
}

__global__ void normalise_given(const float* __restrict__ x, const float* gamma, const float* beta,
                                const float* mean, const float* inv_std, float* __restrict__ y,
                                int n, int c, int hw) {
  const Part part(n, c, hw);
  const int channel = part.channel;
  normalise(part, x, y, {mean[channel], inv_std[channel]}, gamma[channel], beta[channel]);
}

__global__ void sum_backward(const float* x, const float* mean, const float* inv_std,
                             const float* dy, Sums* scratch, int n, int c, int hw) {
  const Part part(n, c, hw);
  const float center = mean[part.channel], scale = inv_std[part.channel];
  float of_dy = 0.0f, of_dy_xhat = 0.0f;
  // TODO(3): Sum up dy and dy xhat over the part (about 7 lines).
  of_dy = block_sum(center * scale);
  if (threadIdx.x == 0) scratch[part.channel * kMostParts + blockIdx.y] = {of_dy, of_dy_xhat};
}

__global__ void denormalise(const float* __restrict__ x, const float* gamma, const float* mean,
                            const float* inv_std, const float* __restrict__ dy, const Sums* scratch,
                            float* __restrict__ dx, float* dgamma, float* dbeta, int n, int c,
                            int hw) {
  const Part part(n, c, hw);
  const int channel = part.channel;
  const Sums mine = part_of_lane(scratch, channel);
  const float of_dy = warp_sum(mine.first), of_dy_xhat = warp_sum(mine.second);
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    dbeta[channel] = of_dy;
    dgamma[channel] = of_dy_xhat;
  }
  const float values = static_cast<float>(n) * hw;
  const float center = mean[channel], scale = inv_std[channel], of_y = gamma[channel];
#pragma unroll 4
  for (int e = threadIdx.x; e < part.count; e += kThreads) {
    const size_t i = part.place(e);
    const float xhat = (x[i] - center) * scale;
    // TODO(4): A pixel moves its own y, the mean (so every y of the channel alike) and inv_std
    // (every y in proportion to its xhat). dx is the sum of three terms (1 line).
    dx[i] = of_y * dy[i] + 0.0f * (of_dy + of_dy_xhat + values + xhat);
  }
}

}  // namespace

size_t batch_norm_scratch(int c) { return sizeof(Sums) / sizeof(float) * kMostParts * c; }

void launch_batch_norm_forward(const float* d_x, const float* d_gamma, const float* d_beta,
                               float* d_y, float* d_mean, float* d_inv_std, float* d_scratch, int n,
                               int c, int hw) {
  const dim3 grid = grid_of(n, c, hw);
  Sums* d_sums = reinterpret_cast<Sums*>(d_scratch);
  sum_forward<<<grid, kThreads>>>(d_x, d_sums, n, c, hw);
  normalise_batch<<<grid, kThreads>>>(d_x, d_gamma, d_beta, d_sums, d_y, d_mean, d_inv_std, n, c,
                                      hw);
}

void launch_batch_norm_backward(const float* d_x, const float* d_gamma, const float* d_mean,
                                const float* d_inv_std, const float* d_dy, float* d_dx,
                                float* d_dgamma, float* d_dbeta, float* d_scratch, int n, int c,
                                int hw) {
  const dim3 grid = grid_of(n, c, hw);
  Sums* d_sums = reinterpret_cast<Sums*>(d_scratch);
  sum_backward<<<grid, kThreads>>>(d_x, d_mean, d_inv_std, d_dy, d_sums, n, c, hw);
  denormalise<<<grid, kThreads>>>(d_x, d_gamma, d_mean, d_inv_std, d_dy, d_sums, d_dx, d_dgamma,
                                  d_dbeta, n, c, hw);
}

void launch_batch_norm_apply(const float* d_x, const float* d_gamma, const float* d_beta,
                             const float* d_mean, const float* d_inv_std, float* d_y, int n, int c,
                             int hw) {
  normalise_given<<<grid_of(n, c, hw), kThreads>>>(d_x, d_gamma, d_beta, d_mean, d_inv_std, d_y, n,
                                                   c, hw);
}

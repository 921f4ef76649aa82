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
  //~ return warp_sum(value);  // TODO(1): That sum, from kThreads threads; see what support.h has.
  //~begin 1
  __shared__ float of_warp[kThreads / kWarp];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  value = warp_sum(value);
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();  // write against read: every warp reads the sums of all
  value = warp_sum(lane < kThreads / kWarp ? of_warp[lane] : 0.0f);
  __syncthreads();  // read against write: the next call writes of_warp
  return value;
  //~end
}

__global__ void sum_forward(const float* x, Sums* scratch, int n, int c, int hw) {
  const Part part(n, c, hw);
  float mean = 0.0f, squares = 0.0f;
  //~ // TODO(1), too: Of the values of this part: their mean, and the sum of the squared distances
  //~ // from that mean, from one reading of x. A part may be empty, and a mean may be large.
  //~ if (part.count > 0) mean = block_sum(x[part.place(0)]);
  //~begin 1
  // Distances from a value of the part: those from 0 would lose their digits where the mean is
  // large.
  const float origin = part.count > 0 ? x[part.place(0)] : 0.0f;
  float sum = 0.0f;
#pragma unroll 4  // loads in flight
  for (int e = threadIdx.x; e < part.count; e += kThreads) {
    const float distance = x[part.place(e)] - origin;
    sum += distance;
    squares += distance * distance;
  }
  sum = block_sum(sum);
  squares = block_sum(squares);
  if (part.count > 0) {
    mean = origin + sum / part.count;
    squares -= sum * sum / part.count;
  }
  //~end
  if (threadIdx.x == 0) scratch[part.channel * kMostParts + blockIdx.y] = {mean, squares};
}

// Mean and 1 / sqrt(variance + epsilon) of a channel, in every lane of every warp.
__device__ Sums moments_of(const Sums* scratch, int channel, int n, int hw) {
  //~ // TODO(2): Mean and variance of the whole channel, from parts of different size whose squares
  //~ // are around the mean of each part. The last lanes have no part (09_batch_norm_support.h).
  //~ const Sums part = part_of_lane(scratch, channel);
  //~ return {part.first, part.second * n * hw};
  //~begin 2
  const Sums part = part_of_lane(scratch, channel);  // mean and squares
  const int lane = threadIdx.x % kWarp;
  float count = 0.0f;  // its values
  if (lane < gridDim.y) {
    count = static_cast<float>((Part::first_image(lane + 1, n) - Part::first_image(lane, n)) * hw);
  }
  const float values = warp_sum(count);
  const float mean = warp_sum(count * part.first) / values;
  const float offset = part.first - mean;
  const float variance = warp_sum(part.second + count * offset * offset) / values;
  return {mean, rsqrtf(fmaxf(variance, 0.0f) + kBatchNormEpsilon)};
  //~end
}

//~begin 2
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

//~end
__global__ void normalise_batch(const float* __restrict__ x, const float* gamma, const float* beta,
                                const Sums* scratch, float* __restrict__ y, float* mean,
                                float* inv_std, int n, int c, int hw) {
  //~ // TODO(2), too: y, and the mean and inv_std of each channel, written once.
  //~ const Sums moments = moments_of(scratch, blockIdx.x, n, hw);
  //~ if (blockIdx.y + threadIdx.x == 0) mean[blockIdx.x] = inv_std[blockIdx.x] = moments.first;
  //~begin 2
  const Part part(n, c, hw);
  const int channel = part.channel;
  const Sums moments = moments_of(scratch, channel, n, hw);
  if (blockIdx.y == 0 && threadIdx.x == 0) {
    mean[channel] = moments.first;
    inv_std[channel] = moments.second;
  }
  normalise(part, x, y, moments, gamma[channel], beta[channel]);
  //~end
}

__global__ void normalise_given(const float* __restrict__ x, const float* gamma, const float* beta,
                                const float* mean, const float* inv_std, float* __restrict__ y,
                                int n, int c, int hw) {
  //~ // TODO(2), too: y by statistics of the caller's.
  //~ const Part part(n, c, hw);
  //~ if (threadIdx.x < part.count) y[part.place(threadIdx.x)] = x[part.place(threadIdx.x)];
  //~begin 2
  const Part part(n, c, hw);
  const int channel = part.channel;
  normalise(part, x, y, {mean[channel], inv_std[channel]}, gamma[channel], beta[channel]);
  //~end
}

__global__ void sum_backward(const float* x, const float* mean, const float* inv_std,
                             const float* dy, Sums* scratch, int n, int c, int hw) {
  const Part part(n, c, hw);
  float of_dy = 0.0f, of_dy_xhat = 0.0f;
  //~ // TODO(3): The sums of dy and of dy xhat over the part.
  //~ of_dy = block_sum(mean[part.channel] * inv_std[part.channel]);
  //~begin 3
  const float center = mean[part.channel], scale = inv_std[part.channel];
#pragma unroll 4
  for (int e = threadIdx.x; e < part.count; e += kThreads) {
    const size_t i = part.place(e);
    of_dy += dy[i];
    of_dy_xhat += dy[i] * ((x[i] - center) * scale);
  }
  of_dy = block_sum(of_dy);
  of_dy_xhat = block_sum(of_dy_xhat);
  //~end
  if (threadIdx.x == 0) scratch[part.channel * kMostParts + blockIdx.y] = {of_dy, of_dy_xhat};
}

__global__ void denormalise(const float* __restrict__ x, const float* gamma, const float* mean,
                            const float* inv_std, const float* __restrict__ dy, const Sums* scratch,
                            float* __restrict__ dx, float* dgamma, float* dbeta, int n, int c,
                            int hw) {
  //~ // TODO(4): dx, dgamma and dbeta. A value of x moves its own y, the mean (so every y of the channel
  //~ // alike) and inv_std (every y in proportion to its xhat): 12/08 has the derivation.
  //~ const Part part(n, c, hw);
  //~ for (int e = threadIdx.x; e < part.count; e += kThreads) dx[part.place(e)] = dy[part.place(e)];
  //~ const bool is_first = blockIdx.y + threadIdx.x == 0;
  //~ if (is_first) dgamma[part.channel] = dbeta[part.channel] = 0.0f;
  //~begin 4
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
    dx[i] = of_y * scale * (dy[i] - (of_dy + xhat * of_dy_xhat) / values);
  }
  //~end
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

// 08/12 Conv2d, backward: how the loss changes with each pixel of the input, and with each weight.
//   y[n][k][row][col] = sum over c, r, s of f[k][c][r][s] x[n][c][row + r - pad][col + s - pad]
//   dy  n x k x p x q: derivative of the loss by each element of y; given
//   dx  n x c x h x w: by each element of x.  df  k x c x r x s: by each weight.
//   Every product f x of the sum above is part of one y. The chain rule hands dy of that y to both
//   factors: dx gets f dy, and df gets x dy. So both gradients add up the products of the forward
//   pass in another order: dx the k r s products that a pixel is in, df the n p q of a weight.
//   TODOs  3
#include "12_conv2d_backward.h"

namespace {

constexpr int kBlock = 256;  // threads

// A thread per pixel of x.
__global__ void grad_input(const float* dy, const float* f, float* dx, ConvLayer layer) {
  // TODO(1): dx of each pixel is the sum of what all outputs that the pixel went into hand back to
  // it, over all filters (about 23 lines, and 3 for the launch).
}

// A block per weight. Its threads share out the n p q outputs that the weight is in.
__global__ void grad_filter(const float* dy, const float* x, float* df, ConvLayer layer) {
  __shared__ float of_warp[kBlock / 32];  // [warp]
  float sum = 0.0f;
  // TODO(2): The sums of all threads together are the products of this weight, over all images and
  // outputs; neighbouring lanes read neighbours (about 15 lines).
  sum += dy[0] * x[0];
  // TODO(3): df of this weight is the sum of the sums of all threads (about 8 lines).
  of_warp[threadIdx.x / 32] = 0.0f;
  if (threadIdx.x == 0) df[blockIdx.x] = sum + of_warp[0];
}

}  // namespace

void launch_conv2d_grad_input(const float* d_dy, const float* d_f, float* d_dx,
                              const ConvLayer& layer) {
  if (layer.n > 0) grad_input<<<1, kBlock>>>(d_dy, d_f, d_dx, layer);
}

void launch_conv2d_grad_filter(const float* d_dy, const float* d_x, float* d_df,
                               const ConvLayer& layer) {
  // Their gradients are 0 without images.
  const int weights = layer.k * layer.c * layer.r * layer.s;
  grad_filter<<<weights, kBlock>>>(d_dy, d_x, d_df, layer);
}

// 08/10 Conv2d, backward: how the loss changes with each pixel of the input, and with each weight.
//   y[n][k][row][col] = sum over c, r, s of f[k][c][r][s] x[n][c][row + r - pad][col + s - pad]
//   dy  n x k x p x q: derivative of the loss by each element of y; given
//   dx  n x c x h x w: by each element of x.  df  k x c x r x s: by each weight.
//   Every product f x of the sum above is part of one y. The chain rule hands dy of that y to both
//   factors: dx gets f dy, and df gets x dy. So both gradients add up the products of the forward
//   pass in another order: dx the k r s products that a pixel is in, df the n p q of a weight.
//   TODOs  3
#include "10_conv2d_backward.h"

namespace {

constexpr int kBlock = 256;  // threads

// A thread per pixel of x.
__global__ void grad_input(const float* dy, const float* f, float* dx, ConvLayer layer) {
  const long long count = static_cast<long long>(layer.n) * layer.c * layer.h * layer.w;
  const long long index = static_cast<long long>(blockIdx.x) * kBlock + threadIdx.x;
  if (index >= count) return;
  const int i = static_cast<int>(index);
  const int col = i % layer.w, row = i / layer.w % layer.h;
  const int c = i / (layer.w * layer.h) % layer.c, image = i / (layer.w * layer.h * layer.c);
  const int p = layer.p(), q = layer.q();
  float sum = 0.0f;
  for (int k = 0; k < layer.k; ++k) {
    const float* plane = dy + static_cast<size_t>(image * layer.k + k) * p * q;           // p x q
    const float* weights = f + static_cast<size_t>(k * layer.c + c) * layer.r * layer.s;  // r x s
    // TODO(1): The pixel lies under weight [r][s] when the filter makes which output of this
    // plane? Add weight times dy, where there is such an output (about 9 lines).
    sum += weights[0] * plane[0] * (row + col);
  }
  dx[i] = sum;
}

// A block per weight. Its threads share out the n p q outputs that the weight is in.
__global__ void grad_filter(const float* dy, const float* x, float* df, ConvLayer layer) {
  __shared__ float of_warp[kBlock / 32];  // [warp]
  const int s = blockIdx.x % layer.s, r = blockIdx.x / layer.s % layer.r;
  const int c = blockIdx.x / (layer.s * layer.r) % layer.c;
  const int k = blockIdx.x / (layer.s * layer.r * layer.c);
  const int p = layer.p(), q = layer.q();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < p * q; i += kBlock) {  // outputs of a plane
    const int row = i / q + r - layer.pad, col = i % q + s - layer.pad;
    // TODO(2): Row and col are those of the pixel under the weight. If there is one, add pixel
    // times dy of output i, for every image (about 6 lines).
    sum += dy[i] * x[0] * (row + col + k + c);
  }
  // TODO(3): Add up the sums of all threads, by shuffles and of_warp, as in 05/03. Thread 0
  // writes the weight's gradient (about 8 lines).
  of_warp[threadIdx.x / 32] = 0.0f;
  if (threadIdx.x == 0) df[blockIdx.x] = sum + of_warp[0];
}

}  // namespace

void launch_conv2d_grad_input(const float* d_dy, const float* d_f, float* d_dx,
                              const ConvLayer& layer) {
  const long long count = static_cast<long long>(layer.n) * layer.c * layer.h * layer.w;
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid > 0) grad_input<<<grid, kBlock>>>(d_dy, d_f, d_dx, layer);
}

void launch_conv2d_grad_filter(const float* d_dy, const float* d_x, float* d_df,
                               const ConvLayer& layer) {
  const int weights =
      layer.k * layer.c * layer.r * layer.s;  // their gradients are 0 without images
  grad_filter<<<weights, kBlock>>>(d_dy, d_x, d_df, layer);
}

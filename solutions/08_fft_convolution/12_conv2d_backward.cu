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
  //~ // TODO(1): dx of each pixel is the sum of what all outputs that the pixel went into hand back to
  //~ // it, over all filters (about 23 lines, and 3 for the launch).
  //~begin 1
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
    for (int r = 0; r < layer.r; ++r) {
      const int to_row = row - r + layer.pad;
      if (to_row < 0 || to_row >= p) continue;
      for (int s = 0; s < layer.s; ++s) {
        const int to_col = col - s + layer.pad;
        if (to_col < 0 || to_col >= q) continue;
        sum += weights[r * layer.s + s] * plane[to_row * q + to_col];
      }
    }
  }
  dx[i] = sum;
  //~end
}

// A block per weight. Its threads share out the n p q outputs that the weight is in.
__global__ void grad_filter(const float* dy, const float* x, float* df, ConvLayer layer) {
  __shared__ float of_warp[kBlock / 32];  // [warp]
  float sum = 0.0f;
  //~ // TODO(2): The sums of all threads together are the products of this weight, over all images and
  //~ // outputs; neighbouring lanes read neighbours (about 15 lines).
  //~ sum += dy[0] * x[0];
  //~begin 2
  const int s = blockIdx.x % layer.s, r = blockIdx.x / layer.s % layer.r;
  const int c = blockIdx.x / (layer.s * layer.r) % layer.c;
  const int k = blockIdx.x / (layer.s * layer.r * layer.c);
  const int p = layer.p(), q = layer.q();
  for (int i = threadIdx.x; i < p * q; i += kBlock) {  // outputs of a plane
    const int row = i / q + r - layer.pad, col = i % q + s - layer.pad;
    if (row < 0 || row >= layer.h || col < 0 || col >= layer.w) continue;
    for (int image = 0; image < layer.n; ++image) {
      const size_t pixel =
          (static_cast<size_t>(image * layer.c + c) * layer.h + row) * layer.w + col;
      sum += x[pixel] * dy[static_cast<size_t>(image * layer.k + k) * p * q + i];
    }
  }
  //~end
  //~ // TODO(3): df of this weight is the sum of the sums of all threads (about 8 lines).
  //~ of_warp[threadIdx.x / 32] = 0.0f;
  //~ if (threadIdx.x == 0) df[blockIdx.x] = sum + of_warp[0];
  //~begin 3
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
  __syncthreads();  // write against read: thread 0 reads what every warp has written
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kBlock / 32; ++warp) sum += of_warp[warp];
    df[blockIdx.x] = sum;
  }
  //~end
}

}  // namespace

void launch_conv2d_grad_input(const float* d_dy, const float* d_f, float* d_dx,
                              const ConvLayer& layer) {
  //~ if (layer.n > 0) grad_input<<<1, kBlock>>>(d_dy, d_f, d_dx, layer);
  //~begin 1
  const long long count = static_cast<long long>(layer.n) * layer.c * layer.h * layer.w;
  const int grid = static_cast<int>((count + kBlock - 1) / kBlock);
  if (grid > 0) grad_input<<<grid, kBlock>>>(d_dy, d_f, d_dx, layer);
  //~end
}

void launch_conv2d_grad_filter(const float* d_dy, const float* d_x, float* d_df,
                               const ConvLayer& layer) {
  // Their gradients are 0 without images.
  const int weights = layer.k * layer.c * layer.r * layer.s;
  grad_filter<<<weights, kBlock>>>(d_dy, d_x, d_df, layer);
}

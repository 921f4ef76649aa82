// The other way round: each output hands its dy on, by atomic additions.
#include "12_conv2d_backward.h"

namespace {

// Calls hand(pixel of x, weight of f) for each product of output i of y.
template <class Hand>
__device__ void for_products(const ConvLayer& layer, int i, const Hand& hand) {
  const int q = layer.q(), p = layer.p();
  const int col = i % q - layer.pad, row = i / q % p - layer.pad;
  const int k = i / q / p % layer.k, image = i / q / p / layer.k;
  for (int j = 0; j < layer.c * layer.r * layer.s; ++j) {
    const int from_row = row + j / layer.s % layer.r, from_col = col + j % layer.s;
    if (from_row < 0 || from_row >= layer.h || from_col < 0 || from_col >= layer.w) continue;
    const int c = j / (layer.s * layer.r);
    hand(((image * layer.c + c) * layer.h + from_row) * layer.w + from_col,
         k * layer.c * layer.r * layer.s + j);
  }
}

__global__ void scatter(const float* dy, const float* other, float* gradient, ConvLayer layer,
                        bool to_input) {
  const int count = layer.n * layer.k * layer.p() * layer.q();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    for_products(layer, i, [&](int pixel, int weight) {
      if (to_input) {
        atomicAdd(gradient + pixel, dy[i] * other[weight]);
      } else {
        atomicAdd(gradient + weight, dy[i] * other[pixel]);
      }
    });
  }
}

}  // namespace

void launch_conv2d_grad_input(const float* d_dy, const float* d_f, float* d_dx,
                              const ConvLayer& layer) {
  cudaMemsetAsync(d_dx, 0, sizeof(float) * layer.n * layer.c * layer.h * layer.w);
  scatter<<<8, 128>>>(d_dy, d_f, d_dx, layer, true);
}

void launch_conv2d_grad_filter(const float* d_dy, const float* d_x, float* d_df,
                               const ConvLayer& layer) {
  cudaMemsetAsync(d_df, 0, sizeof(float) * layer.k * layer.c * layer.r * layer.s);
  scatter<<<8, 128>>>(d_dy, d_x, d_df, layer, false);
}

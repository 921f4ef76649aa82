// A grid of planes: blockIdx.y and z say which, and the loops run only over what lies on the image.
#include "09_conv2d_nchw.h"

__global__ void planes(const float* x, const float* f, float* y, ConvLayer layer) {
  const int q = layer.q();
  const unsigned pixels = layer.p() * q;
  for (int image = blockIdx.z; image < layer.n; image += gridDim.z) {
    for (int filter = blockIdx.y; filter < layer.k; filter += gridDim.y) {
      const unsigned step = gridDim.x * blockDim.x;  // the sum of both may not fit into an int
      for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < pixels; at += step) {
        const int i = at;
        const int top = i / q - layer.pad, left = i % q - layer.pad;
        const int first_r = max(0, -top), last_r = min(layer.r, layer.h - top);
        const int first_s = max(0, -left), last_s = min(layer.s, layer.w - left);
        float sum = 0.0f;
        for (int c = 0; c < layer.c; ++c) {
          for (int r = first_r; r < last_r; ++r) {
            const float* pixel = x + ((image * layer.c + c) * layer.h + top + r) * layer.w + left;
            const float* weight = f + ((filter * layer.c + c) * layer.r + r) * layer.s;
            for (int s = first_s; s < last_s; ++s) sum += pixel[s] * weight[s];
          }
        }
        y[(image * layer.k + filter) * pixels + i] = sum;
      }
    }
  }
}

void launch_conv2d_nchw(const float* d_x, const float* d_f, float* d_y, const ConvLayer& layer) {
  if (layer.n == 0) return;
  const int pixels = layer.p() * layer.q();
  const dim3 grid((pixels - 1) / 64 + 1, min(layer.k, 16), min(layer.n, 3));
  planes<<<grid, 64>>>(d_x, d_f, d_y, layer);
}

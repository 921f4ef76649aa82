// Accepted: transforms in place, in rows that have room for their spectrum, and sizes made from
// powers of the primes.
#include <cufft.h>

#include <cstdio>

#include "15_cufft_conv.h"

static void say(const char* call, cufftResult result) {
  if (result != CUFFT_SUCCESS) fprintf(stderr, "%s: cufftResult %d\n", call, result);
}

int fast_size(int n) {
  long long best = 1LL << 31;
  for (long long a = 1; a < best; a *= 2) {
    for (long long b = a; b < best; b *= 3) {
      for (long long c = b; c < best; c *= 5) {
        for (long long d = c; d < best; d *= 7) {
          if (d >= n) best = d;
        }
      }
    }
  }
  return static_cast<int>(best);
}

CufftConv* make_cufft_conv(const ConvShape& shape) {
  CufftConv* conv = new CufftConv();
  conv->shape = shape;
  conv->rows = fast_size(shape.height);
  conv->cols = fast_size(shape.width);
  size_t work = 0;
  say("cufftCreate", cufftCreate(&conv->forward));
  say("cufftCreate", cufftCreate(&conv->inverse));
  const int rows = conv->rows, cols = conv->cols;
  say("cufftMakePlan2d", cufftMakePlan2d(conv->forward, rows, cols, CUFFT_R2C, &work));
  say("cufftMakePlan2d", cufftMakePlan2d(conv->inverse, rows, cols, CUFFT_C2R, &work));
  const size_t bytes = static_cast<size_t>(conv->rows) * (conv->cols / 2 + 1) * sizeof(float2);
  cudaMalloc(&conv->image, bytes);
  cudaMalloc(&conv->filter, bytes);
  conv->image_spectrum = reinterpret_cast<float2*>(conv->image);  // rows with room for both
  conv->filter_spectrum = reinterpret_cast<float2*>(conv->filter);
  return conv;
}

void destroy_cufft_conv(CufftConv* conv) {
  cufftDestroy(conv->forward);
  cufftDestroy(conv->inverse);
  cudaFree(conv->image);
  cudaFree(conv->filter);
  delete conv;
}

__global__ void correlate(float2* x, const float2* f, int n, float factor) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float2 p = x[i], q = f[i];
    x[i] = make_float2(factor * (p.x * q.x + p.y * q.y), factor * (p.y * q.x - p.x * q.y));
  }
}

void run_cufft_conv(const CufftConv* conv, const float* d_image, const float* d_filter,
                    float* d_out) {
  const ConvShape& s = conv->shape;
  const int half = conv->cols / 2 + 1, points = conv->rows * half;
  const size_t pitch = half * sizeof(float2), width = s.width * sizeof(float);
  for (float* padded : {conv->image, conv->filter}) cudaMemsetAsync(padded, 0, pitch * conv->rows);
  cudaMemcpy2DAsync(conv->image, pitch, d_image, width, width, s.height, cudaMemcpyDeviceToDevice);
  const size_t filter_width = s.filter_width * sizeof(float);
  cudaMemcpy2DAsync(conv->filter, pitch, d_filter, filter_width, filter_width, s.filter_height,
                    cudaMemcpyDeviceToDevice);
  float2 *image = conv->image_spectrum, *filter = conv->filter_spectrum;
  say("cufftExecR2C", cufftExecR2C(conv->forward, conv->filter, filter));
  say("cufftExecR2C", cufftExecR2C(conv->forward, conv->image, image));
  correlate<<<4, 128>>>(image, filter, points, 1.0f / conv->rows / conv->cols);
  say("cufftExecC2R", cufftExecC2R(conv->inverse, image, conv->image));
  const size_t out_width = s.out_width() * sizeof(float);
  cudaMemcpy2DAsync(d_out, out_width, conv->image, pitch, out_width, s.out_height(),
                    cudaMemcpyDeviceToDevice);
}

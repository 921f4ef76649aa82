// 08/15 Convolution with cuFFT: two transforms, a product, one transform back.
//   image, filter, out  as in 14, in valid mode; see the header
//   Image and filter are padded with zeros to rows x cols, no less than the image: what wraps round
//   lies outside of the valid part. Real values have a spectrum of rows x (cols / 2 + 1) complex
//   values; the others are their conjugates. Nothing is scaled by the library.
//   TODOs  4
#include <cufft.h>

#include <cstdio>

#include "15_cufft_conv.h"
#include "support.h"

void check(cufftResult result, const char* call) {
  if (result != CUFFT_SUCCESS) std::fprintf(stderr, "%s returned %d\n", call, result);
}

int fast_size(int n) {
  //~ // TODO(1): The result is the smallest size from n on that cuFFT has fast code for: one without a
  //~ // prime factor above 7 (about 7 lines).
  //~ return n;
  //~begin 1
  for (;; ++n) {
    int rest = n;
    for (const int prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return n;
  }
  //~end
}

CufftConv* make_cufft_conv(const ConvShape& shape) {
  CufftConv* conv = new CufftConv();
  //~ // TODO(2): conv has all that the header says: the sizes, plans for the transforms there and back,
  //~ // and memory. destroy_cufft_conv leaves nothing behind (about 11 lines, and 8 there).
  //~begin 2
  conv->shape = shape;
  conv->rows = fast_size(shape.height);
  conv->cols = fast_size(shape.width);
  check(cufftPlan2d(&conv->forward, conv->rows, conv->cols, CUFFT_R2C), "cufftPlan2d");
  check(cufftPlan2d(&conv->inverse, conv->rows, conv->cols, CUFFT_C2R), "cufftPlan2d");
  const size_t real = static_cast<size_t>(conv->rows) * conv->cols * sizeof(float);
  const size_t half = static_cast<size_t>(conv->rows) * conv->half_cols() * sizeof(float2);
  cudaMalloc(&conv->image, real);
  cudaMalloc(&conv->filter, real);
  cudaMalloc(&conv->image_spectrum, half);
  cudaMalloc(&conv->filter_spectrum, half);
  //~end
  return conv;
}

void destroy_cufft_conv(CufftConv* conv) {
  //~begin 2
  for (void* memory :
       {static_cast<void*>(conv->image), static_cast<void*>(conv->filter),
        static_cast<void*>(conv->image_spectrum), static_cast<void*>(conv->filter_spectrum)}) {
    cudaFree(memory);
  }
  check(cufftDestroy(conv->forward), "cufftDestroy");
  check(cufftDestroy(conv->inverse), "cufftDestroy");
  //~end
  delete conv;
}

// to (to_rows x to_cols) = from (rows x cols), and zeros to the right and below.
__global__ void pad(const float* from, int rows, int cols, float* to, int to_rows, int to_cols) {
  //~begin 4
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= to_rows || col >= to_cols) return;
  const bool inside = row < rows && col < cols;
  to[static_cast<size_t>(row) * to_cols + col] =
      inside ? from[static_cast<size_t>(row) * cols + col] : 0.0f;
  //~end
}

// image[i] becomes the value of the correlation's spectrum, n values.
__global__ void multiply_spectra(float2* image, const float2* filter, int n, float scale) {
  //~ // TODO(3): image has the spectrum of what the header asks for, a correlation, times scale
  //~ // (about 2 lines).
  //~begin 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) image[i] = scale * (image[i] * conjugate(filter[i]));
  //~end
}

void run_cufft_conv(const CufftConv* conv, const float* d_image, const float* d_filter,
                    float* d_out) {
  //~ // TODO(4): d_out has the valid part, by three transforms and one product; nothing waits for the
  //~ // device. What is padded has zeros to the right and below, and the numbers are as large as the
  //~ // sum itself would make them (about 19 lines, and 6 in pad).
  //~begin 4
  const ConvShape& shape = conv->shape;
  const int rows = conv->rows, cols = conv->cols, points = rows * conv->half_cols();
  constexpr int kBlock = 256;  // threads
  const dim3 block(32, 8), grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
  pad<<<grid, block>>>(d_image, shape.height, shape.width, conv->image, rows, cols);
  pad<<<grid, block>>>(d_filter, shape.filter_height, shape.filter_width, conv->filter, rows, cols);
  float scale = 1.0f;
  check(cufftExecR2C(conv->forward, conv->image, conv->image_spectrum), "cufftExecR2C");
  check(cufftExecR2C(conv->forward, conv->filter, conv->filter_spectrum), "cufftExecR2C");
  scale = 1.0f / (static_cast<float>(rows) * cols);
  multiply_spectra<<<(points + kBlock - 1) / kBlock, kBlock>>>(
      conv->image_spectrum, conv->filter_spectrum, points, scale);
  check(cufftExecC2R(conv->inverse, conv->image_spectrum, conv->image), "cufftExecC2R");
  // The valid part is the upper left corner.
  cudaMemcpy2DAsync(d_out, shape.out_width() * sizeof(float), conv->image, cols * sizeof(float),
                    shape.out_width() * sizeof(float), shape.out_height(),
                    cudaMemcpyDeviceToDevice);
  //~end
}

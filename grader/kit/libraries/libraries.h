// NVIDIA's libraries as baselines of speed tests.
//
//   speed.against(kit::library("CUB DeviceReduce::Sum", kit::cub(),
//                              [&] { kit::cub_sum(x.get(), sum.get(), n); }),
//                 kit::Bars(0.50, 0.92, 1.00));
//
// Each library lies in a shared object of its own (grader/kit/libraries/NAME.*), built on machines
// with a GPU for the exercises whose course.json names it in "baselines", and loaded when it is
// first asked for. So the learner's object links without it, and cannot call it either. Where a
// library is missing, and in the simulator, which has no time for one, the comparison is left out.
//
// All pointers are to device memory. Calls are queued on the default stream. Working memory is
// allocated at the first call of a size, so the first call must not be a timed one (kit::Speed
// warms up). An error of the library ends the test program with its text.
#ifndef WARPLINGS_KIT_LIBRARIES_LIBRARIES_H_
#define WARPLINGS_KIT_LIBRARIES_LIBRARIES_H_

#include <vector_types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "kit/libraries/conv_sizes.h"

namespace kit {

// A library, and whether this machine has it.
struct Library {
  std::string name;     // "CUB"
  std::string missing;  // why it cannot be called; "" if it can
};
Library cub();
Library cublas();
Library cudnn();
Library cufft();
Library nccl();

// out[0] = sum of in[0 .. n).
void cub_sum(const float* in, float* out, size_t n);
// out[i] = in[0] + ... + in[i], and the same without in[i].
void cub_inclusive_sum(const float* in, float* out, size_t n);
void cub_exclusive_sum(const float* in, float* out, size_t n);
// counts[v] = how many of the n bytes are v; 256 counts, which need not be zero before.
void cub_histogram(const uint8_t* in, unsigned* counts, size_t n);

// out (cols, rows) = transpose of in (rows, cols), both row-major (geam).
void cublas_transpose(const float* in, float* out, int rows, int cols);
// c (m, n) = a (m, k) times b (k, n), all row-major, CUBLAS_PEDANTIC_MATH: no tensor cores.
void cublas_sgemm(const float* a, const float* b, float* c, int m, int n, int k);
// The same with a and b in bfloat16, given as their bits, and sums in float: tensor cores (GemmEx).
void cublas_bf16(const uint16_t* a, const uint16_t* b, float* c, int m, int n, int k);

// Softmax over each row of (rows, cols), row-major (CUDNN_SOFTMAX_ACCURATE).
void cudnn_softmax(const float* in, float* out, int rows, int cols);
// y = x filtered by f (a correlation), CUDNN_FMA_MATH: no tensor cores. By the precomputed implicit
// GEMM, and by whichever algorithm was fastest at the first call of these sizes.
void cudnn_conv_gemm(const float* x, const float* f, float* y, const ConvSizes& sizes);
void cudnn_conv_best(const float* x, const float* f, float* y, const ConvSizes& sizes);

// y = the forward transforms of x: `batch` of n complex values each, one after the other.
void cufft_forward(const float2* x, float2* y, int n, int batch);
// The correlation of an image with a filter, both row-major, in valid mode, by two R2C transforms,
// a product and a C2R transform of n x n points, n being the power of two that holds the image. Its
// elements are the upper left corner of square, which has n x n; the others are what wrapped round.
void cufft_correlate(const float* image, const float* filter, float* square, int height, int width,
                     int filter_height, int filter_width);

// out[d][i] = in[0][i] + in[1][i] + ...: in[d] and out[d] are n floats on device d, for d < devices
// (ncclAllReduce, in a group). The one call that is not of the default stream: each device has a
// stream for it.
void nccl_all_reduce(const float* const* in, float* const* out, size_t n, int devices);

}  // namespace kit

#endif  // WARPLINGS_KIT_LIBRARIES_LIBRARIES_H_

// What the shared objects of the libraries export. Each returns 0, or a text that says what failed.
#ifndef WARPLINGS_KIT_LIBRARIES_ENTRY_POINTS_H_
#define WARPLINGS_KIT_LIBRARIES_ENTRY_POINTS_H_

#include <vector_types.h>

#include <cstddef>
#include <cstdint>

#include "kit/libraries/conv_sizes.h"

#define WARPLINGS_EXPORT extern "C" __attribute__((visibility("default"))) const char*

WARPLINGS_EXPORT warplings_cub_sum(const float* in, float* out, size_t n);
WARPLINGS_EXPORT warplings_cub_inclusive_sum(const float* in, float* out, size_t n);
WARPLINGS_EXPORT warplings_cub_exclusive_sum(const float* in, float* out, size_t n);
WARPLINGS_EXPORT warplings_cub_histogram(const uint8_t* in, unsigned* counts, size_t n);
WARPLINGS_EXPORT warplings_cublas_transpose(const float* in, float* out, int rows, int cols);
WARPLINGS_EXPORT warplings_cublas_sgemm(const float* a, const float* b, float* c, int m, int n,
                                        int k);
WARPLINGS_EXPORT warplings_cublas_bf16(const uint16_t* a, const uint16_t* b, float* c, int m, int n,
                                       int k);
WARPLINGS_EXPORT warplings_cudnn_softmax(const float* in, float* out, int rows, int cols);
WARPLINGS_EXPORT warplings_cudnn_conv_gemm(const float* x, const float* f, float* y,
                                           const kit::ConvSizes* sizes);
WARPLINGS_EXPORT warplings_cudnn_conv_best(const float* x, const float* f, float* y,
                                           const kit::ConvSizes* sizes);
WARPLINGS_EXPORT warplings_cufft_forward(const float2* x, float2* y, int n, int batch);
WARPLINGS_EXPORT warplings_cufft_correlate(const float* image, const float* filter, float* square,
                                           int height, int width, int filter_height,
                                           int filter_width);
WARPLINGS_EXPORT warplings_nccl_all_reduce(const float* const* in, float* const* out, size_t n,
                                           int devices);

#endif  // WARPLINGS_KIT_LIBRARIES_ENTRY_POINTS_H_

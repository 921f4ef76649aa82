// 09/16 CUTLASS: what the test calls. The test does not see CUTLASS itself.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_16_CUTLASS_GEMM_H_
#define CHAPTERS_09_CUDA_LIBRARIES_16_CUTLASS_GEMM_H_

#include <cuda_runtime.h>

#include <functional>

// c = a b by a kernel of CUTLASS, in single precision. a: m x k, b: k x n, c: m x n floats,
// row-major, in device memory; all sizes at least 1. Does not wait. Returns what CUTLASS says:
// "Success", or the name of its status.
const char* launch_cutlass_gemm(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                                cudaStream_t stream);

// Calls work() warm_ups + runs times; work() starts something on `stream`. The median of the times,
// in milliseconds by events, of the last `runs` calls; runs is odd. Waits.
float median_ms(int warm_ups, int runs, cudaStream_t stream, const std::function<void()>& work);

#endif  // CHAPTERS_09_CUDA_LIBRARIES_16_CUTLASS_GEMM_H_

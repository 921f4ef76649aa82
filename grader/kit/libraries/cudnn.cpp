// cuDNN.
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <array>
#include <map>

#include "kit/libraries/entry_points.h"

namespace {

const char* text(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? nullptr : cudnnGetErrorString(status);
}

// A handle and a tensor descriptor for the whole program.
struct Objects {
  cudnnHandle_t handle = nullptr;
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnStatus_t status = cudnnCreate(&handle);
  Objects() {
    if (status == CUDNN_STATUS_SUCCESS) status = cudnnCreateTensorDescriptor(&tensor);
  }
};
Objects& objects() {
  static Objects made;
  return made;
}

// A convolution of certain sizes, with the algorithm that was pinned for it at the first call.
struct Convolution {
  cudnnTensorDescriptor_t x = nullptr, y = nullptr;
  cudnnFilterDescriptor_t f = nullptr;
  cudnnConvolutionDescriptor_t rule = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  void* workspace = nullptr;
  size_t bytes = 0;  // of the workspace
};

cudnnStatus_t describe(const kit::ConvSizes& s, Convolution& c) {
  const auto kind = CUDNN_DATA_FLOAT;
  const auto order = CUDNN_TENSOR_NCHW;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  const auto ok = [&](cudnnStatus_t result) {
    status = result;
    return result == CUDNN_STATUS_SUCCESS;
  };
  (void)(ok(cudnnCreateTensorDescriptor(&c.x)) && ok(cudnnCreateTensorDescriptor(&c.y)) &&
         ok(cudnnCreateFilterDescriptor(&c.f)) && ok(cudnnCreateConvolutionDescriptor(&c.rule)) &&
         ok(cudnnSetTensor4dDescriptor(c.x, order, kind, s.n, s.c, s.h, s.w)) &&
         ok(cudnnSetTensor4dDescriptor(c.y, order, kind, s.n, s.k, s.p(), s.q())) &&
         ok(cudnnSetFilter4dDescriptor(c.f, kind, order, s.k, s.c, s.r, s.s)) &&
         ok(cudnnSetConvolution2dDescriptor(c.rule, s.pad, s.pad, 1, 1, 1, 1,
                                            CUDNN_CROSS_CORRELATION, kind)) &&
         ok(cudnnSetConvolutionMathType(c.rule, CUDNN_FMA_MATH)));
  return status;
}

// Finds out the workspace of c.algorithm and allocates it.
cudnnStatus_t prepare(Convolution& c) {
  const cudnnStatus_t status = cudnnGetConvolutionForwardWorkspaceSize(
      objects().handle, c.x, c.f, c.rule, c.y, c.algorithm, &c.bytes);
  if (status != CUDNN_STATUS_SUCCESS || c.bytes == 0) return status;
  if (cudaMalloc(&c.workspace, c.bytes) == cudaSuccess) return status;
  cudaGetLastError();  // out of memory is no error of the program
  return CUDNN_STATUS_ALLOC_FAILED;
}

cudnnStatus_t convolve(const Convolution& c, const float* x, const float* f, float* y) {
  const float one = 1, zero = 0;
  return cudnnConvolutionForward(objects().handle, &one, c.x, x, c.f, f, c.rule, c.algorithm,
                                 c.workspace, c.bytes, &zero, c.y, y);
}

// Milliseconds of ten calls after a first; negative if the algorithm does not take these sizes.
float time_of(const Convolution& c, const float* x, const float* f, float* y) {
  if (convolve(c, x, f, y) != CUDNN_STATUS_SUCCESS) return -1;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin);
  for (int call = 0; call < 10; ++call) convolve(c, x, f, y);
  cudaEventRecord(end);
  cudaEventSynchronize(end);
  float milliseconds = -1;
  cudaEventElapsedTime(&milliseconds, begin, end);
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return milliseconds;
}

// Tries every algorithm and keeps the fastest.
cudnnStatus_t pin_fastest(Convolution& c, const float* x, const float* f, float* y) {
  Convolution best = c;
  float least = -1;
  for (int number = 0; number < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++number) {
    Convolution candidate = c;
    candidate.algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(number);
    if (prepare(candidate) != CUDNN_STATUS_SUCCESS) continue;
    const float time = time_of(candidate, x, f, y);
    const bool better = time > 0 && (least < 0 || time < least);
    cudaFree(better ? best.workspace : candidate.workspace);
    if (!better) continue;
    best = candidate;
    least = time;
  }
  c = best;
  return least < 0 ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS;
}

const char* convolution(const float* x, const float* f, float* y, const kit::ConvSizes& s,
                        bool fastest) {
  if (objects().status != CUDNN_STATUS_SUCCESS) return text(objects().status);
  static std::map<std::array<int, 9>, Convolution> known;
  const std::array<int, 9> key = {s.n, s.c, s.h, s.w, s.k, s.r, s.s, s.pad, fastest};
  if (known.count(key) == 0) {
    Convolution fresh;
    cudnnStatus_t status = describe(s, fresh);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = fastest ? pin_fastest(fresh, x, f, y) : prepare(fresh);
    }
    if (status != CUDNN_STATUS_SUCCESS) return text(status);
    known[key] = fresh;
  }
  return text(convolve(known[key], x, f, y));
}

}  // namespace

const char* warplings_cudnn_softmax(const float* in, float* out, int rows, int cols) {
  Objects& o = objects();
  if (o.status != CUDNN_STATUS_SUCCESS) return text(o.status);
  const cudnnStatus_t status =
      cudnnSetTensor4dDescriptor(o.tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, rows, cols, 1, 1);
  if (status != CUDNN_STATUS_SUCCESS) return text(status);
  const float one = 1, zero = 0;
  return text(cudnnSoftmaxForward(o.handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_INSTANCE,
                                  &one, o.tensor, in, &zero, o.tensor, out));
}

const char* warplings_cudnn_conv_gemm(const float* x, const float* f, float* y,
                                      const kit::ConvSizes* sizes) {
  return convolution(x, f, y, *sizes, false);
}

const char* warplings_cudnn_conv_best(const float* x, const float* f, float* y,
                                      const kit::ConvSizes* sizes) {
  return convolution(x, f, y, *sizes, true);
}

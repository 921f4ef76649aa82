// Given code of 12/15: handles, descriptors and algorithms for the layers of one network and one
// batch size, made once for all steps.
#ifndef CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_SUPPORT_H_

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cudnn.h>

#include "support.h"

inline bool succeeded(cudnnStatus_t status) { return status == CUDNN_STATUS_SUCCESS; }
inline bool succeeded(cublasStatus_t status) { return status == CUBLAS_STATUS_SUCCESS; }

// Passes as the descriptor that it holds, which is destroyed with its scope.
template <class T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)>
class Described {
 public:
  Described() { create(&held_); }
  ~Described() { destroy(held_); }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  operator T() const { return held_; }  // NOLINT: stands for what it holds

 private:
  T held_ = nullptr;
};
using TensorShape =
    Described<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterShape =
    Described<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionWay = Described<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
                                 cudnnDestroyConvolutionDescriptor>;
using PoolingWay = Described<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor,
                             cudnnDestroyPoolingDescriptor>;
using ActivationWay = Described<cudnnActivationDescriptor_t, cudnnCreateActivationDescriptor,
                                cudnnDestroyActivationDescriptor>;

// Convolution 3 x 3, batch norm, ReLU, pooling 2 x 2, of n images.
struct LibraryBlock {
  TensorShape x, map, pooled, channel;  // map: of the convolution, batch norm and ReLU
  FilterShape filters;
  ConvolutionWay convolution;
  ActivationWay relu;
  PoolingWay pooling;
  // The fastest that cuDNN knows for these sizes, fp32 throughout, that fits into the workspace.
  cudnnConvolutionFwdAlgo_t forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  cudnnConvolutionBwdDataAlgo_t by_input = CUDNN_CONVOLUTION_BWD_DATA_ALGO_0;
  cudnnConvolutionBwdFilterAlgo_t by_filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0;
};

// y[n][out] = x[n][in] w[out][in]^T + b[out].
struct LibraryLinear {
  int n = 0, in = 0, out = 0;
  TensorShape y, bias;  // n x out x 1 x 1, 1 x out x 1 x 1
};

class Libraries {
 public:
  cublasHandle_t blas = nullptr;
  cudnnHandle_t dnn = nullptr;
  LibraryBlock block[2];
  LibraryLinear linear[2];
  ActivationWay relu;  // of the hidden layer, whose shape is linear[0].y
  void* workspace = nullptr;
  static constexpr size_t kWorkspaceBytes = size_t{64} << 20;

  Libraries(const Network& net, int n) {
    ready_ = succeeded(cublasCreate(&blas)) &&
             succeeded(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH)) &&
             succeeded(cudnnCreate(&dnn)) && set_relu(relu) &&
             cudaMalloc(&workspace, kWorkspaceBytes) == cudaSuccess &&
             describe(n, 1, net.channels1, net.image, &block[0]) &&
             describe(n, net.channels1, net.channels2, net.image / 2, &block[1]) &&
             describe(n, net.features(), net.hidden, &linear[0]) &&
             describe(n, net.hidden, net.classes, &linear[1]);
  }
  ~Libraries() {
    cudaFree(workspace);
    if (dnn != nullptr) cudnnDestroy(dnn);
    if (blas != nullptr) cublasDestroy(blas);
  }
  Libraries(const Libraries&) = delete;
  Libraries& operator=(const Libraries&) = delete;
  bool ready() const { return ready_; }

 private:
  static bool set_tensor(cudnnTensorDescriptor_t tensor, int n, int c, int side) {
    return succeeded(
        cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, side, side));
  }
  static bool set_relu(cudnnActivationDescriptor_t way) {
    return succeeded(
        cudnnSetActivationDescriptor(way, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
  }
  bool describe(int n, int c, int k, int side, LibraryBlock* b) {
    return set_tensor(b->x, n, c, side) && set_tensor(b->map, n, k, side) &&
           set_tensor(b->pooled, n, k, side / 2) && set_relu(b->relu) &&
           succeeded(cudnnDeriveBNTensorDescriptor(b->channel, b->map, CUDNN_BATCHNORM_SPATIAL)) &&
           succeeded(cudnnSetFilter4dDescriptor(b->filters, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k,
                                                c, 3, 3)) &&
           succeeded(cudnnSetConvolution2dDescriptor(b->convolution, 1, 1, 1, 1, 1, 1,
                                                     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT)) &&
           succeeded(cudnnSetConvolutionMathType(b->convolution, CUDNN_FMA_MATH)) &&
           succeeded(cudnnSetPooling2dDescriptor(b->pooling, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN,
                                                 2, 2, 0, 0, 2, 2)) &&
           choose(b);
  }
  static bool describe(int n, int in, int out, LibraryLinear* l) {
    l->n = n;
    l->in = in;
    l->out = out;
    return set_tensor(l->y, n, out, 1) && set_tensor(l->bias, 1, out, 1);
  }
  // The lists are in the order of the expected time.
  template <class Found, class Algorithm>
  static bool take_first(const Found* found, int count, Algorithm* chosen) {
    for (int i = 0; i < count; ++i) {
      if (!succeeded(found[i].status) || found[i].memory > kWorkspaceBytes) continue;
      *chosen = found[i].algo;
      return true;
    }
    return false;
  }
  bool choose(LibraryBlock* b) {
    constexpr int kMost = 10;
    int count = 0;
    cudnnConvolutionFwdAlgoPerf_t forward[kMost];
    cudnnConvolutionBwdDataAlgoPerf_t by_input[kMost];
    cudnnConvolutionBwdFilterAlgoPerf_t by_filter[kMost];
    return succeeded(cudnnGetConvolutionForwardAlgorithm_v7(dnn, b->x, b->filters, b->convolution,
                                                            b->map, kMost, &count, forward)) &&
           take_first(forward, count, &b->forward) &&
           succeeded(cudnnGetConvolutionBackwardDataAlgorithm_v7(
               dnn, b->filters, b->map, b->convolution, b->x, kMost, &count, by_input)) &&
           take_first(by_input, count, &b->by_input) &&
           succeeded(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
               dnn, b->x, b->map, b->convolution, b->filters, kMost, &count, by_filter)) &&
           take_first(by_filter, count, &b->by_filter);
  }

  bool ready_ = false;
};

#endif  // CHAPTERS_12_MNIST_CNN_15_LIBRARY_STEP_SUPPORT_H_

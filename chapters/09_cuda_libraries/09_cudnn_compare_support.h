// Given to 09/09 and 09/10: descriptors of the fixed-function calls that are destroyed with their
// scope, and the first status of several that is no success. To 09/09 also: the names of cuDNN's
// forward algorithms, and the table of a comparison.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_SUPPORT_H_

#include <cudnn.h>

#include <cstddef>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <vector>

// Passes as the descriptor that it holds. Made with its scope; the statuses of making and
// destroying are left out, because neither depends on anything that a program says.
template <class T, cudnnStatus_t (*create)(T*), cudnnStatus_t (*destroy)(T)>
class Descriptor {
 public:
  Descriptor() { create(&held_); }
  ~Descriptor() { destroy(held_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator T() const { return held_; }  // NOLINT: stands for what it holds

 private:
  T held_ = nullptr;
};

using TensorDescriptor =
    Descriptor<cudnnTensorDescriptor_t, cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor>;
using FilterDescriptor =
    Descriptor<cudnnFilterDescriptor_t, cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor>;
using ConvolutionDescriptor =
    Descriptor<cudnnConvolutionDescriptor_t, cudnnCreateConvolutionDescriptor,
               cudnnDestroyConvolutionDescriptor>;
using PoolingDescriptor = Descriptor<cudnnPoolingDescriptor_t, cudnnCreatePoolingDescriptor,
                                     cudnnDestroyPoolingDescriptor>;

// A convolution, said in descriptors: y = x filtered by f, in the way of `how`.
struct ConvDescriptors {
  TensorDescriptor x, y;
  FilterDescriptor f;
  ConvolutionDescriptor how;
};

// The first that is no success. In braces the calls are made from left to right, all of them.
inline cudnnStatus_t first_failure(std::initializer_list<cudnnStatus_t> statuses) {
  for (const cudnnStatus_t status : statuses) {
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return CUDNN_STATUS_SUCCESS;
}

// One line of the table.
struct CompareRow {
  std::string name;
  cudnnStatus_t status;  // a success, or why there is no result
  size_t workspace;      // bytes
  float milliseconds;    // the median; -1 where it did not run
  double difference;     // from your result, relative; -1 where it did not run
};

inline std::string algorithm_name(int algorithm) {
  static const char* const kNames[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {
      "implicit GEMM", "precomputed GEMM", "GEMM",     "direct",
      "Fourier",       "Fourier of tiles", "Winograd", "Winograd in steps"};
  return kNames[algorithm];
}

inline void print_table(const std::vector<CompareRow>& rows) {
  std::printf("%-18s %12s %10s %10s\n", "algorithm", "workspace", "ms", "difference");
  for (const CompareRow& row : rows) {
    if (row.milliseconds < 0) {
      std::printf("%-18s %s\n", row.name.c_str(), cudnnGetErrorString(row.status));
    } else {
      std::printf("%-18s %12zu %10.4f %10.1e\n", row.name.c_str(), row.workspace, row.milliseconds,
                  row.difference);
    }
  }
}

#endif  // CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_SUPPORT_H_

// Given to 09/09: the names of cuDNN's forward algorithms, and the table of a comparison.
#ifndef CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_SUPPORT_H_
#define CHAPTERS_09_CUDA_LIBRARIES_09_CUDNN_COMPARE_SUPPORT_H_

#include <cudnn.h>

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

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

// 06/14 as a program, for the tools: three_tools windows | places | rows
//
//   nvcc -g -G -o three_tools 14_three_tools.cu 14_three_tools_main.cpp      for cuda-gdb
//   nvcc -lineinfo -o three_tools 14_three_tools.cu 14_three_tools_main.cpp  for the other two
//
//   compute-sanitizer ./three_tools windows
//   cuda-gdb --args ./three_tools places
//   ncu --set full ./three_tools rows
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "14_three_tools.h"

namespace {

float* device(const std::vector<float>& values) {
  float* data = nullptr;
  cudaMalloc(&data, values.size() * sizeof(float));
  cudaMemcpy(data, values.data(), values.size() * sizeof(float), cudaMemcpyHostToDevice);
  return data;
}

void run_windows() {
  const int n = 1000;
  launch_window_sums(device(std::vector<float>(n, 1.0f)), device(std::vector<float>(n - 2)), n);
}

// Even numbers, of which every key lies between two.
void run_places() {
  const int n = 8, m = 64;
  std::vector<float> sorted, keys;
  for (int i = 0; i < n; ++i) sorted.push_back(2.0f * i);
  for (int k = 0; k < m; ++k) keys.push_back(static_cast<float>(k % 16) - 0.5f);
  int* places = nullptr;
  cudaMalloc(&places, m * sizeof(int));
  launch_find_places(device(sorted), n, device(keys), places, m);
}

void run_rows() {
  const int rows = 8192, cols = 1024;
  float* const matrix = device(std::vector<float>(static_cast<size_t>(rows) * cols, 1.0f));
  launch_scale_rows(matrix, device(std::vector<float>(rows, 2.0f)), matrix, rows, cols);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const what = argc == 2 ? argv[1] : "";
  if (std::strcmp(what, "windows") == 0) {
    run_windows();
  } else if (std::strcmp(what, "places") == 0) {
    run_places();
  } else if (std::strcmp(what, "rows") == 0) {
    run_rows();
  } else {
    std::puts("three_tools windows | places | rows");
    return 2;
  }
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", what, cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

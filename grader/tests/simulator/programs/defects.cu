// One planted defect per argument; run with GRADE_EXEC=1 the status must be 99.
#include <cassert>
#include <cstring>

#include "check.h"

__global__ void fill(int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i;
}

__global__ void check_sign(const int* data) { assert(data[0] < 0); }

int main(int argc, char** argv) {
  const char* defect = argc > 1 ? argv[1] : "";
  const auto is = [&](const char* name) { return std::strcmp(defect, name) == 0; };
  int* data = nullptr;
  int host[64] = {};
  CHECK_CUDA(cudaMalloc(&data, 64 * sizeof(int)));
  if (is("host-access")) std::printf("%d\n", data[3]);
  if (is("copy-too-long")) cudaMemcpy(data, host, 2 * sizeof(host), cudaMemcpyHostToDevice);
  if (is("unwritten")) {
    fill<<<1, 32>>>(data, 64);
    cudaMemcpy(host, data, sizeof(host), cudaMemcpyDeviceToHost);
  }
  if (is("double-free")) {
    cudaFree(data);
    cudaFree(data);
    return 0;
  }
  if (is("unchecked-launch")) fill<<<1, 2048>>>(data, 64);
  if (is("unawaited")) {  // out of bounds, and nothing waits for it
    fill<<<1, 128>>>(data, 128);
    return 0;
  }
  if (is("assert")) {
    cudaMemset(data, 0, sizeof(host));
    check_sign<<<1, 1>>>(data);
    CHECK(cudaDeviceSynchronize() == cudaErrorAssert);
    return 0;
  }
  if (is("checked-launch")) {  // no defect: the program looks at the error
    fill<<<1, 2048>>>(data, 64);
    CHECK(cudaGetLastError() != cudaSuccess);
  }
  cudaFree(data);
  std::printf("end\n");
  return 0;
}

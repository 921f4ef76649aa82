// Another right answer: the macro hands the work to a function, and harmless work tells whether the
// context is lost.
#include <cassert>

#include "03_error_checking.h"

static bool failed(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return false;
  report_cuda_error(error, call, file, line);
  return true;
}

#define CUDA_CHECK(call)                                    \
  if (const cudaError_t result_of_call = (call);            \
      !failed(result_of_call, #call, __FILE__, __LINE__)) { \
  } else                                                    \
    return result_of_call

cudaError_t check_one_call(cudaError_t (*planned_call)(int), int error, bool skip) {
  if (skip) return cudaErrorNotReady;
  CUDA_CHECK(planned_call(error));
  return cudaSuccess;
}

__global__ void gather(const float* table, int table_size, const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    assert(0 <= index[i] && index[i] < table_size);
    out[i] = table[index[i]];
  }
}

cudaError_t gather_checked(const float* d_table, int table_size, const int* d_index, float* d_out,
                           int n, int block) {
  gather<<<(n + block - 1) / block, block>>>(d_table, table_size, d_index, d_out, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaStreamSynchronize(nullptr));
  return cudaSuccess;
}

bool context_is_lost() {
  cudaGetLastError();
  return cudaFree(nullptr) != cudaSuccess;
}

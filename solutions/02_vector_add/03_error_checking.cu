// 02/03 Error checking: no CUDA error gets lost, and each is reported where it happened.
//   Three kinds of error: returned by the call itself; made by a launch, which returns nothing;
//   made by a running kernel, which a later call returns.
//   TODOs      3
#include <cassert>

#include "03_error_checking.h"

// Evaluates `call` once. On an error: reports it with the text of the call, the file and the line,
// and returns it from the function around. Used like a statement: CUDA_CHECK(cudaFree(p));
//~ #define CUDA_CHECK(call) (void)(call)  // TODO(1): Do what the comment promises.
//~begin 1
#define CUDA_CHECK(call)                                    \
  do {                                                      \
    const cudaError_t error_ = (call);                      \
    if (error_ != cudaSuccess) {                            \
      report_cuda_error(error_, #call, __FILE__, __LINE__); \
      return error_;                                        \
    }                                                       \
  } while (0)
//~end

// Given: one use of the macro, between if and else, where only a single statement compiles, and
// with a variable of a common name.
cudaError_t check_one_call(cudaError_t (*planned_call)(int), int error, bool skip) {
  if (!skip)
    CUDA_CHECK(planned_call(error));
  else
    return cudaErrorNotReady;
  return cudaSuccess;
}

// Given. A kernel returns nothing: an assertion that fails is how it reports a bad index.
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
  //~ // TODO(2): Whatever went wrong, at the launch or in the kernel, is known here (2 lines).
  //~begin 2
  CUDA_CHECK(cudaGetLastError());       // configuration refused: the kernel never started
  CUDA_CHECK(cudaDeviceSynchronize());  // the kernel started and failed
  //~end
  return cudaSuccess;
}

bool context_is_lost() {
  //~ return false;  // TODO(3): True only if no later call can succeed any more (2 lines).
  //~begin 3
  cudaGetLastError();  // forgets the error of a call or a launch; a sticky one comes back
  return cudaDeviceSynchronize() != cudaSuccess;
  //~end
}

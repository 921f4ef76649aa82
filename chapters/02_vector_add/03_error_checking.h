// 02/03 Error checking: what the test calls, and what your macro calls.
#ifndef CHAPTERS_02_VECTOR_ADD_03_ERROR_CHECKING_H_
#define CHAPTERS_02_VECTOR_ADD_03_ERROR_CHECKING_H_

#include <cuda_runtime.h>

// Given (the test implements it): remembers the report and prints it as one line,
// "file:line: call failed: cudaErrorInvalidValue (invalid argument)".
void report_cuda_error(cudaError_t error, const char* call, const char* file, int line);

// Runs planned_call(error) under CUDA_CHECK. skip = true leaves it out: cudaErrorNotReady.
cudaError_t check_one_call(cudaError_t (*planned_call)(int), int error, bool skip);

// out[i] = table[index[i]] for i = 0 .. n - 1, on the device, and waits for it.
//   d_table  table_size floats; d_index  n ints in 0 .. table_size - 1; d_out  n floats; n from 1
//            to 2^30
//   block    threads per block
// Returns, and reports once, the error of the launch or else the error of the kernel. The error of
// a refused launch is not left behind for the next call to find. No error is pending when
// gather_checked is called.
cudaError_t gather_checked(const float* d_table, int table_size, const int* d_index, float* d_out,
                           int n, int block);

// True if an earlier kernel has failed, so that every further call in this process fails as well
// (a sticky error). False if all is well, also after a call or a launch was refused.
bool context_is_lost();

#endif  // CHAPTERS_02_VECTOR_ADD_03_ERROR_CHECKING_H_

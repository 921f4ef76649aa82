// Shared by the programs that tests run: stop with a message when something is not as it should be.
#ifndef WARPLINGS_TESTS_SIMULATOR_PROGRAMS_CHECK_H_
#define WARPLINGS_TESTS_SIMULATOR_PROGRAMS_CHECK_H_

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define CHECK_CUDA(call)                                                                     \
  do {                                                                                       \
    const cudaError_t error_ = (call);                                                       \
    if (error_ != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      std::exit(1);                                                                          \
    }                                                                                        \
  } while (0)

#define CHECK(condition)                                                    \
  do {                                                                      \
    if (!(condition)) {                                                     \
      std::printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                         \
    }                                                                       \
  } while (0)

#endif  // WARPLINGS_TESTS_SIMULATOR_PROGRAMS_CHECK_H_

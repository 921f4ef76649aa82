// 03/10 Unified memory: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_10_UNIFIED_MEMORY_H_
#define CHAPTERS_03_MEMORY_MODEL_10_UNIFIED_MEMORY_H_

#include <cuda_runtime.h>

// Asks, in the default stream, for the pages of managed memory to be moved to `destination`: the
// number of a device, or cudaCpuDeviceId for the host. Returns the error of CUDA, cudaSuccess if
// there is none.
//   p   managed memory of at least `bytes` bytes
cudaError_t prefetch(const void* p, size_t bytes, int destination);

// Functions of the test, called on the host with managed memory of n floats.
using Fill = void (*)(float* x, int n, void* context);
using Use = void (*)(const float* x, int n, void* context);

// Allocates n floats of managed memory, lets fill(x, n, context) write them, squares them on the
// current device, lets use(x, n, context) read them, and frees them. Returns the first error, after
// which neither is called any more.
//   n >= 1
cudaError_t square_managed(int n, Fill fill, Use use, void* context);

#endif  // CHAPTERS_03_MEMORY_MODEL_10_UNIFIED_MEMORY_H_

// An all-reduce for each row of the batch, all in one group.
#include "06_tensor_parallel.h"

cudaError_t scatter_weights(const float* h_a, const float* h_b, const Shape& shape,
                            const Slice* slices, int devices) {
  const int part = shape.hidden / devices;
  cudaError_t error = cudaSuccess;
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    const size_t width = sizeof(float) * part;
    error = cudaMemcpy2DAsync(slices[d].a, width, h_a + d * part, shape.hidden * sizeof(float),
                              width, shape.in, cudaMemcpyHostToDevice, slices[d].stream);
    if (error != cudaSuccess) break;
    const size_t rows = static_cast<size_t>(part) * shape.out;
    error = cudaMemcpyAsync(slices[d].b, h_b + d * rows, rows * sizeof(float),
                            cudaMemcpyHostToDevice, slices[d].stream);
  }
  return error;
}

ncclResult_t forward(const Shape& shape, const Slice* slices, int devices) {
  const int part = shape.hidden / devices;
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    const Slice& s = slices[d];
    cudaSetDevice(d);
    launch_multiply(s.x, s.a, s.h, shape.batch, part, shape.in, true, s.stream);
    launch_multiply(s.h, s.b, s.y, shape.batch, shape.out, part, false, s.stream);
  }
  cudaSetDevice(before);
  if (cudaGetLastError() != cudaSuccess) return ncclUnhandledCudaError;
  // Row by row of the batch in one group: the same bytes, in more calls.
  ncclResult_t result = ncclGroupStart();
  for (int row = 0; row < shape.batch && result == ncclSuccess; ++row) {
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      float* const y = slices[d].y + static_cast<size_t>(row) * shape.out;
      result = ncclAllReduce(y, y, shape.out, ncclFloat, ncclSum, slices[d].comm, slices[d].stream);
    }
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

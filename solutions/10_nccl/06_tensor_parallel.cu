// 10/06 Tensor parallel: every device has a slice of each weight matrix, and all rows of the batch.
//   y = relu(x a) b;  x  batch x in,  a  in x hidden,  b  hidden x out,  row-major
//   Device d has columns [d * part, (d + 1) * part) of a and the rows of b with the same numbers,
//   part = hidden / devices. Its columns of relu(x a) are all that its rows of b are multiplied
//   with.
//   TODOs  3
#include "06_tensor_parallel.h"

cudaError_t scatter_weights(const float* h_a, const float* h_b, const Shape& shape,
                            const Slice* slices, int devices) {
  cudaError_t error = cudaSuccess;
  //~ // TODO(1): Every device has its columns of a, packed, after one copy (about 7 lines).
  //~ static_cast<void>(h_a), static_cast<void>(shape), static_cast<void>(slices);
  //~ static_cast<void>(devices);
  //~begin 1
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    const int part = shape.hidden / devices;
    const size_t width = part * sizeof(float);
    error = cudaMemcpy2DAsync(slices[d].a, width, h_a + d * part, shape.hidden * sizeof(float),
                              width, shape.in, cudaMemcpyHostToDevice, slices[d].stream);
    if (error != cudaSuccess) break;
  }
  //~end
  //~ // TODO(2): Every device has its rows of b, after another copy (about 5 lines).
  //~ static_cast<void>(h_b);
  //~begin 2
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    const size_t rows = static_cast<size_t>(shape.hidden / devices) * shape.out;
    error = cudaMemcpyAsync(slices[d].b, h_b + d * rows, rows * sizeof(float),
                            cudaMemcpyHostToDevice, slices[d].stream);
  }
  //~end
  return error;
}

ncclResult_t forward(const Shape& shape, const Slice* slices, int devices) {
  //~ // TODO(3): h and y of every device, with one call of NCCL per device in all (about 17 lines).
  //~ static_cast<void>(shape), static_cast<void>(slices), static_cast<void>(devices);
  //~ return ncclSuccess;
  //~begin 3
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
  if (cudaGetLastError() != cudaSuccess) return ncclUnhandledCudaError;  // of any launch
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    const size_t count = static_cast<size_t>(shape.batch) * shape.out;
    result = ncclAllReduce(slices[d].y, slices[d].y, count, ncclFloat, ncclSum, slices[d].comm,
                           slices[d].stream);
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
  //~end
}

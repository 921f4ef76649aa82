// 10/06 Tensor parallel: what the test calls, and what is given.
#ifndef CHAPTERS_10_NCCL_06_TENSOR_PARALLEL_H_
#define CHAPTERS_10_NCCL_06_TENSOR_PARALLEL_H_

#include <nccl.h>

// Two layers, y = relu(x a) b. All matrices are row-major floats; batch, in, hidden and out are
// from 1 to 2^19, and no matrix has 2^31 elements.
//   x  batch x in,  a  in x hidden,  b  hidden x out,  y  batch x out
struct Shape {
  int batch, in, hidden, out;
};

// What device d of `devices` has; hidden is a multiple of devices, part = hidden / devices.
struct Slice {
  const float* x;  // batch x in: the whole input, on every device
  float* a;        // in x part: columns [d * part, (d + 1) * part) of a
  float* b;        // part x out: rows [d * part, (d + 1) * part) of b
  float* h;        // batch x part: columns [d * part, (d + 1) * part) of relu(x a)
  float* y;        // batch x out: the whole result, on every device
  ncclComm_t comm;
  cudaStream_t stream;
};

// Given, on the current device: c = a b, with negative elements set to 0 if `clips`.
//   a  m x k,  b  k x n,  c  m x n,  row-major
void launch_multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                     bool clips, cudaStream_t stream);

// Copies the slices of the weights to all devices. h_a: in x hidden, h_b: hidden x out floats in
// host memory, pinned. In the streams of the slices; does not wait. Returns the first error. The
// current device stays what it was.
cudaError_t scatter_weights(const float* h_a, const float* h_b, const Shape& shape,
                            const Slice* slices, int devices);

// y = relu(x a) b on every device. Does not wait. Returns the first result that is no success,
// where a launch that fails is ncclUnhandledCudaError; the current device stays what it was.
ncclResult_t forward(const Shape& shape, const Slice* slices, int devices);

#endif  // CHAPTERS_10_NCCL_06_TENSOR_PARALLEL_H_

// 10/06 Tensor parallel: every device has a slice of each weight matrix, and all rows of the batch.
//   y = relu(x a) b;  x  batch x in,  a  in x hidden,  b  hidden x out,  row-major
//   Device d has columns [d * part, (d + 1) * part) of a and the rows of b with the same numbers,
//   part = hidden / devices. Its columns of relu(x a) are all that its rows of b are multiplied
//   with.
//   TODOs  4
#include "06_tensor_parallel.h"

cudaError_t scatter_weights(const float* h_a, const float* h_b, const Shape& shape,
                            const Slice* slices, int devices) {
  const int part = shape.hidden / devices;
  cudaError_t error = cudaSuccess;
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    //~ // TODO(1): Columns of a: a piece out of every row, packed on the device. One copy (about 4 lines).
    //~ static_cast<void>(h_a);
    //~begin 1
    const size_t width = part * sizeof(float);
    error = cudaMemcpy2DAsync(slices[d].a, width, h_a + d * part, shape.hidden * sizeof(float),
                              width, shape.in, cudaMemcpyHostToDevice, slices[d].stream);
    if (error != cudaSuccess) break;
    //~end
    //~ // TODO(2): Rows of b (about 2 lines).
    //~ static_cast<void>(h_b), static_cast<void>(part);
    //~begin 2
    const size_t rows = static_cast<size_t>(part) * shape.out;
    error = cudaMemcpyAsync(slices[d].b, h_b + d * rows, rows * sizeof(float),
                            cudaMemcpyHostToDevice, slices[d].stream);
    //~end
  }
  return error;
}

constexpr int kTile = 16;  // threads and elements in each direction

// Given: c = a b, with negative elements set to 0 if `clips`. a  m x k, b  k x n, c  m x n,
// row-major.
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k,
                         bool clips) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty, col = blockIdx.x * kTile + tx;
  float sum = 0.0f;
  for (int begin = 0; begin < k; begin += kTile) {
    tile_a[ty][tx] = row < m && begin + tx < k ? a[row * k + begin + tx] : 0.0f;
    tile_b[ty][tx] = begin + ty < k && col < n ? b[(begin + ty) * n + col] : 0.0f;
    __syncthreads();  // both tiles are complete
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();  // nobody reads them any more
  }
  if (row < m && col < n) c[row * n + col] = clips ? fmaxf(sum, 0.0f) : sum;
}

// On the current device.
static void launch_multiply(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                            bool clips, cudaStream_t stream) {
  const dim3 block(kTile, kTile), grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  multiply<<<grid, block, 0, stream>>>(d_a, d_b, d_c, m, n, k, clips);
}

ncclResult_t forward(const Shape& shape, const Slice* slices, int devices) {
  const int part = shape.hidden / devices;
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    const Slice& s = slices[d];
    cudaSetDevice(d);
    //~ // TODO(3): This device's columns of relu(x a), then their product with its rows of b: how many
    //~ // columns and rows do they have (about 3 lines)?
    //~ static_cast<void>(s), static_cast<void>(part), static_cast<void>(&launch_multiply);
    //~begin 3
    launch_multiply(s.x, s.a, s.h, shape.batch, part, shape.in, true, s.stream);
    launch_multiply(s.h, s.b, s.y, shape.batch, shape.out, part, false, s.stream);
    //~end
  }
  cudaSetDevice(before);
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    //~ // TODO(4): Each device has a product over its part of the hidden values. What makes y of them, on
    //~ // every device (about 3 lines)? It is the only call of NCCL in both layers.
    //~begin 4
    const size_t count = static_cast<size_t>(shape.batch) * shape.out;
    result = ncclAllReduce(slices[d].y, slices[d].y, count, ncclFloat, ncclSum, slices[d].comm,
                           slices[d].stream);
    //~end
  }
  const ncclResult_t ended = ncclGroupEnd();
  return result == ncclSuccess ? ended : result;
}

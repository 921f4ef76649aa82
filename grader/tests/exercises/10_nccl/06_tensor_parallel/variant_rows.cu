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
    launch_multiply(s.x, s.a, s.h, shape.batch, part, shape.in, true, s.stream);
    launch_multiply(s.h, s.b, s.y, shape.batch, shape.out, part, false, s.stream);
  }
  cudaSetDevice(before);
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

// Accepted: blocks are packed by copies of rows, leave as they are, in steps of one partner each, and
// are turned by the device that receives them.
#include "10_turned_matrix.h"

namespace {

constexpr int kTile = 16;

// Rows by a loop, columns by the grid in x: any number of both.
__global__ void turn(const float* in, float* out, int width, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int first_col = blockIdx.x * kTile;
  for (int first_row = blockIdx.y * kTile; first_row < rows; first_row += gridDim.y * kTile) {
    const int row = first_row + threadIdx.y, col = first_col + threadIdx.x;
    if (row < rows && col < cols) {
      tile[threadIdx.y][threadIdx.x] = in[static_cast<size_t>(row) * cols + col];
    }
    __syncthreads();
    const int to_col = first_row + threadIdx.x, to_row = first_col + threadIdx.y;
    if (to_col < rows && to_row < cols) {
      out[static_cast<size_t>(to_row) * width + to_col] = tile[threadIdx.x][threadIdx.y];
    }
    __syncthreads();
  }
}

}  // namespace

ncclResult_t turn_matrix(const float* const* d_a, float* const* d_t, float* const* d_space,
                         int rows, int cols, const ncclComm_t* comms, const cudaStream_t* streams,
                         int devices) {
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t error = cudaSuccess;
  const auto first_row = [&](int d) { return first_of(rows, devices, d); };
  const auto first_col = [&](int d) { return first_of(cols, devices, d); };
  const auto row_count = [&](int d) { return share_of(rows, devices, d); };
  const auto col_count = [&](int d) { return share_of(cols, devices, d); };
  const auto packed = [&](int d, int to) {
    return d_space[d] + static_cast<size_t>(row_count(d)) * first_col(to);
  };
  const auto arrived = [&](int d, int from) {
    return d_space[d] + static_cast<size_t>(row_count(d)) * cols +
           static_cast<size_t>(col_count(d)) * first_row(from);
  };
  for (int d = 0; d < devices && error == cudaSuccess; ++d) {
    for (int to = 0; to < devices && error == cudaSuccess; ++to) {
      const size_t width = col_count(to) * sizeof(float);
      if (width == 0 || row_count(d) == 0) continue;
      error = cudaMemcpy2DAsync(to == d ? arrived(d, d) : packed(d, to), width,
                                d_a[d] + first_col(to), cols * sizeof(float), width, row_count(d),
                                cudaMemcpyDeviceToDevice, streams[d]);
    }
  }
  ncclResult_t result = ncclSuccess;
  for (int step = 1; step < devices && result == ncclSuccess; ++step) {
    result = ncclGroupStart();
    for (int d = 0; d < devices && result == ncclSuccess; ++d) {
      const int to = (d + step) % devices, from = (d + devices - step) % devices;
      const size_t out = static_cast<size_t>(row_count(d)) * col_count(to);
      const size_t in = static_cast<size_t>(row_count(from)) * col_count(d);
      result = ncclSend(packed(d, to), out, ncclFloat, to, comms[d], streams[d]);
      if (result != ncclSuccess) break;
      result = ncclRecv(arrived(d, from), in, ncclFloat, from, comms[d], streams[d]);
    }
    const ncclResult_t ended = ncclGroupEnd();
    if (result == ncclSuccess) result = ended;
  }
  for (int d = 0; d < devices; ++d) {
    cudaSetDevice(d);
    for (int from = 0; from < devices; ++from) {
      if (row_count(from) == 0 || col_count(d) == 0) continue;
      const int down = (row_count(from) + kTile - 1) / kTile;
      const dim3 grid((col_count(d) + kTile - 1) / kTile, down < 1024 ? down : 1024);
      turn<<<grid, dim3(kTile, kTile), 0, streams[d]>>>(
          arrived(d, from), d_t[d] + first_row(from), rows, row_count(from), col_count(d));
    }
  }
  if (error == cudaSuccess) error = cudaGetLastError();
  cudaSetDevice(before);
  return result == ncclSuccess && error != cudaSuccess ? ncclUnhandledCudaError : result;
}

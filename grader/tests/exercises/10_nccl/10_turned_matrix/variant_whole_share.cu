// Accepted: each device turns its whole share by one launch, so that the rows for each device lie side
// by side; what arrives is put into its place by a kernel.
#include "10_turned_matrix.h"

namespace {

constexpr int kTile = 32, kRows = 4, kThreads = 256;

__global__ void turn_share(const float* a, float* out, int rows, int cols) {
  __shared__ float tile[kTile][kTile + 1];
  const int tiles_down = (rows + kTile - 1) / kTile;
  const int first_row = blockIdx.x % tiles_down * kTile, first_col = blockIdx.x / tiles_down * kTile;
  for (int r = threadIdx.y; r < kTile; r += kRows) {
    const int row = first_row + r, col = first_col + threadIdx.x;
    if (row < rows && col < cols) {
      tile[r][threadIdx.x] = a[static_cast<size_t>(row) * cols + col];
    }
  }
  __syncthreads();
  for (int c = threadIdx.y; c < kTile; c += kRows) {
    const int row = first_row + threadIdx.x, col = first_col + c;
    if (row < rows && col < cols) {
      out[static_cast<size_t>(col) * rows + row] = tile[threadIdx.x][c];
    }
  }
}

__global__ void place(const float* block, int width, float* t, int rows, int count) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) t[static_cast<size_t>(i / width) * rows + i % width] = block[i];
}

}  // namespace

ncclResult_t turn_matrix(const float* const* d_a, float* const* d_t, float* const* d_space,
                         int rows, int cols, const ncclComm_t* comms, const cudaStream_t* streams,
                         int devices) {
  int before = 0;
  cudaGetDevice(&before);
  for (int d = 0; d < devices; ++d) {
    const int own = share_of(rows, devices, d);
    const int tiles = ((own + kTile - 1) / kTile) * ((cols + kTile - 1) / kTile);
    if (tiles == 0) continue;
    cudaSetDevice(d);
    turn_share<<<tiles, dim3(kTile, kRows), 0, streams[d]>>>(d_a[d], d_space[d], own, cols);
  }
  ncclResult_t result = ncclGroupStart();
  for (int d = 0; d < devices && result == ncclSuccess; ++d) {
    const size_t own_rows = share_of(rows, devices, d), own_cols = share_of(cols, devices, d);
    for (int peer = 0; peer < devices && result == ncclSuccess; ++peer) {
      if (peer == d) continue;
      result = ncclSend(d_space[d] + own_rows * first_of(cols, devices, peer),
                        own_rows * share_of(cols, devices, peer), ncclFloat, peer, comms[d],
                        streams[d]);
      if (result != ncclSuccess) break;
      result = ncclRecv(d_space[d] + own_rows * cols + own_cols * first_of(rows, devices, peer),
                        own_cols * share_of(rows, devices, peer), ncclFloat, peer, comms[d],
                        streams[d]);
    }
  }
  const ncclResult_t ended = ncclGroupEnd();
  if (result == ncclSuccess) result = ended;
  for (int d = 0; d < devices; ++d) {
    const size_t own_rows = share_of(rows, devices, d), own_cols = share_of(cols, devices, d);
    cudaSetDevice(d);
    for (int from = 0; from < devices; ++from) {
      const int width = share_of(rows, devices, from), first = first_of(rows, devices, from);
      const int count = static_cast<int>(width * own_cols);
      if (count == 0) continue;
      const float* block = from == d ? d_space[d] + own_rows * first_of(cols, devices, d)
                                     : d_space[d] + own_rows * cols + own_cols * first;
      place<<<(count + kThreads - 1) / kThreads, kThreads, 0, streams[d]>>>(
          block, width, d_t[d] + first, rows, count);
    }
  }
  const cudaError_t error = cudaGetLastError();
  cudaSetDevice(before);
  return result == ncclSuccess && error != cudaSuccess ? ncclUnhandledCudaError : result;
}

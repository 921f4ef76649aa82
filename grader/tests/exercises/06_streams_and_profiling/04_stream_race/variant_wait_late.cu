// Accepted: each wait stands where the memory was used, for the piece that comes next.
#include <algorithm>

#include "04_stream_race.h"

__global__ void signed_square_strided(const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = x[i] < 0.0f ? -(x[i] * x[i]) : x[i] * x[i];
  }
}

cudaError_t signed_squares_streamed(const float* x, float* d_y, int n, const Lane lanes[2],
                                    int length, cudaStream_t copy, cudaStream_t compute) {
  const int pieces = (n + length - 1) / length;
  for (int piece = 0; piece < pieces; ++piece) {
    const Lane& lane = lanes[piece & 1];
    const int first = piece * length, here = std::min(length, n - first);
    std::copy_n(x + first, here, lane.h_x);
    cudaMemcpyAsync(lane.d_x, lane.h_x, here * sizeof(float), cudaMemcpyHostToDevice, copy);
    cudaEventRecord(lane.copied, copy);
    cudaStreamWaitEvent(compute, lane.copied, 0);
    signed_square_strided<<<4, 64, 0, compute>>>(lane.d_x, d_y + first, here);
    cudaEventRecord(lane.computed, compute);
    if (piece + 1 < pieces && piece >= 1) {
      const Lane& next = lanes[(piece + 1) & 1];
      cudaEventSynchronize(next.copied);
      cudaStreamWaitEvent(copy, next.computed, 0);
    }
  }
  return cudaGetLastError();
}

// 06/04 Stream race (fix the bug): an array goes to the device through two lanes in turn.
//   x         n floats in pageable host memory;  y  n floats in device memory: y = x |x|
//   lanes     two of everything: pinned staging memory, device memory, events (04_stream_race.h)
//   Every piece passes: host fills staging -> stream `copy` -> stream `compute`. The arrows are
//   there. The two that lead back, from the user of a lane to whoever fills it next, are missing.
//   Whether the result is right is then a matter of microseconds.
//   TODOs     2
#include <algorithm>

#include "04_stream_race.h"

// Given. One thread per element.
__global__ void signed_square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = x[i] * fabsf(x[i]);
  }
}

cudaError_t signed_squares_streamed(const float* x, float* d_y, int n, const Lane lanes[2],
                                    int length, cudaStream_t copy, cudaStream_t compute) {
  constexpr int kBlock = 128;  // threads
  for (int first = 0, piece = 0; first < n; first += length, ++piece) {
    const Lane& lane = lanes[piece % 2];
    const int here = std::min(length, n - first);

    // TODO(1): Who may still be reading lane.h_x here? Wait for that, and for no more (1 line).
    for (int i = 0; i < here; ++i) {
      lane.h_x[i] = x[first + i];
    }

    // TODO(2): Who may still be reading lane.d_x here? The host need not wait (1 line).
    cudaMemcpyAsync(lane.d_x, lane.h_x, here * sizeof(float), cudaMemcpyHostToDevice, copy);
    cudaEventRecord(lane.copied, copy);

    cudaStreamWaitEvent(compute, lane.copied, 0);
    signed_square<<<(here + kBlock - 1) / kBlock, kBlock, 0, compute>>>(lane.d_x, d_y + first,
                                                                        here);
    cudaEventRecord(lane.computed, compute);
  }
  return cudaGetLastError();
}

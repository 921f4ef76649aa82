// 06/04 Stream race (fix the bug): an array goes to the device through two lanes in turn.
//   x         n floats in pageable host memory;  y  n floats in device memory: y = x |x|
//   lanes     two of everything: pinned staging memory, device memory, events (04_stream_race.h)
//   Every piece passes: host fills staging -> stream `copy` -> stream `compute`. The calls are all
//   there, and nothing keeps them in order: the lane's two events are neither recorded nor waited
//   for. Whether the result is right is then a matter of microseconds.
//   TODOs     2
#include <algorithm>

#include "04_stream_race.h"

cudaError_t signed_squares_streamed(const float* x, float* d_y, int n, const Lane lanes[2],
                                    int length, cudaStream_t copy, cudaStream_t compute) {
  cudaError_t error = cudaSuccess;
  for (int first = 0, piece = 0; first < n && error == cudaSuccess; first += length, ++piece) {
    const Lane& lane = lanes[piece % 2];
    const int here = std::min(length, n - first);

    // TODO(1): lane.h_x is refilled only when nobody reads it any more. One wait of the host for
    // each piece is enough.
    for (int i = 0; i < here; ++i) {
      lane.h_x[i] = x[first + i];
    }

    // TODO(2): The kernel reads lane.d_x when its piece is there, and the copy overwrites it when
    // the kernel before has read it.
    cudaMemcpyAsync(lane.d_x, lane.h_x, here * sizeof(float), cudaMemcpyHostToDevice, copy);

    error = launch_signed_square(lane.d_x, d_y + first, here, compute);
  }
  return error == cudaSuccess ? cudaGetLastError() : error;  // of any call above
}

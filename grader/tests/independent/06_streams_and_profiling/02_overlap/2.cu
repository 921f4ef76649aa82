// pieces of another size (at least 32768 floats, an eighth of n), queued from the last to the first
#include <algorithm>

#include "02_overlap.h"

static int piece_length(int n) {
  if (n <= 1 << 16) return n;
  return std::max(n / 8, 1 << 15);
}

cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n,
                              int terms, const cudaStream_t* streams, int count) {
  const int length = piece_length(n);
  cudaError_t error = cudaSuccess;
  const int pieces = (n - 1) / length + 1;
  for (int piece = pieces - 1; piece >= 0 && error == cudaSuccess; --piece) {
    const long long first = static_cast<long long>(piece) * length;
    const cudaStream_t stream = streams[piece % count];
    const int here = static_cast<int>(std::min<long long>(length, n - first));
    const size_t bytes = here * sizeof(float);
    error = cudaMemcpyAsync(d_x + first, h_x + first, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = launch_geometric_series(d_x + first, d_y + first, here, terms, stream);
    if (error == cudaSuccess) {
      error = cudaMemcpyAsync(h_y + first, d_y + first, bytes, cudaMemcpyDeviceToHost, stream);
    }
  }
  return error;
}

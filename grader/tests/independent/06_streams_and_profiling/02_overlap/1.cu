// At most eight pieces of at least 65,536
#include <algorithm>
#include "02_overlap.h"
static int piece_length(int n) { return std::max(65536, std::min((n + 7) / 8, 1 << 22)); }
cudaError_t series_overlapped(const float* h_x, float* h_y, float* d_x, float* d_y, int n, int terms, const cudaStream_t* streams, int count) {
  const int length = piece_length(n);
  cudaError_t error = cudaSuccess;
  int p = 0;
  for (long long first = 0; first < n && error == cudaSuccess; first += length, ++p) {
    const int here = (int)std::min<long long>(length, n - first);
    const cudaStream_t s = streams[p % count];
    error = cudaMemcpyAsync(d_x + first, h_x + first, here * sizeof(float), cudaMemcpyHostToDevice, s);
    if (error == cudaSuccess) error = launch_geometric_series(d_x + first, d_y + first, here, terms, s);
    if (error == cudaSuccess) error = cudaMemcpyAsync(h_y + first, d_y + first, here * sizeof(float), cudaMemcpyDeviceToHost, s);
  }
  return error;
}

// Accepted: the arrivals are written first, and a lambda is the host function.
#include <algorithm>
#include <numeric>

#include "05_host_callback.h"

cudaError_t enqueue_download(const float* d_x, float* h_x, int n, int length, Arrival* arrivals,
                             Report* report, cudaStream_t stream) {
  const int pieces = n / length + (n % length != 0);
  for (int piece = 0; piece < pieces; ++piece) {
    const int first = piece * length;
    arrivals[piece] = Arrival{h_x + first, std::min(length, n - first), report};
  }
  const cudaHostFn_t add = [](void* data) {
    const auto* arrival = static_cast<Arrival*>(data);
    const double sum = std::accumulate(arrival->h_x, arrival->h_x + arrival->length, 0.0);
    arrival->report->sum += sum;
    arrival->report->pieces.fetch_add(1);
  };
  for (int piece = 0; piece < pieces; ++piece) {
    const size_t bytes = arrivals[piece].length * sizeof(float);
    cudaMemcpyAsync(h_x + piece * length, d_x + piece * length, bytes, cudaMemcpyDefault, stream);
    cudaLaunchHostFunc(stream, add, arrivals + piece);
  }
  return cudaGetLastError();
}

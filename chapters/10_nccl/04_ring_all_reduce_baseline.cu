// 10/04 Ring all-reduce: the addition, and an all-reduce whose traffic all goes through device 0.
#include "04_ring_all_reduce.h"

// 16 bytes per thread and array; the last n % 4 elements by the first threads.
__global__ void add(float* sum, const float* x, size_t n) {
  const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
  if (i < n / 4) {
    float4 a = reinterpret_cast<float4*>(sum)[i];
    const float4 b = reinterpret_cast<const float4*>(x)[i];
    a.x += b.x, a.y += b.y, a.z += b.z, a.w += b.w;
    reinterpret_cast<float4*>(sum)[i] = a;
  }
  if (i < n % 4) sum[n - 1 - i] += x[n - 1 - i];
}

void launch_add(float* d_sum, const float* d_x, size_t n, cudaStream_t stream) {
  constexpr size_t kBlock = 256;  // threads
  const size_t threads = n / 4 + (n % 4 == 0 ? 0 : 3);
  const unsigned grid = static_cast<unsigned>((threads + kBlock - 1) / kBlock);
  if (grid > 0) add<<<grid, kBlock, 0, stream>>>(d_sum, d_x, n);
}

ncclResult_t star_all_reduce(float* const* d_x, float* d_space, size_t n, const ncclComm_t* comms,
                             const cudaStream_t* streams, int devices) {
  for (int d = 1; d < devices; ++d) {
    ncclGroupStart();
    ncclSend(d_x[d], n, ncclFloat, 0, comms[d], streams[d]);
    ncclRecv(d_space, n, ncclFloat, d, comms[0], streams[0]);
    const ncclResult_t result = ncclGroupEnd();
    if (result != ncclSuccess) return result;
    launch_add(d_x[0], d_space, n, streams[0]);
  }
  ncclGroupStart();
  for (int d = 1; d < devices; ++d) {
    ncclSend(d_x[0], n, ncclFloat, d, comms[0], streams[0]);
    ncclRecv(d_x[d], n, ncclFloat, 0, comms[d], streams[d]);
  }
  return ncclGroupEnd();
}

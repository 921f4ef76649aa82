// 03/12 Occupancy limits: what is given. A card as the runtime describes it, and two kernels to
// count.
#include "12_occupancy_limits.h"

// Three numbers the runtime does not tell. The unit of shared memory is 128 bytes from compute
// capability 8.0 on and 256 before; the other two are the same from 7.0 on.
Card card_of_device(int device) {
  const auto ask = [device](cudaDeviceAttr attribute) {
    int value = 0;
    cudaDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  Card card;
  card.multiprocessors = ask(cudaDevAttrMultiProcessorCount);
  card.blocks = ask(cudaDevAttrMaxBlocksPerMultiprocessor);
  card.threads = ask(cudaDevAttrMaxThreadsPerMultiProcessor);
  card.registers = ask(cudaDevAttrMaxRegistersPerMultiprocessor);
  card.shared_bytes = ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  card.shared_reserved = ask(cudaDevAttrReservedSharedMemoryPerBlock);
  card.quarters = 4;
  card.register_unit = 256;
  card.shared_unit = ask(cudaDevAttrComputeCapabilityMajor) >= 8 ? 128 : 256;
  return card;
}

__global__ void negate(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= -1.0f; }

__global__ void reverse_in_shared(float* x, int n) {
  __shared__ float values[3200];  // 12,800 bytes
  for (int i = threadIdx.x; i < n; i += blockDim.x) values[i] = x[i];
  __syncthreads();  // values is filled before it is read the other way round
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = values[n - 1 - i];
}

const void* light_kernel() { return reinterpret_cast<const void*>(negate); }
const void* staged_kernel() { return reinterpret_cast<const void*>(reverse_in_shared); }

// 03/11 Memory probe: how many bytes per second does each level of memory deliver?
//   A probe shows one level only if its accesses end there: none may be served by a faster level,
//   none may need a slower one. The size of what it reads decides that, and the order of reading.
//   Afterwards look at the picture: the test says where it is.
//   TODOs  3
#include "11_memory_probe.h"

// x is divided into one chunk per block.
__global__ void read_in_passes(const float4* x, size_t n, int passes, float* sums) {
  //~ // TODO(1): In each pass all blocks together read every element once, whole sectors at a time,
  //~ // and no block finds in its L1 what it wants next. Each thread leaves the sum of all components
  //~ // that it has read in its place of sums (about 10 lines).
  //~begin 1
  float sum = 0.0f;
  const size_t chunk = n / gridDim.x;
  for (int p = 0; p < passes; ++p) {
    // Another chunk in each pass: this one was read by another multiprocessor, so it is in L2 and
    // not in the L1 of this one.
    const float4* mine = x + (blockIdx.x + p) % gridDim.x * chunk;
#pragma unroll 8  // loads in flight
    for (size_t i = threadIdx.x; i < chunk; i += blockDim.x) {
      const float4 v = mine[i];
      sum += v.x + v.y + v.z + v.w;
    }
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;  // or the compiler would leave out the loads
  //~end
}

__global__ void read_shared(int rounds, float* sums) {
  //~ // TODO(2): The tile holds what 11_memory_probe.h says, and `rounds` elements of it are read by
  //~ // each thread. The compiler loads only what is used, so all four components go into the sum
  //~ // (about 10 lines).
  //~ sums[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(rounds);
  //~begin 2
  __shared__ float4 tile[kTile];
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = make_float4(i, 0, 0, 0);
  __syncthreads();  // the tile is filled before other threads read it
  float4 sum = make_float4(0, 0, 0, 0);
#pragma unroll 8
  for (int r = 0; r < rounds; ++r) {
    const float4 v = tile[(threadIdx.x + 32 * r) % kTile];
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
  //~end
}

void launch_read(const float4* d_x, size_t n, int passes, int blocks, float* d_sums) {
  read_in_passes<<<blocks, kThreads>>>(d_x, n, passes, d_sums);
}

void launch_shared(int rounds, int blocks, float* d_sums) {
  read_shared<<<blocks, kThreads>>>(rounds, d_sums);
}

//~ // TODO(3): One working set stays in L2 on any card, the other never does (about 7 lines).
//~ size_t l2_working_set(int device) { return device * 0; }
//~ size_t global_working_set(int device) { return device * 0; }
//~begin 3
static size_t l2_bytes(int device) {
  int bytes = 0;
  cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
  return bytes;
}

size_t l2_working_set(int device) { return l2_bytes(device) / 2; }
size_t global_working_set(int device) { return l2_bytes(device) * 4; }
//~end

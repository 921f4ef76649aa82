// Another right answer: walks through the chunks with a pointer, other sizes of the working sets.
#include "11_memory_probe.h"

// x is divided into one chunk per block.
__global__ void read_in_passes(const float4* x, size_t n, int passes, float* sums) {
  const size_t chunk = n / gridDim.x;
  float sum = 0.0f;
  unsigned place = blockIdx.x;
  for (int p = 0; p < passes; ++p, ++place) {
    if (place == gridDim.x) place = 0;
    const float4* const end = x + (place + 1) * chunk;
    for (const float4* at = x + place * chunk + threadIdx.x; at < end; at += blockDim.x) {
      sum += at->x + at->y + at->z + at->w;
    }
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;  // or the compiler would leave out the loads
}

__global__ void read_shared(int rounds, float* sums) {
  __shared__ float4 tile[kTile];
  for (int i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = make_float4(i, 0, 0, 0);
  __syncthreads();  // the tile is filled before other threads read it
  float4 sum = make_float4(0, 0, 0, 0);
  int i = threadIdx.x;
  for (int r = 0; r < rounds; ++r) {
    sum.x += tile[i].x, sum.y += tile[i].y, sum.z += tile[i].z, sum.w += tile[i].w;
    i += 32;
    if (i >= kTile) i -= kTile;
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum.x + sum.y + sum.z + sum.w;
}

void launch_read(const float4* d_x, size_t n, int passes, int blocks, float* d_sums) {
  read_in_passes<<<blocks, kThreads>>>(d_x, n, passes, d_sums);
}

void launch_shared(int rounds, int blocks, float* d_sums) {
  read_shared<<<blocks, kThreads>>>(rounds, d_sums);
}

static int l2_bytes(int device) {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  return properties.l2CacheSize;
}

size_t l2_working_set(int device) { return size_t(l2_bytes(device)) / 8 * 3; }
size_t global_working_set(int device) { return size_t{5} * l2_bytes(device); }

// 03/11 Memory probe: how many bytes per second does each level of memory deliver?
//   A probe shows one level only if its accesses end there: none may be served by a faster level,
//   none may need a slower one. The size of what it reads decides that, and the order of reading.
//   Afterwards look at the picture: the test says where it is.
//   TODOs  3
#include "11_memory_probe.h"

// x is divided into one chunk per block.
__global__ void read_in_passes(const float4* x, size_t n, int passes, float* sums) {
  // TODO(1): In each pass all blocks together read every element once, whole sectors at a time,
  // and no block finds in its L1 what it wants next. Each thread leaves the sum of all components
  // that it has read in its place of sums (about 10 lines).
}

__global__ void read_shared(int rounds, float* sums) {
  // TODO(2): The tile holds what 11_memory_probe.h says, and `rounds` elements of it are read by
  // each thread. The compiler loads only what is used, so all four components go into the sum
  // (about 10 lines).
  sums[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(rounds);
}

void launch_read(const float4* d_x, size_t n, int passes, int blocks, float* d_sums) {
  read_in_passes<<<blocks, kThreads>>>(d_x, n, passes, d_sums);
}

void launch_shared(int rounds, int blocks, float* d_sums) {
  read_shared<<<blocks, kThreads>>>(rounds, d_sums);
}

// TODO(3): One working set stays in L2 on any card, the other never does (about 7 lines).
size_t l2_working_set(int device) { return device * 0; }
size_t global_working_set(int device) { return device * 0; }

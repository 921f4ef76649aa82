// 04/07 Compact: keep what is greater than 0, without gaps, and count it.
//   x, kept   n floats in device memory; count: one int. The order of what is kept is free.
//   With an atomic per element, 32 lanes queue for one counter. Here a warp asks once for as many
//   places as it needs. Three warp operations (chapter 05) make that possible:
//     __ballot_sync(kAllLanes, b)   a word whose bit l is set if b is true in lane l
//     __popc(word)                  the number of bits that are set
//     __shfl_sync(kAllLanes, v, l)  the value of v in lane l, for every lane
//   kAllLanes is 0xFFFFFFFF: all 32 lanes must come to the first and the last.
//   TODOs     2
#include "07_compact.h"

__global__ void compact_per_warp(const float* x, float* kept, int* count, int n) {
  //~ // TODO(1): Every value that is greater than 0 has a place of its own in kept, the places have no
  //~ // gap, and a warp asks *count for all of its places at once, if it needs any (about 14 lines).
  //~begin 1
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float value = i < n ? x[i] : 0.0f;  // lanes past the end stay and keep nothing
  const bool keeps = value > 0.0f;

  constexpr unsigned kAllLanes = 0xFFFFFFFFu;  // bit l names lane l
  const int lane = threadIdx.x % 32;
  const unsigned keepers = __ballot_sync(kAllLanes, keeps);
  int base = 0;  // first of this warp's places in kept
  if (lane == 0 && keepers != 0) {
    base = atomicAdd(count, __popc(keepers));
  }
  base = __shfl_sync(kAllLanes, base, 0);
  const int rank = __popc(keepers & ((1u << lane) - 1));  // the mask has the bits below `lane`
  if (keeps) {
    kept[base + rank] = value;
  }
  //~end
}

void launch_compact(const float* d_x, float* d_kept, int* d_count, int n) {
  //~ // TODO(2): The count begins at 0 in every call, every element has a lane, and every warp has 32
  //~ // of them (about 4 lines).
  //~begin 2
  cudaMemset(d_count, 0, sizeof(int));
  constexpr int kBlock = 256;  // threads: whole warps, so that every mask above names real lanes
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) compact_per_warp<<<grid, kBlock>>>(d_x, d_kept, d_count, n);
  //~end
}

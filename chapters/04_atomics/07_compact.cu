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
  // TODO(1): Every value that is greater than 0 has a place of its own in kept, the places have no
  // gap, and a warp asks *count for all of its places at once, if it needs any (about 14 lines).
}

void launch_compact(const float* d_x, float* d_kept, int* d_count, int n) {
  // TODO(2): The count begins at 0 in every call, every element has a lane, and every warp has 32
  // of them (about 4 lines).
}

// Another right answer: verdicts from the mask alone, and a grid of warps.
#include "04_ballot_vote.h"

// Bits of the elements of the group that exist; 1 <= length.
__device__ unsigned bits_that_exist(int length) {
  return length >= 32 ? 0xffffffffu : (1u << length) - 1;
}

__global__ void judge_by_mask(const float* x, float threshold, unsigned* masks, int* counts,
                              int* verdicts, int n) {
  const int begin = blockIdx.x * 32;
  const int i = begin + threadIdx.x;
  const unsigned mask = __ballot_sync(0xffffffffu, i < n && x[i] > threshold);
  if (threadIdx.x != 31) return;
  const int count = __popc(mask);
  masks[blockIdx.x] = mask;
  counts[blockIdx.x] = count;
  verdicts[blockIdx.x] = mask == bits_that_exist(n - begin) ? kAll : count == 0 ? kNone : kSome;
}

__global__ void partition_by_mask(const float* x, float threshold, float* out, int n) {
  const int begin = blockIdx.x * 32;
  const int lane = threadIdx.x;
  const float value = begin + lane < n ? x[begin + lane] : 0.0f;
  const unsigned exist = bits_that_exist(n - begin);
  const unsigned chosen = __ballot_sync(0xffffffffu, value > threshold) & exist;
  const unsigned mine = chosen >> lane & 1 ? chosen : exist & ~chosen;  // lanes of the own kind
  const int first = mine == chosen ? 0 : __popc(chosen);
  if (begin + lane < n) out[begin + first + __popc(mine & ((1u << lane) - 1))] = value;
}

void launch_judge_groups(const float* d_x, float threshold, unsigned* d_masks, int* d_counts,
                         int* d_verdicts, int n) {
  if (n > 0) {
    judge_by_mask<<<(n + 31) / 32, 32>>>(d_x, threshold, d_masks, d_counts, d_verdicts, n);
  }
}

void launch_partition_groups(const float* d_x, float threshold, float* d_out, int n) {
  if (n > 0) partition_by_mask<<<(n + 31) / 32, 32>>>(d_x, threshold, d_out, n);
}

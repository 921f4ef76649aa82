// 05/04 Ballot and vote: a warp asks its 32 lanes a yes-or-no question in one instruction.
//   x         n floats in device memory, n >= 0; group g, elements 32 g ..., belongs to one warp
//   chosen    greater than `threshold`; lanes past the end of x are asked too and must not matter
//   TODOs     3
#include "04_ballot_vote.h"

inline constexpr unsigned kAllLanes = 0xffffffffu;
inline constexpr int kBlock = 256;  // threads

__global__ void judge_groups(const float* x, float threshold, unsigned* masks, int* counts,
                             int* verdicts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32;
  const bool exists = i < n;
  const bool chosen = exists && x[i] > threshold;
  //~ // TODO(1): The mask has the answers of all lanes, and count says how many are yes (2 lines).
  //~ const unsigned mask = chosen;
  //~ const int count = chosen;
  //~begin 1
  const unsigned mask = __ballot_sync(kAllLanes, chosen);
  const int count = __popc(mask);
  //~end
  //~ // TODO(2): kAll, kNone or kSome of the elements that exist (about 3 lines).
  //~ const int verdict = chosen ? kAll : kNone;
  //~begin 2
  const bool all = __all_sync(kAllLanes, chosen || !exists);  // who is not there has no say
  const bool any = __any_sync(kAllLanes, chosen);
  const int verdict = all ? kAll : any ? kSome : kNone;
  //~end
  if (exists && lane == 0) {  // lane 0 of a group without elements does not exist
    masks[i / 32] = mask;
    counts[i / 32] = count;
    verdicts[i / 32] = verdict;
  }
}

__global__ void partition_groups(const float* x, float threshold, float* out, int n) {
  //~ // TODO(3): Each group of 32 has its chosen elements first, in order, then the others, in order;
  //~ // every lane finds its place by itself (about 11 lines).
  //~begin 3
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % 32;
  const bool exists = i < n;
  const bool chosen = exists && x[i] > threshold;
  const unsigned mask = __ballot_sync(kAllLanes, chosen);
  const unsigned below = (1u << lane) - 1;  // the lanes before this one
  const int chosen_before = __popc(mask & below);
  const int others_before = lane - chosen_before;
  const int place = chosen ? chosen_before : __popc(mask) + others_before;
  if (exists) out[i / 32 * 32 + place] = x[i];
  //~end
}

void launch_judge_groups(const float* d_x, float threshold, unsigned* d_masks, int* d_counts,
                         int* d_verdicts, int n) {
  //~ // Still TODO(1): A lane for every element of every group, also of the last (about 4 lines).
  //~begin 1
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) {
    judge_groups<<<grid, kBlock>>>(d_x, threshold, d_masks, d_counts, d_verdicts, n);
  }
  //~end
}

void launch_partition_groups(const float* d_x, float threshold, float* d_out, int n) {
  //~ // Still TODO(3): The same (about 2 lines).
  //~begin 3
  const int grid = (n + kBlock - 1) / kBlock;
  if (grid > 0) partition_groups<<<grid, kBlock>>>(d_x, threshold, d_out, n);
  //~end
}

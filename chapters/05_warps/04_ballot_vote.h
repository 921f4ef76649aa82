// 05/04 Ballot and vote: what the test calls.
#ifndef CHAPTERS_05_WARPS_04_BALLOT_VOTE_H_
#define CHAPTERS_05_WARPS_04_BALLOT_VOTE_H_

// Elements 32 g to 32 g + 31 of x are group g; the last group may be shorter.
// An element is chosen if it is greater than `threshold`; a NaN is not.
//   d_x       n floats in device memory, n from 0 to 2^30
enum Verdict : int { kNone = 0, kSome = 1, kAll = 2 };

// For each of the (n + 31) / 32 groups:
//   masks     bit l is set if element l of the group exists and is chosen
//   counts    how many of its elements are chosen
//   verdicts  kAll if every element that exists is chosen, kNone if none is, else kSome
void launch_judge_groups(const float* d_x, float threshold, unsigned* d_masks, int* d_counts,
                         int* d_verdicts, int n);

// out: each group with its chosen elements first, then the others, both in the order of x.
//   d_out     n floats
void launch_partition_groups(const float* d_x, float threshold, float* d_out, int n);

#endif  // CHAPTERS_05_WARPS_04_BALLOT_VOTE_H_

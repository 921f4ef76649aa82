// 03/08 Spilled array: 32 classifiers vote on the label of each pixel; the majority wins.
//   votes    kVotes x n labels (0 to 7) in device memory, row-major
//   winners  n labels; of several with as many votes, the smallest
//   A thread counts the votes for its pixel in a small array. Registers have no addresses: an array
//   that is indexed by data lies in local memory, which is a private piece of global memory.
//   The starter is right, and slow for that reason.
//   TODOs    1
#include "08_spilled_array.h"

constexpr int kBlock = 256;  // threads

__global__ void majority(const unsigned char* votes, unsigned char* winners, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  int count[kLabels] = {};
  // TODO(1): Index count only with what the compiler knows: for each vote, go over all labels
  // in an unrolled loop and add 1 where the label is the one voted for (about 6 lines).
  for (int v = 0; v < kVotes; ++v) ++count[votes[static_cast<size_t>(v) * n + i]];
  int best = 0, most = count[0];
#pragma unroll
  for (int k = 1; k < kLabels; ++k) {
    if (count[k] > most) {
      most = count[k];
      best = k;
    }
  }
  winners[i] = best;
}

void launch_majority(const unsigned char* d_votes, unsigned char* d_winners, int n) {
  if (n > 0) majority<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_votes, d_winners, n);
}

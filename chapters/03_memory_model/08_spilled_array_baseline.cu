// 03/08 Spilled array: what the exercise is timed against, counts in local memory.
#include "08_spilled_array.h"

namespace {

constexpr int kBlock = 256;  // threads

__global__ void majority_spilled(const unsigned char* votes, unsigned char* winners, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i >= n) return;
  int count[kLabels] = {};  // indexed by data: has addresses, so it lies in memory
  for (int v = 0; v < kVotes; ++v) ++count[votes[static_cast<size_t>(v) * n + i]];
  int best = 0;
  for (int k = 1; k < kLabels; ++k) {
    if (count[k] > count[best]) best = k;
  }
  winners[i] = best;
}

}  // namespace

void launch_majority_spilled(const unsigned char* d_votes, unsigned char* d_winners, int n) {
  majority_spilled<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_votes, d_winners, n);
}

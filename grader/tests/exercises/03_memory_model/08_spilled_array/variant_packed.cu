// Another right answer: the eight counts are bytes of one 64-bit register. A shift takes its
// distance from a register, so the index may be data.
#include "08_spilled_array.h"

__global__ void majority_packed(const unsigned char* votes, unsigned char* winners, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long counts = 0;  // label k in bits 8 k to 8 k + 7; 32 votes fit
#pragma unroll 8
  for (int v = 0; v < kVotes; ++v) {
    counts += 1ull << (8 * votes[static_cast<size_t>(v) * n + i]);
  }
  int best = 0, most = -1;
  for (int k = 0; k < kLabels; ++k) {
    const int count = static_cast<int>(counts >> (8 * k) & 255);
    if (count > most) {
      most = count;
      best = k;
    }
  }
  winners[i] = static_cast<unsigned char>(best);
}

void launch_majority(const unsigned char* d_votes, unsigned char* d_winners, int n) {
  if (n > 0) majority_packed<<<(n + 127) / 128, 128>>>(d_votes, d_winners, n);
}

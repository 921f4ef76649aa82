// 03/08 Spilled array: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_
#define CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_

constexpr int kVotes = 32;  // per pixel
constexpr int kLabels = 8;  // 0 to 7

// winners[i] = the label that most of votes[0][i] ... votes[31][i] name; of several with as many
// votes, the smallest.
//   d_votes     kVotes x n labels in device memory, row-major, each from 0 to 7
//   d_winners   n labels in device memory;   n >= 0
void launch_majority(const unsigned char* d_votes, unsigned char* d_winners, int n);

// The same with the counts in local memory (08_spilled_array_baseline.cu); n >= 1.
void launch_majority_spilled(const unsigned char* d_votes, unsigned char* d_winners, int n);

#endif  // CHAPTERS_03_MEMORY_MODEL_08_SPILLED_ARRAY_H_

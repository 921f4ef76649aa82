// 04/08 Find the race: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_08_FIND_THE_RACE_H_
#define CHAPTERS_04_ATOMICS_08_FIND_THE_RACE_H_

constexpr int kTile = 128;  // elements, and threads per block

// Two threads touch the same word, one of them writes, nothing orders them. What goes wrong?
enum class Hazard {
  kUnanswered,
  kReadTooEarly,   // a thread may read before another has written what it needs
  kWriteTooEarly,  // a thread may overwrite what another has still to read
  kLostUpdate,     // both load, both change, both store: one of the changes is gone
};

// x is cut into tiles of kTile elements, the last of which may be shorter. n >= 0; all arrays are
// in device memory.

// Each tile backwards, in its place.
void launch_reverse_tiles(const int* d_x, int* d_out, int n);
Hazard hazard_of_reverse_tiles();

// out[i] = x[i] + its mirror image in the tile. At most max_blocks blocks, max_blocks >= 1.
void launch_add_mirrored(const int* d_x, int* d_out, int n, int max_blocks);
Hazard hazard_of_add_mirrored();

// d_sums[c] = sum of column c of x, rows x cols, row-major; rows, cols >= 1.
void launch_add_columns(const int* d_x, int* d_sums, int rows, int cols);
Hazard hazard_of_add_columns();

#endif  // CHAPTERS_04_ATOMICS_08_FIND_THE_RACE_H_

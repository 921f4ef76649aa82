// 04/12 Hand over: what the test calls.
#ifndef CHAPTERS_04_ATOMICS_12_HAND_OVER_H_
#define CHAPTERS_04_ATOMICS_12_HAND_OVER_H_

constexpr int kTile = 256;         // readings
constexpr int kSlots = 4;          // tiles that a ring holds
constexpr int kMostChannels = 16;  // so that all blocks of the launch run at the same time

// What the two blocks of a channel share, in global memory. Tile k lies in slot k % kSlots.
struct Ring {
  float slot[kSlots][kTile];
  unsigned filled;   // how many tiles the first block has put into the ring
  unsigned emptied;  // how many of them the second block has done with
};

// y[c][i] = smoothed(clipped x of channel c, i), in one launch of two blocks for each channel: the
// first clips and fills its ring, the second smooths what it finds there (12_hand_over_support.h).
// When all is done, filled and emptied hold the number of tiles of a channel, and the slots the
// clipped readings that were handed over last; what no reading has reached may hold anything.
//   d_x, d_y   channels x n floats in device memory; the last tile of a channel may be shorter
//   d_rings    one for each channel; hold nothing of use before the call
//   0 <= channels <= kMostChannels, 0 <= n <= 2^20
void launch_hand_over(const float* d_x, float* d_y, Ring* d_rings, int channels, int n);

#endif  // CHAPTERS_04_ATOMICS_12_HAND_OVER_H_

// Given for 12/09: which values a block has, and what it hands on.
#ifndef CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_SUPPORT_H_
#define CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_SUPPORT_H_

#include <algorithm>
#include <cstddef>

constexpr int kThreads = 256;
constexpr int kWarp = 32;
constexpr int kMostParts = kWarp;  // of the batch: one for each lane
constexpr int kPartValues = 1024;  // of a channel: for fewer a part is not worth a block

// What a part of a channel sums up to. scratch is c x kMostParts of them.
struct Sums {
  float first, second;  // forward: mean, squared distances from it; backward: dy, dy xhat
};

// The part of block (channel, part): `count` values; value e lies at place(e) of x.
struct Part {
  int channel, channels, hw, begin, count;  // begin: its first image
  __device__ Part(int n, int c, int hw_) : channel(blockIdx.x), channels(c), hw(hw_) {
    begin = first_image(blockIdx.y, n);
    count = (first_image(blockIdx.y + 1, n) - begin) * hw;
  }
  // The grid of every kernel here is channels x parts.
  __device__ static int first_image(int part, int n) {
    return static_cast<int>(static_cast<long long>(n) * part / gridDim.y);
  }
  __device__ size_t place(unsigned e) const {  // unsigned numbers are divided in fewer steps
    const unsigned image = e / static_cast<unsigned>(hw);
    return (static_cast<size_t>(begin + image) * channels + channel) * hw + (e - image * hw);
  }
};

// The sums of the part that this lane stands for: zeros if there is none.
inline __device__ Sums part_of_lane(const Sums* scratch, int channel) {
  const int lane = threadIdx.x % kWarp;
  return lane < gridDim.y ? scratch[channel * kMostParts + lane] : Sums{0.0f, 0.0f};
}

inline dim3 grid_of(int n, int c, int hw) {
  const long long parts = static_cast<long long>(n) * hw / kPartValues;
  return dim3(c, static_cast<unsigned>(std::max(1LL, std::min<long long>(parts, kMostParts))));
}

#endif  // CHAPTERS_12_MNIST_CNN_09_BATCH_NORM_SUPPORT_H_

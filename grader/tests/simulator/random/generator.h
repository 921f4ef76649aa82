// A source of random numbers that is the same on every machine.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_GENERATOR_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_GENERATOR_H_

#include <cstddef>
#include <cstdint>

namespace warplings::sim::random {

// SplitMix64.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}
  uint64_t bits() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  uint32_t below(size_t limit) { return static_cast<uint32_t>((bits() >> 32) % limit); }
  bool chance(uint32_t percent) { return below(100) < percent; }

 private:
  uint64_t state_;
};

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_GENERATOR_H_

// The words of a generator in the order in which cuRAND hands them out: parallel subsequences,
// dealt like cards.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CURAND_SEQUENCE_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CURAND_SEQUENCE_H_

#include <array>
#include <cstdint>
#include <vector>

namespace warplings::libraries {

// Word `at` of XORWOW's subsequence `lane`; 2^67 words lie between the starts of two of them.
class Xorwow {
 public:
  static constexpr uint64_t kLanes = 4096;

  explicit Xorwow(uint64_t seed);
  uint32_t word(uint64_t lane, uint64_t at);

 private:
  struct Lane {
    std::array<uint32_t, 5> start{}, v{};
    uint64_t next = 0;  // the word that comes next
  };
  void rewind(Lane& lane, uint64_t at);

  uint32_t d_ = 0;           // the counter at the start of every subsequence
  std::vector<Lane> lanes_;  // as many as have been asked for
};

// Word `at` of Philox's subsequence `lane`.
uint32_t philox_word(uint64_t seed, uint64_t lane, uint64_t at);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CURAND_SEQUENCE_H_

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

// MRG32k3a (P. L'Ecuyer, Good parameters and implementations for combined multiple recursive random
// number generators, 1999): two recurrences of three terms each, and their difference. 2^76 values
// lie between the starts of two subsequences.
class Mrg32k3a {
 public:
  using Terms = std::array<uint64_t, 3>;  // the last three, the newest last

  explicit Mrg32k3a(uint64_t seed);
  // Value `at` of subsequence `lane`: 1 to 4294967087.
  uint64_t value(uint64_t lane, uint64_t at);

 private:
  struct Lane {
    Terms start_a{}, start_b{}, a{}, b{};
    uint64_t next = 0;  // the value that comes next
  };

  std::vector<Lane> lanes_;  // as many as have been asked for
};

// Point `index` of dimension `dimension`, from 0, of Sobol's sequence in the order of Gray's code.
// Direction numbers: S. Joe and F. Y. Kuo, Constructing Sobol sequences with better two-dimensional
// projections (2008).
constexpr unsigned kSobolDimensions = 21;
uint32_t sobol_word(unsigned dimension, uint64_t index);

// Word `at` of Philox's subsequence `lane`.
uint32_t philox_word(uint64_t seed, uint64_t lane, uint64_t at);

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CURAND_SEQUENCE_H_

// Hashes of the outputs of random kernels as a machine gave them, in a JSON file.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_RECORDED_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_RECORDED_H_

#include <cstdint>
#include <string>
#include <vector>

namespace warplings::sim::random {

struct Recorded {
  std::string machine;  // "NVIDIA H200, driver 580.95"
  std::string date;     // of the run
  uint64_t first_seed = 1;
  uint64_t kernels = 0;  // hash of all kernel texts: whether the generator is still the same
  std::vector<uint64_t> hashes;
  std::vector<uint64_t> unoptimised;  // seeds whose hash is of code that was not optimised
};

// Throws std::runtime_error with the file's name.
Recorded read_recorded(const std::string& path);
void write_recorded(const std::string& path, const Recorded& recorded);

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_RECORDED_H_

// Which unwritten bytes of a copy look like the padding of structures.
#ifndef WARPLINGS_SIMULATOR_CHECKS_PADDING_H_
#define WARPLINGS_SIMULATOR_CHECKS_PADDING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warplings::sim {

struct ByteRun {
  uint64_t start = 0;  // address
  uint64_t size = 0;
};

// Per run: could it be padding of an array of structures? Only if it returns at the same offset
// with a constant stride, is shorter than the alignment that it fills up to, and each stride has
// room for an aligned member of that alignment. A column of a matrix that nobody writes may look
// the same, so this is a guess. `runs` are in ascending order.
std::vector<bool> padding_like(const std::vector<ByteRun>& runs);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_PADDING_H_

// Texture sampling as the CUDA C++ Programming Guide defines it ("Texture Fetching").
#ifndef WARPLINGS_SIMULATOR_EXEC_SAMPLING_H_
#define WARPLINGS_SIMULATOR_EXEC_SAMPLING_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "decode/image_op.h"
#include "memory/image.h"

namespace warplings::sim {

// Four channels as the result registers hold them: bits of an f32, or integers. A channel that the
// format does not have is 0, the fourth 1.
struct Texel {
  std::array<uint32_t, 4> bits{};
  bool undefined = false;  // bytes that nothing has written were read
  // The texels that it was made of.
  std::array<uint64_t, 8> addresses{};
  size_t n_addresses = 0;
};

struct Position3 {
  std::array<double, 3> at{};      // as given: normalised or in texels
  std::array<int64_t, 3> index{};  // integer coordinates instead
  bool is_integer = false;
  int64_t layer = 0;
};

Texel sample(const Texture& texture, Geometry geometry, const Position3& where);
// tld4: one channel of the four texels that a linear filter would mix, in the order of the PTX ISA.
Texel gather(const Texture& texture, Geometry geometry, const Position3& where, int component);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_SAMPLING_H_

#include "memory/tensor_map.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace warplings::sim {

uint64_t TensorMap::sum() const {
  const auto* bytes = reinterpret_cast<const uint8_t*>(this);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < offsetof(TensorMap, check); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3ull;
  }
  return hash;
}

// A row that is shorter than the pattern takes the pattern's whole width.
uint32_t TensorMap::pitch() const {
  const uint32_t width =
      swizzle == TensorSwizzle::kNone || unit != 0 ? 0 : 16u << static_cast<int>(swizzle);
  return std::max(row_bytes(), width);
}

uint32_t TensorMap::rows() const {
  if (im2col) return pixels;
  uint32_t rows = 1;
  for (size_t d = 1; d < dimensions; ++d) rows *= taken(d);
  return rows;
}

// The number of the 16-byte chunk in its 32, 64 or 128 bytes is combined with that of the 128 bytes
// that hold it.
uint32_t TensorMap::swizzled(uint32_t offset) const {
  if (swizzle == TensorSwizzle::kNone) return offset;
  const uint32_t chunks = (1u << static_cast<int>(swizzle)) - 1;  // 1, 3, 7
  return offset ^ ((offset >> 7 & chunks) << 4);
}

}  // namespace warplings::sim

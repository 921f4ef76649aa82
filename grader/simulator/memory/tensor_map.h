// A tensor map (CUtensorMap): 128 bytes that say how a tensor lies in global memory and which box
// of it a copy takes. The layout is our own, as the hardware's is its own.
#ifndef WARPLINGS_SIMULATOR_MEMORY_TENSOR_MAP_H_
#define WARPLINGS_SIMULATOR_MEMORY_TENSOR_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace warplings::sim {

enum class TensorSwizzle : uint8_t { kNone, k32, k64, k128 };

struct TensorMap {
  static constexpr uint32_t kMagic = 0x54574d31;
  static constexpr uint32_t kBytes = 128;
  uint32_t magic = 0;
  uint8_t type = 0;           // CUtensorMapDataType
  uint8_t element_bytes = 0;  // 1, 2, 4 or 8
  uint8_t dimensions = 0;
  TensorSwizzle swizzle = TensorSwizzle::kNone;
  uint8_t fills_nan = 0;
  bool im2col = false;  // a column of pixels instead of a box: box[0] channels of each
  uint16_t pixels = 0;
  // Interleaved: a slice of the channels, of 16 or 32 bytes, is one element of dimension 0, and the
  // last dimension but one counts slices. 0: the channels of a pixel lie together.
  uint8_t unit = 0;
  std::array<uint8_t, 5> steps{};    // elements from one that is taken to the next
  std::array<uint16_t, 5> box{};     // elements that the box spans
  std::array<uint32_t, 5> extent{};  // less 1
  std::array<uint64_t, 5> stride{};  // bytes; [0] is an element, or a unit
  // im2col: where the walk over w, h and d begins and ends, from the tensor's first and last
  // element.
  std::array<int16_t, 3> lower{}, upper{};
  uint64_t address = 0;
  uint64_t check = 0;  // over all of the above

  uint64_t sum() const;
  bool is_whole() const { return magic == kMagic && check == sum(); }
  // Elements that a copy takes along a dimension.
  uint32_t taken(size_t d) const {
    if (unit != 0 && d + 2 == dimensions) return 1;  // a slice
    return (box[d] + steps[d] - 1u) / steps[d];
  }
  uint32_t row_bytes() const {
    return im2col && unit != 0 ? unit : taken(0) * static_cast<uint32_t>(stride[0]);
  }
  // im2col: w, h and d as far as there are.
  size_t first_spatial() const { return unit != 0 ? 0 : 1; }
  size_t spatial() const { return dimensions - 2u; }
  int64_t last_pixel(size_t d) const { return int64_t{extent[d]} + upper[d - first_spatial()]; }
  // From one row in shared memory to the next.
  uint32_t pitch() const;
  uint32_t rows() const;
  uint32_t bytes() const { return row_bytes() * rows(); }  // that an mbarrier is told
  // Where byte `offset` of shared memory lies once it is swizzled.
  uint32_t swizzled(uint32_t offset) const;
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_MEMORY_TENSOR_MAP_H_

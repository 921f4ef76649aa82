// What a tensor copy takes: the box or the column of pixels that a tensor map describes, at some
// coordinates.
#ifndef WARPLINGS_SIMULATOR_EXEC_TENSOR_BOX_H_
#define WARPLINGS_SIMULATOR_EXEC_TENSOR_BOX_H_

#include <array>
#include <cstdint>
#include <vector>

#include "exec/bulk_copy.h"
#include "memory/tensor_map.h"

namespace warplings::sim {

struct TensorPlace {
  std::array<int32_t, 5> at{};
  std::array<uint16_t, 3> offset{};  // im2col: added to w, h and d
};

// Row by row, in the order of shared memory, with offsets from its start; global 0: outside of the
// tensor.
std::vector<BulkPiece> tensor_box(const TensorMap& map, const TensorPlace& place);

// The same pieces where the swizzle puts them: in chunks of 16 bytes.
std::vector<BulkPiece> place_box(const TensorMap& map, uint32_t base,
                                 const std::vector<BulkPiece>& pieces);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_TENSOR_BOX_H_

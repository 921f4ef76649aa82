// The operands of one instruction of the asynchronous proxy: more than an Instr has room for.
#ifndef WARPLINGS_SIMULATOR_DECODE_BULK_H_
#define WARPLINGS_SIMULATOR_DECODE_BULK_H_

#include <array>
#include <cstdint>

#include "core/instruction.h"

namespace warplings::sim {

enum class BulkOp : uint8_t { kCopy, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };
enum class BulkType : uint8_t { kU32, kS32, kU64, kS64, kF16, kBF16, kF32, kF64 };

// What tensormap.replace changes, in the order in which decode_tensormap() names it.
enum class MapField : uint8_t {
  kAddress,
  kRank,
  kBox,
  kExtent,
  kStride,
  kStep,
  kType,
  kSwizzle,
  kFill,
};

struct BulkAddress {
  Place base = kNoPlace;
  int64_t offset = 0;
  bool is_32bit = false;
  Space space = Space::kGeneric;
};

struct BulkForm {
  enum class Way : uint8_t {
    kGlobalToShared,
    kSharedToGlobal,
    kSharedToCluster,  // of another block
    kPrefetch,
    kRegisters,  // st.async, red.async
  };
  Way way = Way::kGlobalToShared;
  int dimensions = 0;   // of a tensor copy; 0: bytes in a row
  bool im2col = false;  // a column of pixels instead of a box
  bool multicast = false;
  BulkOp op = BulkOp::kCopy;
  BulkType type = BulkType::kU32;
  BulkAddress shared;  // the destination, or the source of what goes to global memory
  BulkAddress source;  // in shared memory, of kSharedToCluster
  BulkAddress global;  // or the tensor map
  BulkAddress barrier;
  Place size = kNoPlace;
  Place blocks = kNoPlace;  // multicast: a mask of ranks
  std::array<Place, 5> coordinates{kNoPlace, kNoPlace, kNoPlace, kNoPlace, kNoPlace};
  std::array<Place, 3> offsets{kNoPlace, kNoPlace, kNoPlace};  // im2col: added to w, h and d
  // kRegisters
  std::array<Place, 4> values{kNoPlace, kNoPlace, kNoPlace, kNoPlace};
  uint8_t count = 1;  // of them
  uint8_t bytes = 4;  // of each
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_BULK_H_

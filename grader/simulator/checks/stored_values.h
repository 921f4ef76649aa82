// The values of a plain store. One rule for writes that race: a write of what memory holds already
// is worth a note, any other one is a failure.
#ifndef WARPLINGS_SIMULATOR_CHECKS_STORED_VALUES_H_
#define WARPLINGS_SIMULATOR_CHECKS_STORED_VALUES_H_

#include <cstdint>

#include "core/instruction.h"
#include "core/request.h"

namespace warplings::sim {

class Warp;

class StoredValues {
 public:
  // `shared`: shared memory, null for global memory.
  StoredValues(const Warp& warp, const Instr& in, const Request& request, const uint8_t* shared)
      : warp_(warp), in_(in), request_(request), shared_(shared) {}
  // Of the word at `word`, whether these bytes (a mask) are what the lane stores there already.
  bool unchanged(uint32_t lane, uint64_t word, uint8_t bytes) const;

 private:
  const Warp& warp_;
  const Instr& in_;
  const Request& request_;
  const uint8_t* shared_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_STORED_VALUES_H_

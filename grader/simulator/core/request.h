// One memory request of a warp: the addresses of its lanes, and what they have in common.
#ifndef WARPLINGS_SIMULATOR_CORE_REQUEST_H_
#define WARPLINGS_SIMULATOR_CORE_REQUEST_H_

#include <cstdint>

#include "core/instruction.h"

namespace warplings::sim {

struct Request {
  uint64_t address[32];
  uint32_t mask = 0;
  uint32_t bytes = 0;       // per lane
  uint64_t low = 0;         // lowest address
  uint64_t high = 0;        // one past the last byte
  bool contiguous = false;  // lane i at low + i * bytes, all 32 active
  bool write = false;
  bool atomic = false;
  bool repeats = false;  // another lane of the instruction stores the same there
  // Bytes that each lane stores, `values_stride` apart; null: those of the operands.
  const uint8_t* values = nullptr;
  uint32_t values_stride = 0;
};

// Which state space a generic address lies in.
inline Space space_of(uint64_t address) {
  if (address - kSharedWindow < kWindowSize) return Space::kShared;
  if (address - kLocalWindow < kWindowSize) return Space::kLocal;
  if (address - kParamWindow < kWindowSize) return Space::kParamEntry;
  return Space::kGlobal;
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_REQUEST_H_

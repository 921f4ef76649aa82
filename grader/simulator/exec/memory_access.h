// One memory request of a warp: the addresses of its lanes, and what they have in common.
#ifndef WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_
#define WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_

#include <cstdint>

#include "exec/warp.h"

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
  // Bytes that each lane stores, `values_stride` apart; null: those of the operands.
  const uint8_t* values = nullptr;
  uint32_t values_stride = 0;
};

// Bytes of the lanes, checked: stops the launch with a finding where an access is not allowed.
// Returns the mask of lanes that may go on: a lane in a red zone is reported and left out of
// stores.
uint32_t check_global(Warp& warp, const Instr& in, const Request& request);
void check_shared(Warp& warp, const Instr& in, const Request& request);

void count_global(Warp& warp, const Request& request, Traffic traffic);
void count_shared(Warp& warp, const Request& request, Traffic traffic);
void count_local(Warp& warp, const Request& request, Traffic traffic);
void count_atomic(Warp& warp, const Instr& in, const Request& request, Traffic traffic);

// Where the bytes of a request to local memory lie, from `base` on: the words of the 32 lanes are
// interleaved. A request of more than 4 bytes per lane goes on in the following lines.
Request local_as_stored(const Request& request, uint64_t base);

// Which state space a generic address lies in.
inline Space space_of(uint64_t address) {
  if (address - kSharedWindow < kWindowSize) return Space::kShared;
  if (address - kLocalWindow < kWindowSize) return Space::kLocal;
  if (address - kParamWindow < kWindowSize) return Space::kParamEntry;
  return Space::kGlobal;
}

// Racecheck of one shared-memory request, before it happens; reports what it finds.
void race_shared(Warp& warp, const Instr& in, const Request& request);

// The same for global memory.
void race_global(Warp& warp, const Instr& in, const Request& request);
// What a strong load or store means for the order of threads, after it has happened.
void order_strong(Warp& warp, const Instr& in, const Request& request, bool shared);

// The same as race_shared for the shared-memory side of a cp.async, whose write begins here.
void race_async_copy(Warp& warp, const Request& request);
// An mbarrier in use: compared with plain accesses before it, such as its initialisation.
void race_sync_object(Warp& warp, const Request& request);

// Its initialisation, a plain write; `same`: every thread gives the object the same value.
void race_object_init(Warp& warp, const Request& request, bool same);

// Local memory grows to hold `bytes` per lane.
inline constexpr uint64_t kMostLocal = 512 * 1024;  // bytes per thread, on every architecture
void ensure_local(Warp& warp, uint32_t bytes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_

// What the engine counts for each instruction. Meaning as in Nsight Compute: a request is one
// warp-level access, a sector 32 bytes, a wavefront one pass through shared memory.
#ifndef WARPLINGS_SIMULATOR_CORE_COUNTERS_H_
#define WARPLINGS_SIMULATOR_CORE_COUNTERS_H_

#include <cstdint>

namespace warplings::sim {

enum class Traffic : uint8_t {
  kNone,
  kGlobalLoad,
  kGlobalStore,
  kSharedLoad,
  kSharedStore,
  kLocalLoad,
  kLocalStore,
  kGlobalAtomic,
  kSharedAtomic,
};

// What one instruction did. Meaning of the memory fields depends on `traffic`.
struct PcCounters {
  uint64_t issued = 0;        // warp instructions
  uint64_t lanes = 0;         // sum of active lanes
  uint64_t requests = 0;      // memory: warp-level accesses
  uint64_t requests_16 = 0;   // of these with 16 bytes per lane
  uint64_t transactions = 0;  // sectors (global, local) or wavefronts (shared)
  uint64_t excess = 0;        // bank conflicts; same-address steps of atomics; divergent branches
  uint64_t operations = 0;    // atomics: after those of a warp on one address are added up
  uint64_t bytes = 0;         // asked for by the lanes
  uint64_t unique_bytes = 0;  // distinct, per request
  Traffic traffic = Traffic::kNone;
};

PcCounters difference(const PcCounters& after, const PcCounters& before);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_COUNTERS_H_

// The way of a memory request through the engine: checked, counted.
#ifndef WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_
#define WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_

#include <cstdint>

#include "core/request.h"
#include "exec/events.h"
#include "exec/warp.h"

namespace warplings::sim {

// Bytes of the lanes, checked: stops the launch with a finding where an access is not allowed.
// Returns the mask of lanes that may go on: a lane in a red zone is reported and left out of
// stores.
uint32_t check_global(Warp& warp, const Instr& in, const Request& request);
void check_shared(Warp& warp, const Instr& in, const Request& request);
// ... in the shared memory of another block of the cluster.
void check_shared(Warp& warp, const Instr& in, const Request& request, const Block& home);

void check_local(Warp& warp, const Request& request);
void check_parameters(Warp& warp, const Request& request);

void count_global(Warp& warp, const Request& request, Traffic traffic);
void count_shared(Warp& warp, const Request& request, Traffic traffic);
void count_local(Warp& warp, const Request& request, Traffic traffic);
void count_atomic(Warp& warp, const Instr& in, const Request& request, Traffic traffic);

// Where the bytes of a request to local memory lie, from `base` on: the words of the 32 lanes are
// interleaved. A request of more than 4 bytes per lane goes on in the following lines.
Request local_as_stored(const Request& request, uint64_t base);

// Local memory grows to hold `bytes` per lane.
inline constexpr uint64_t kMostLocal = 512 * 1024;  // bytes per thread, on every architecture
void ensure_local(Warp& warp, uint32_t bytes);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_MEMORY_ACCESS_H_

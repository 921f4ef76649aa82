// Runs one warp until it waits, ends or has used its turn.
#ifndef WARPLINGS_SIMULATOR_EXEC_INTERPRETER_H_
#define WARPLINGS_SIMULATOR_EXEC_INTERPRETER_H_

#include <cstdint>

#include "exec/warp.h"

namespace warplings::sim {

class DeviceLaunches;

// State that all warps of a launch share.
class Grid {
 public:
  const Kernel* kernel = nullptr;
  const LaunchConfig* config = nullptr;
  const LoadedModule* module = nullptr;
  uint64_t instructions = 0;      // warp instructions issued so far
  uint64_t max_instructions = 0;  // budget, until the next block ends
  uint64_t ended_blocks = 0;
  bool is_long = false;                       // the budget ends although blocks end
  DeviceLaunches* device_launches = nullptr;  // what its threads launch
  Watch<GridWatch> watch;
  bool silent = false;   // a repeated run: what it prints has been printed
  uint64_t changes = 0;  // of memory that a spinning thread may be waiting for
};

enum class WarpState {
  kRunnable,  // its turn is over
  kWaiting,   // every group waits for a barrier
  kDone,      // all lanes have exited
};

// Memory that another thread may wait for has changed.
inline void note_change(Warp& warp) { ++warp.block->grid->changes; }

// At most `turn` warp instructions. Throws LaunchFault.
WarpState run_warp(Warp& warp, uint64_t turn);

// Block barriers (exec/barrier.cpp).
void arrive_at_barrier(Warp& warp, Group& group, const Instr& in, uint32_t mask);
// Releases the barriers that are complete; true if any group was released.
bool release_barriers(Block& block);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_INTERPRETER_H_

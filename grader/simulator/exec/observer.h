// Whoever watches a launch instruction by instruction: the model of a card, the text debugger.
// Nothing of it runs unless engine_options().observer is set.
#ifndef WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_
#define WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_

#include <cstdint>

#include "exec/memory_access.h"
#include "exec/warp.h"

namespace warplings::sim {

class LaunchObserver {
 public:
  virtual ~LaunchObserver() = default;
  virtual void launch_started(const Kernel& kernel, const LaunchConfig& config) = 0;
  virtual void launch_ended() = 0;  // also after a fault
  // Chooses what to see of the block: sets Warp::watch_instructions and Warp::watch_requests, which
  // are null before.
  virtual void block_started(Block& block) = 0;
  virtual void block_ended(Block& block) = 0;
  // Before an instruction: `active` lanes will execute it, possibly none.
  virtual void instruction(Warp& warp, const Instr& in, uint32_t active) = 0;
  // A request of the instruction, before it is carried out. `transactions`: 32-byte sectors, or
  // wavefronts of shared memory.
  virtual void request(Warp& warp, const Request& request, Traffic traffic,
                       uint32_t transactions) = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_

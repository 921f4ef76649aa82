// Whoever watches a launch instruction by instruction: the model of a card, the text debugger.
// Nothing of it runs unless engine_options().observer is set.
#ifndef WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_
#define WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_

#include <cstdint>

#include "exec/memory_access.h"
#include "exec/warp.h"

namespace warplings::sim {

// What happens to an mbarrier, or goes on in the background of a warp.
struct PipelineEvent {
  enum class Kind : uint8_t {
    kBegins,         // an mbarrier is initialised
    kArrives,        // lanes arrive at it, or say that bytes have come
    kArrivesBehind,  // the same once their cp.async have ended
    kBrings,         // a lane starts a copy whose bytes it counts
    kMisses,         // lanes ask for a phase that has not ended
    kPasses,         // lanes ask for a phase that has
    kTakes,          // a lane starts a copy out of shared memory
    kWasTaken,       // its bytes have left shared memory
    kMultiplies,     // a wgmma begins, told to the first warp of the warpgroup
    kHasMultiplied,  // the warp has waited for all wgmma up to `number`
  };
  Kind kind = Kind::kArrives;
  uint32_t lanes = 0;
  const Block* home = nullptr;     // of the mbarrier
  uint32_t offset = 0;             // of the mbarrier in its shared memory
  uint32_t number = 0;             // of the phase, kNoPhase: the one before the first; of the wgmma
  uint32_t group = 0;              // wgmma: how many were committed before
  uint32_t shared = 0, bytes = 0;  // of a copy
};
inline constexpr uint32_t kNoPhase = ~0u;

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
  // Of the warps whose watch_instructions is this, during the instruction that they are at.
  virtual void pipeline(Warp&, const PipelineEvent&) {}
};

inline void tell(Warp& warp, const PipelineEvent& event) {
  if (warp.watch_instructions != nullptr) warp.watch_instructions->pipeline(warp, event);
}

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_OBSERVER_H_

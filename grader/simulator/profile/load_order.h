// The assembler turns short branches into predicates and moves loads forward, so that several are
// under way before the first result is needed. The model of a multiprocessor issues in order, so
// recorded instructions are put into such an order first.
#ifndef WARPLINGS_SIMULATOR_PROFILE_LOAD_ORDER_H_
#define WARPLINGS_SIMULATOR_PROFILE_LOAD_ORDER_H_

#include <cstdint>
#include <vector>

#include "decode/instruction_class.h"
#include "profile/recorder.h"

namespace warplings::sim {

class LoadOrder {
 public:
  // For code that was given this many registers of 32 bits for each thread.
  LoadOrder(const LoadedModule& module, const ModuleSchedule& schedule, int registers);

  // The instructions of every block, loads first as far as registers and the order of memory
  // accesses allow, without the branches that became predicates.
  WarpTrace apply(const WarpTrace& trace) const;

 private:
  static constexpr uint32_t kDropped = ~uint32_t{0};

  std::vector<uint32_t> block_end_;  // by pc: of its block
  std::vector<uint32_t> place_;      // by pc: in the order of its block; kDropped
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_LOAD_ORDER_H_

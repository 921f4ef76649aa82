// The assembler moves loads forward, so that several are under way before the first result is
// needed. The model of a multiprocessor issues in order, so recorded instructions are put into such
// an order first.
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

  // The instructions of every basic block that was executed whole, loads first as far as registers
  // and the order of memory accesses allow.
  WarpTrace apply(const WarpTrace& trace) const;

 private:
  struct BasicBlock {
    uint32_t first = 0, end = 0;  // pc
    std::vector<uint32_t> order;  // pcs; empty: as they are
  };
  std::vector<BasicBlock> blocks_;
  std::vector<int32_t> block_at_;  // by pc: index of the block that begins there, -1
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_LOAD_ORDER_H_

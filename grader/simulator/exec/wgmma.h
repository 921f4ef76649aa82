// What a warp has asked its tensor cores to do in the background (wgmma).
//
// A wgmma begins when all four warps of a warpgroup have come to it. It is computed there and then,
// and its registers are marked: whoever reads a sum before the warp has waited for it, or writes a
// register of A that may still be read, is reported (checks/explain_wgmma.cpp). A copy from
// register to register hands the mark on: the compiler writes such copies between two wgmma, and
// the assembler makes one register of both.
#ifndef WARPLINGS_SIMULATOR_EXEC_WGMMA_H_
#define WARPLINGS_SIMULATOR_EXEC_WGMMA_H_

#include <array>
#include <cstdint>
#include <vector>

#include "core/instruction.h"
#include "decode/wgmma.h"

namespace warplings::sim {

class Warp;

struct WgmmaState {
  // Of a register slot.
  struct Mark {
    uint32_t number = 0;   // of the wgmma that writes it, or reads it as part of A; 0: none
    uint32_t pc = 0;       // of that wgmma
    uint32_t written = 0;  // by another instruction after so many fences; 0: never, or by a copy
    uint16_t shape = 0;    // of that wgmma
    bool is_sum = false;   // else it is part of A
  };
  bool watches = false;   // registers are marked
  uint32_t issued = 0;    // wgmma so far
  uint32_t complete = 0;  // how many of them the warp has waited for
  uint32_t fences = 1;
  bool fenced = false;           // by any wgmma.fence
  std::vector<uint32_t> groups;  // committed and not waited for: `issued` at each commit
  uint32_t registers = 0;        // setmaxnreg: of a thread; 0: as the kernel was launched

  Mark& mark(uint32_t slot) {
    if (slot >= marks_.size()) marks_.resize(slot + 64);
    return marks_[slot];
  }
  bool in_flight(const Mark& mark) const { return mark.number > complete; }
  void reset(bool watch) {
    *this = WgmmaState{};
    watches = watch;
  }

 private:
  std::vector<Mark> marks_;
};

// Before an instruction of a warp that watches: reads and writes of marked registers.
void watch_registers(Warp& warp, const Instr& in);

// The warp has come to a wgmma.mma_async or setmaxnreg with all its lanes. If the other warps of
// its warpgroup stand there too, it is done, and all of them go on. False: it waits.
bool meet_warpgroup(Warp& warp);
// The product itself (exec/handlers_wgmma.cpp): every warp stands at the instruction.
void run_wgmma(const std::array<Warp*, kWarpgroup>& warps, const Instr& in);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_WGMMA_H_

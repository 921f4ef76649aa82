// Findings of wgmma and setmaxnreg in learner words.
#include "checks/words.h"
#include "decode/handlers.h"
#include "exec/reports.h"

namespace warplings::sim {

void report_register_in_flight(const Warp& warp, uint32_t pc, bool is_sum) {
  if (repeated(warp, Report::kRegisterInFlight, pc)) return;
  Finding finding = make(warp, "racecheck", "wgmma-in-flight", warp.pc);
  finding.other = warp.module->position_of(pc).user;
  const std::string begun = "the wgmma " + at(warp, pc);
  finding.message =
      "In " + kernel_name(warp) + ", " + thread_name(warp, 0) +
      (is_sum ? " reads a sum " + at(warp, warp.pc) + " to which " + begun + " may still add. "
              : " writes a register " + at(warp, warp.pc) + " from which " + begun +
                    " may still read its part of A. ") +
      "The tensor cores work in the background: close the group (wgmma.commit_group) and wait for "
      "it (wgmma.wait_group) before other instructions touch its registers.";
  FindingLog::instance().report(std::move(finding));
}

void report_missing_wgmma_fence(const Warp& warp) {
  if (repeated(warp, Report::kWgmmaFence, 0)) return;
  Finding finding = make(warp, "synccheck", "missing-wgmma-fence", warp.pc);
  finding.message =
      "In " + kernel_name(warp) + ", the wgmma " + at(warp, warp.pc) +
      " uses registers, and no wgmma.fence stands between it and the instructions that used them "
      "before (" +
      thread_name(warp, 0) +
      " is one that should have passed it). All warps of a "
      "warpgroup execute wgmma.fence before their first wgmma, and again after other instructions "
      "have touched the sums or the part of A in registers.";
  FindingLog::instance().report(std::move(finding));
}

void report_partial_warpgroup(const Warp& warp) {
  Finding finding = make(warp, "synccheck", "partial-warpgroup", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", " + thread_name(warp, 0) +
                    " comes to a wgmma or setmaxnreg " + at(warp, warp.pc) +
                    ", but its warpgroup has fewer than four warps. Warps 0 to 3 of a block are a "
                    "warpgroup, 4 to 7 are the next: start 128 threads for each.";
  FindingLog::instance().report(std::move(finding));
}

void report_stuck_warpgroup(const Warp& warp, uint32_t pc, const std::string& places) {
  const bool registers = warp.module->code[pc].fn == handler_setmaxnreg();
  Finding finding =
      make(warp, "synccheck", registers ? "register-budget" : "partial-warpgroup", pc);
  finding.message = "In " + kernel_name(warp) + ", block " + number(warp.block->linear) +
                    " can never go on: " + places + ". ";
  finding.message +=
      registers
          ? "setmaxnreg.inc waits until other warpgroups of the block have given back so many "
            "registers (setmaxnreg.dec): the registers of all threads together cannot be more "
            "than those that the block was launched with."
          : "A wgmma begins when all four warps of a warpgroup have come to it: it must not "
            "stand in a branch that only some of them take, nor behind a return of some.";
  FindingLog::instance().report(std::move(finding));
}

void report_descriptor(const Warp& warp, DescriptorProblem problem, uint32_t offset) {
  const bool outside = problem == DescriptorProblem::kOutside;
  Finding finding = make(warp, outside ? "memcheck" : "synccheck", "wgmma-descriptor", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", the wgmma " + at(warp, warp.pc);
  if (outside) {
    finding.message += " reads 16 bytes of shared memory from byte " + number(offset) +
                       " on, but the block has " + bytes_text(warp.block->shared.size()) +
                       ". A descriptor holds the address, the leading and the stride offset in "
                       "units of 16 bytes: which of them leads outside?";
  } else {
    finding.message += " gets another descriptor or another predicate from some threads (" +
                       thread_name(warp, 0) +
                       " is in a warp that differs). All 128 threads of a warpgroup give the same: "
                       "compute them from the number of the warpgroup, not of the warp or lane.";
  }
  FindingLog::instance().report(std::move(finding));
}

void report_register_budget(const Warp& warp, RegisterProblem problem, uint32_t now,
                            uint32_t wanted) {
  Finding finding = make(warp, "synccheck", "register-budget", warp.pc);
  finding.message = "In " + kernel_name(warp) + ", setmaxnreg " + at(warp, warp.pc) + " asks for " +
                    number(wanted) + " registers per thread";
  switch (problem) {
    case RegisterProblem::kNoBudget:
      finding.message +=
          ", but the kernel does not say how many it is launched with: give it "
          "__launch_bounds__.";
      break;
    case RegisterProblem::kFewer:
      finding.message +=
          " with .inc, but the threads have " + number(now) + ": to give registers back, use .dec.";
      break;
    case RegisterProblem::kMore:
      finding.message +=
          " with .dec, but the threads have only " + number(now) + ": to take more, use .inc.";
      break;
  }
  FindingLog::instance().report(std::move(finding));
}

}  // namespace warplings::sim

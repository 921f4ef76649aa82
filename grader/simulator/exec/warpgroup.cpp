// Four warps that do one thing together: wgmma and setmaxnreg. And the registers of a warp whose
// tensor cores work in the background.
#include <algorithm>
#include <array>
#include <vector>

#include "decode/handlers.h"
#include "decode/wgmma.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/reports.h"
#include "exec/wgmma.h"

namespace warplings::sim {
namespace {

using Warps = std::array<Warp*, kWarpgroup>;
constexpr uint32_t kWholeWarp = 0xffffffffu;

bool stands_at(const Warp& warp, uint32_t pc) {
  if (warp.groups.size() != 1) return false;
  const Group& group = warp.groups[0];
  return group.state == GroupState::kAtWarpgroup && group.mask == kWholeWarp && group.pc == pc;
}

// The registers of a block are those that it was launched with: what one warpgroup gives back,
// another may take. False: there are not enough yet.
bool set_registers(const Warps& warps, const Instr& in) {
  Warp& first = *warps[0];
  Block& block = *first.block;
  const Function& kernel = first.module->functions[first.frames[0].function];
  const auto wanted = static_cast<uint32_t>(in.imm);
  const uint32_t launched = kernel.launch_registers;
  if (launched == 0) {
    report_register_budget(first, RegisterProblem::kNoBudget, 0, wanted);
    throw LaunchFault{LaunchStatus::kTrap};
  }
  const uint32_t now = first.wgmma.registers != 0 ? first.wgmma.registers : launched;
  const bool more = in.extra == 1;
  if (more ? wanted < now : wanted > now) {
    const auto problem = more ? RegisterProblem::kFewer : RegisterProblem::kMore;
    report_register_budget(first, problem, now, wanted);
    throw LaunchFault{LaunchStatus::kTrap};
  }
  constexpr uint32_t kThreads = 32 * kWarpgroup;
  if (more && (wanted - now) * kThreads > block.spare_registers) return false;
  block.spare_registers += (now - wanted) * kThreads;  // modulo 2^32
  for (Warp* warp : warps) warp->wgmma.registers = wanted;
  return true;
}

// ---- registers

template <class Use>
void each_place(const Fragment& fragment, Use use) {
  for (const Place place : fragment.registers) use(place);
}

// read(place), then written(place), of the registers of an instruction.
template <class Read, class Written>
void each_register(const Warp& warp, const Instr& in, Read read, Written written) {
  const bool own = in.undefined_rule == UndefinedRule::kOwn;
  if (own && in.kind == Kind::kCollective && is_matrix_handler(in.fn)) {
    const MatrixOp& op = warp.module->matrices[in.extra];
    const bool product = !op.d.registers.empty();
    if (in.ops[4] != kNoPlace) read(in.ops[4]);
    for (const Fragment* f : {&op.b, &op.c}) each_place(*f, read);
    if (product || in.destinations == 0) each_place(op.a, read);
    if (product) each_place(op.d, written);
    if (!product && in.destinations != 0) each_place(op.a, written);
    return;
  }
  // A load of several registers has one destination operand.
  const int results = own && in.destinations == 1 ? std::max<int>(1, in.vector) : in.destinations;
  for (int k = results; k < 6; ++k) read(in.ops[k]);
  for (int k = 0; k < results && k < 6; ++k) written(in.ops[k]);
}

}  // namespace

void watch_registers(Warp& warp, const Instr& in) {
  WgmmaState& state = warp.wgmma;
  const auto mark_of = [&](Place place) -> WgmmaState::Mark& {
    return state.mark(warp.undefined_base + slot_of(place));
  };
  const bool copies = in.undefined_rule == UndefinedRule::kMove;
  WgmmaState::Mark handed_on;
  const auto read = [&](Place place) {
    if (!is_register(place)) return;
    const WgmmaState::Mark mark = mark_of(place);
    if (copies) {
      handed_on.written = std::max(handed_on.written, mark.written);
      if (mark.number > handed_on.number) {
        const uint32_t written = handed_on.written;
        handed_on = mark;
        handed_on.written = written;
      }
    } else if (mark.is_sum && state.in_flight(mark)) {
      report_register_in_flight(warp, mark.pc, true);
    }
  };
  const auto written = [&](Place place) {
    if (!is_register(place)) return;
    WgmmaState::Mark& mark = mark_of(place);
    if (!mark.is_sum && state.in_flight(mark)) report_register_in_flight(warp, mark.pc, false);
    mark = copies ? handed_on : WgmmaState::Mark{.written = state.fences};
  };
  each_register(warp, in, read, written);
}

bool meet_warpgroup(Warp& warp) {
  Block& block = *warp.block;
  const uint32_t pc = warp.groups[0].pc;
  warp.pc = pc;
  if (warp.live != kWholeWarp) {
    report_partial_warp(warp, warp.live);
    throw LaunchFault{LaunchStatus::kTrap};
  }
  const size_t first = static_cast<size_t>(warp.index) / kWarpgroup * kWarpgroup;
  if (first + kWarpgroup > block.warps.size()) {
    report_partial_warpgroup(warp);
    throw LaunchFault{LaunchStatus::kTrap};
  }
  Warps warps;
  for (size_t i = 0; i < warps.size(); ++i) {
    warps[i] = &block.warps[first + i];
    if (!stands_at(*warps[i], pc)) return false;
  }
  for (Warp* each : warps) {
    each->set_frame(each->groups[0].frame);
    each->pc = pc;
  }
  const Instr& in = warp.module->code[pc];
  if (in.fn == handler_setmaxnreg()) {
    if (!set_registers(warps, in)) return false;
  } else {
    run_wgmma(warps, in);
  }
  for (Warp* each : warps) {
    each->groups[0].state = GroupState::kReady;
    ++each->groups[0].pc;
  }
  return true;
}

// Only its address is used: both are carried out by meet_warpgroup.
Handler handler_setmaxnreg() {
  return [](Warp&, const Instr&, uint32_t) {};
}

}  // namespace warplings::sim

// Divergence: a warp is a list of (pc, mask) groups. The group deepest in calls and lowest in pc
// runs first and merges with those it meets; a group that spins lets the others pass, so that a
// per-lane lock makes progress.
#include "exec/interpreter.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "decode/builtins.h"
#include "exec/cluster.h"
#include "exec/events.h"
#include "exec/fault.h"
#include "exec/memory_access.h"
#include "exec/observer.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

// Backward branches that a group may take while others wait for their turn: few if it has touched
// memory that others change (it may be waiting for them), many if it only counts.
constexpr uint32_t kSpinTurns = 32;
constexpr uint32_t kLoopTurns = 1u << 20;
constexpr uint32_t kYields = 8;  // of the groups of a warp before another warp has its turn

class Runner {
 public:
  Runner(Warp& warp, uint64_t turn) : w_(warp), grid_(*warp.block->grid), left_(turn) {}

  WarpState run() {
    while (true) {
      merge();
      if (end_complete_wait()) continue;
      const int next = choose();
      if (next < 0) {
        if (w_.groups.empty()) return WarpState::kDone;
        if (!give_up_on_missing_lanes()) return WarpState::kWaiting;
        continue;
      }
      current_ = next;
      if (!run_group()) return w_.groups.empty() ? WarpState::kDone : WarpState::kRunnable;
    }
  }

 private:
  // Groups at the same place in the same frame become one.
  void merge() {
    for (size_t i = 0; i < w_.groups.size(); ++i) {
      for (size_t j = i + 1; j < w_.groups.size();) {
        Group& a = w_.groups[i];
        Group& b = w_.groups[j];
        const bool mergeable = a.state == GroupState::kReady ||
                               a.state == GroupState::kAtCollective ||
                               a.state == GroupState::kAtWarpgroup;
        const bool alike = a.state == b.state && a.pc == b.pc && a.frame == b.frame;
        const bool same_wait = a.state != GroupState::kAtCollective || a.wait_mask == b.wait_mask;
        if (mergeable && alike && same_wait) {
          a.mask |= b.mask;
          a.round = std::max(a.round, b.round);
          w_.groups.erase(w_.groups.begin() + static_cast<long>(j));
        } else {
          ++j;
        }
      }
    }
  }

  int depth(const Group& group) const { return w_.frames[group.frame].depth; }

  int choose() const {
    int best = -1;
    for (size_t i = 0; i < w_.groups.size(); ++i) {
      const Group& group = w_.groups[i];
      if (group.state != GroupState::kReady) continue;
      if (best < 0) {
        best = static_cast<int>(i);
        continue;
      }
      const Group& other = w_.groups[best];
      if (group.round != other.round) {
        if (group.round < other.round) best = static_cast<int>(i);
      } else if (depth(group) != depth(other)) {
        if (depth(group) > depth(other)) best = static_cast<int>(i);
      } else if (group.pc < other.pc) {
        best = static_cast<int>(i);
      }
    }
    return best;
  }

  // The group must stop and look around when it reaches this pc: another one stands there or
  // beyond.
  uint32_t meeting_point() const {
    uint32_t limit = UINT32_MAX;
    const Group& mine = w_.groups[current_];
    for (size_t i = 0; i < w_.groups.size(); ++i) {
      const Group& group = w_.groups[i];
      if (static_cast<int>(i) == current_ || group.state != GroupState::kReady) continue;
      if (group.pc > mine.pc || group.round > mine.round) limit = std::min(limit, group.pc);
    }
    return limit;
  }

  // False when the turn is over or the warp has nothing ready.
  bool run_group() {
    const Instr* code = w_.module->code.data();
    w_.set_frame(w_.groups[current_].frame);
    const uint32_t limit = w_.groups.size() == 1 ? UINT32_MAX : meeting_point();
    const bool alone = w_.groups.size() == 1;
    uint32_t pc = w_.groups[current_].pc;
    const uint32_t mask = w_.groups[current_].mask;
    w_.group_mask = mask;
    while (true) {
      if (left_ == 0) {
        w_.groups[current_].pc = pc;
        return false;
      }
      --left_;
      const Instr& in = code[pc];
      w_.pc = pc;
      uint32_t active = mask;
      if (in.guard != kNoPlace) {
        const uint32_t guard = w_.predicate(in.guard);
        active &= in.guard_negated ? ~guard : guard;
        if (w_.any_undefined && w_.checks) check_guard(w_, in, mask);
      }
      count(in, active);
      if (in.kind == Kind::kStraight) {
        if (active != 0) {
          if (w_.any_undefined && w_.checks) before_instruction(w_, in, active);
          in.fn(w_, in, active);
        }
        ++pc;
      } else if (in.kind == Kind::kBranch) {
        if (active == mask || active == 0) {
          const uint32_t next = active != 0 ? in.target : pc + 1;
          if (next <= pc && !backward(alone, next)) return true;
          pc = next;
        } else {
          split(in, active, pc);
          return true;
        }
      } else {
        w_.groups[current_].pc = pc;
        // A guard that took only some lanes has split the group: `mask` is no longer its own.
        if (!control(in, active) || (active != 0 && active != mask)) return true;
        pc = w_.groups[current_].pc;
      }
      if (pc >= limit) {
        w_.groups[current_].pc = pc;
        return true;
      }
    }
  }

  void count(const Instr& in, uint32_t active) {
    ++grid_.instructions;
    if (grid_.instructions > grid_.max_instructions) {
      report_spent_budget(w_);
      throw LaunchFault{LaunchStatus::kTimeout};
    }
    if (w_.cycles_of != nullptr) w_.cycles += w_.cycles_of[w_.pc];
    if (w_.counters == nullptr) return;
    PcCounters& c = w_.counters[w_.pc];
    ++c.issued;
    c.lanes += static_cast<uint64_t>(std::popcount(active));
    if (w_.watch_instructions != nullptr) w_.watch_instructions->instruction(w_, in, active);
  }

  // A backward branch. False: somebody else gets a turn first.
  bool backward(bool alone, uint32_t next) {
    ++backward_branches_;
    const bool spun = w_.spun;
    w_.spun = false;
    if (!spun)
      w_.spin.spins = 0;
    else
      ++w_.spin.spins;
    if (alone) {
      // Other warps or blocks may hold what this one waits for.
      if (w_.spin.spins >= kSpinTurns) give_up_turn(next);
      return true;
    }
    if ((spun && w_.spin.spins >= kSpinTurns) || backward_branches_ >= kLoopTurns) {
      w_.groups[current_].pc = next;
      ++w_.groups[current_].round;
      w_.spin.spins = 0;
      backward_branches_ = 0;
      if (spun && ++w_.spin.yields >= kYields) give_up_turn(next);
      return false;
    }
    return true;
  }

  void give_up_turn(uint32_t next) {
    w_.spin.spins = w_.spin.yields = 0;
    left_ = 0;
    w_.groups[current_].pc = next;
    w_.spin.gave_up_turn = true;
    w_.spin.note(state_of_registers(), grid_.changes);
  }

  // Where every group stands and what all registers hold; FNV-1a, eight bytes at a time.
  uint64_t state_of_registers() const {
    uint64_t hash = 0xcbf29ce484222325ull;
    const auto add = [&](uint64_t word) { hash = (hash ^ word) * 0x100000001b3ull; };
    for (const Group& group : w_.groups) add(uint64_t{group.pc} << 32 | group.mask);
    for (size_t at = 0; at + 8 <= w_.storage.size(); at += 8) {
      uint64_t word;
      std::memcpy(&word, w_.storage.data() + at, 8);
      add(word);
    }
    return hash;
  }

  void split(const Instr& in, uint32_t taken, uint32_t pc) {
    if (w_.counters != nullptr) ++w_.counters[pc].excess;
    Group other = w_.groups[current_];
    other.mask &= ~taken;
    other.pc = pc + 1;
    w_.groups[current_].mask = taken;
    w_.groups[current_].pc = in.target;
    if (in.target <= pc && w_.spun) {
      w_.spun = false;
      if (++w_.spin.spins >= kSpinTurns) {
        w_.spin.spins = 0;
        ++w_.groups[current_].round;
      }
    }
    w_.groups.push_back(other);
  }

  // Instructions that change the list of groups. True: the current group goes on at its pc.
  bool control(const Instr& in, uint32_t active) {
    Group& group = w_.groups[current_];
    if (active == 0) {
      ++group.pc;
      return true;
    }
    if (active != group.mask) {  // a guarded exit, call or barrier: the others stand behind it
      Group other = group;
      other.mask &= ~active;
      ++other.pc;
      group.mask = active;
      w_.groups.push_back(other);
    }
    switch (in.kind) {
      case Kind::kExit:
        return leave();
      case Kind::kReturn:
        return return_from_call();
      case Kind::kCall:
        return call(in);
      case Kind::kBranchTable:
        return branch_table(in);
      case Kind::kBarrier:
        return barrier(in);
      case Kind::kWarpBarrier:
        return warp_barrier(in);
      case Kind::kClusterWait:
        return cluster_wait(in);
      case Kind::kCollective:
        return collective(in);
      case Kind::kWarpgroup:
        group.state = GroupState::kAtWarpgroup;
        return false;  // end_complete_wait() goes on when all four warps are there
      case Kind::kTrap:
        report_trap(w_, active);
        throw LaunchFault{LaunchStatus::kTrap};
      default:
        report_unsupported(w_, w_.module->messages[in.extra]);
        throw LaunchFault{LaunchStatus::kUnsupported};
    }
  }

  bool leave() {
    const uint32_t lanes = w_.groups[current_].mask;
    w_.live &= ~lanes;
    w_.block->live_threads -= static_cast<uint32_t>(std::popcount(lanes));
    w_.groups.erase(w_.groups.begin() + current_);
    return false;
  }

  bool return_from_call() {
    Group& group = w_.groups[current_];
    const Frame frame = w_.frames[group.frame];
    const CallSite& site = w_.module->calls[frame.call_site];
    const Function& function = w_.module->functions[frame.function];
    const Frame& caller = w_.frames[frame.parent];
    for (size_t i = 0; i < site.results.size() && i < function.results.size(); ++i) {
      copy_param(frame.registers + function.results[i].first, function.results[i].second,
                 caller.registers + site.results[i], site.result_sizes[i], group.mask);
    }
    if (w_.takes_stack) {
      for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
        uint32_t& top = w_.stack_top[static_cast<size_t>(std::countr_zero(rest))];
        top = std::min(top, frame.local);
      }
    }
    group.frame = frame.parent;
    group.pc = frame.return_pc;
    return false;
  }

  void copy_param(uint32_t from, uint32_t from_size, uint32_t to, uint32_t to_size, uint32_t mask) {
    const uint32_t n = std::min(from_size, to_size);
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
      std::copy_n(w_.storage.data() + from + lane * from_size, n,
                  w_.storage.data() + to + lane * to_size);
    }
  }

  bool call(const Instr& in) {
    const CallSite& site = w_.module->calls[in.extra];
    if (site.builtin >= 0) {
      call_builtin(w_, site, w_.groups[current_].mask);
      ++w_.groups[current_].pc;
      return true;
    }
    int function = site.function;
    if (function < 0) function = indirect_target(in);
    enter(in, function);
    return false;
  }

  // Lanes may call different functions: those that agree with the first go now, the others again.
  int indirect_target(const Instr& in) {
    Group& group = w_.groups[current_];
    const uint64_t* targets = w_.in<uint64_t>(in.ops[0]);
    const uint64_t first = targets[std::countr_zero(group.mask)];
    uint32_t same = 0;
    for (uint32_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (targets[lane] == first) same |= 1u << lane;
    }
    if (same != group.mask) {
      Group other = group;
      other.mask &= ~same;
      w_.groups[current_].mask = same;
      w_.groups.push_back(other);
    }
    const uint64_t index = (first - kFunctionAddressBase) / 16;
    if (first < kFunctionAddressBase || index >= w_.module->functions.size()) {
      report_unsupported(w_, "a call through a pointer that is not the address of a function");
      throw LaunchFault{LaunchStatus::kIllegalAddress};
    }
    return static_cast<int>(index);
  }

  void enter(const Instr& in, int index) {
    const Function& function = w_.module->functions[index];
    const CallSite& site = w_.module->calls[in.extra];
    if (!function.is_defined) {
      report_unsupported(w_, "the function " + function.name + " has no body in this module");
      throw LaunchFault{LaunchStatus::kUnsupported};
    }
    Group& group = w_.groups[current_];
    const int parent = group.frame;
    const Function& caller = w_.module->functions[w_.frames[parent].function];
    Frame frame;
    frame.parent = parent;
    frame.function = index;
    frame.depth = w_.frames[parent].depth + 1;
    frame.registers = w_.frames[parent].registers + caller.frame_bytes;
    frame.local = end_of_local(group.mask, w_.frames[parent].local + caller.local_bytes);
    frame.return_pc = group.pc + 1;
    frame.call_site = in.extra;
    if (frame.depth > kMostCalls) {
      report_unsupported(w_,
                         "calls are nested more than 1,000 deep: the stack of a thread is full");
      throw LaunchFault{LaunchStatus::kIllegalAddress};
    }
    group.frame = find_frame(frame);
    group.pc = function.entry;
    grow_storage(frame.registers + function.frame_bytes);
    if (function.local_bytes != 0) ensure_local(w_, frame.local + function.local_bytes);
    for (size_t i = 0; i < site.arguments.size() && i < function.params.size(); ++i) {
      copy_param(w_.frames[parent].registers + site.arguments[i], site.argument_sizes[i],
                 frame.registers + function.params[i].first, function.params[i].second, group.mask);
    }
  }

  // Where the local memory of a called function begins: above the caller's variables, and above
  // what alloca gave to any of the lanes.
  uint32_t end_of_local(uint32_t lanes, uint32_t end) const {
    if (!w_.takes_stack) return end;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      end = std::max(end, w_.stack_top[static_cast<size_t>(std::countr_zero(rest))]);
    }
    return (end + 15) / 16 * 16;
  }

  static constexpr int kMostCalls = 1000;

  // Lanes that make the same call one after the other share a frame, so that they can merge in it.
  int find_frame(const Frame& frame) {
    for (const Group& group : w_.groups) {
      const Frame& other = w_.frames[group.frame];
      if (group.frame != 0 && other.parent == frame.parent && other.function == frame.function &&
          other.return_pc == frame.return_pc && other.local >= frame.local) {
        return group.frame;
      }
    }
    for (size_t i = 1; i < w_.frames.size(); ++i) {
      if (!frame_in_use(static_cast<int>(i))) {
        w_.frames[i] = frame;
        return static_cast<int>(i);
      }
    }
    w_.frames.push_back(frame);
    return static_cast<int>(w_.frames.size()) - 1;
  }

  bool frame_in_use(int index) const {
    for (const Group& group : w_.groups) {
      for (int f = group.frame; f >= 0; f = w_.frames[f].parent) {
        if (f == index) return true;
      }
    }
    return false;
  }

  void grow_storage(size_t bytes) {
    if (bytes <= w_.storage.size()) return;
    const size_t grown = std::max(bytes, w_.storage.size() * 2);
    w_.storage.resize(grown);
    w_.undefined.resize(grown / kSlot + 1);
    w_.undefined_detail.resize((grown / kSlot + 1) * 32);
    w_.undefined_origin.resize(grown / kSlot + 1);
  }

  bool branch_table(const Instr& in) {
    const std::vector<uint32_t>& targets = w_.module->lists[in.extra];
    const uint32_t* index = w_.in<uint32_t>(in.ops[1]);
    const Group group = w_.groups[current_];
    w_.groups.erase(w_.groups.begin() + current_);
    uint32_t rest = group.mask;
    while (rest != 0) {
      const uint32_t first = index[std::countr_zero(rest)];
      uint32_t same = 0;
      for (uint32_t bits = rest; bits != 0; bits &= bits - 1) {
        const int lane = std::countr_zero(bits);
        if (index[lane] == first) same |= 1u << lane;
      }
      rest &= ~same;
      if (first >= targets.size()) {
        report_unsupported(w_, "a jump table is left: the index has no target");
        throw LaunchFault{LaunchStatus::kTrap};
      }
      Group part = group;
      part.mask = same;
      part.pc = targets[first];
      w_.groups.push_back(part);
    }
    return false;
  }

  bool barrier(const Instr& in) {
    const uint32_t mask = w_.groups[current_].mask;
    arrive_at_barrier(w_, w_.groups[current_], in, mask);
    if (w_.groups[current_].state != GroupState::kReady) return false;
    ++w_.groups[current_].pc;  // bar.arrive does not wait
    return true;
  }

  bool cluster_wait(const Instr& in) {
    Group& group = w_.groups[current_];
    if (!pass_cluster_barrier(w_, group.mask, in.acquires)) {
      group.state = GroupState::kAtCluster;
      return false;
    }
    ++group.pc;
    return true;
  }

  // ---- waits inside the warp
  // -----------------------------------------------------------------------

  // The lanes that name the same members as the first one does, and these members. Tiles of a warp
  // execute one instruction with a mask each.
  uint32_t same_members(uint32_t lanes, const Instr& in, uint32_t* members) const {
    const uint32_t* masks = w_.in<uint32_t>(in.ops[5]);
    *members = masks[std::countr_zero(lanes)];
    if (!is_register(in.ops[5])) return lanes;
    uint32_t same = 0;
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (masks[lane] == *members) same |= 1u << lane;
    }
    return same;
  }

  void check_caller(uint32_t lanes, uint32_t members) {
    if (w_.checks && (lanes & ~members) != 0) report_caller_not_in_mask(w_, lanes & ~members);
  }

  // The current group waits, as one group for each set of members that its lanes name.
  void wait_for_members(const Instr& in, GroupState state) {
    const Group whole = w_.groups[current_];
    w_.groups.erase(w_.groups.begin() + current_);
    for (uint32_t rest = whole.mask; rest != 0;) {
      Group part = whole;
      uint32_t members = 0;
      part.mask = same_members(rest, in, &members);
      part.state = state;
      part.wait_mask = members & w_.live;
      check_caller(part.mask, members);
      rest &= ~part.mask;
      if (w_.checks) check_masks_agree(part);
      w_.groups.push_back(part);
    }
  }

  // Lanes that wait at one instruction for each other must name the same members.
  void check_masks_agree(const Group& part) const {
    for (const Group& other : w_.groups) {
      const bool same_place = other.state == part.state && other.pc == part.pc;
      if (!same_place || other.wait_mask == part.wait_mask) continue;
      if ((part.wait_mask & other.mask) != 0 || (other.wait_mask & part.mask) != 0) {
        report_mask_mismatch(w_, part, other);
        return;
      }
    }
  }

  bool warp_barrier(const Instr& in) {
    Group& group = w_.groups[current_];
    uint32_t members = 0;
    const uint32_t lanes = same_members(group.mask, in, &members);
    if (lanes == group.mask && (members & w_.live & ~lanes) == 0) {
      check_caller(lanes, members);
      if (w_.checks) lanes_met(w_, group.mask);
      ++group.pc;
      return true;
    }
    wait_for_members(in, GroupState::kAtWarpBarrier);
    return false;  // end_complete_wait() lets those go on whose members are there
  }

  // Groups may stand at different bar.warp.sync statements of the same mask.
  void release_warp_barrier(uint32_t named) {
    uint32_t present = 0;
    for (const Group& group : w_.groups) {
      if (group.state == GroupState::kAtWarpBarrier) present |= group.mask;
    }
    if ((named & w_.live & ~present) != 0) return;
    if (w_.checks) lanes_met(w_, named & present);
    for (Group& group : w_.groups) {
      if (group.state == GroupState::kAtWarpBarrier && (group.mask & named) != 0) {
        group.state = GroupState::kReady;
        ++group.pc;
      }
    }
  }

  bool collective(const Instr& in) {
    Group& group = w_.groups[current_];
    uint32_t members = 0;
    const uint32_t lanes = same_members(group.mask, in, &members);
    if (lanes == group.mask && (members & w_.live & ~lanes) == 0) {
      check_caller(lanes, members);
      if (w_.any_undefined && w_.checks) before_instruction(w_, in, group.mask);
      in.fn(w_, in, group.mask);
      ++group.pc;
      return true;
    }
    wait_for_members(in, GroupState::kAtCollective);
    return false;
  }

  // Lets a wait inside the warp end whose lanes have met. False if there is none.
  bool end_complete_wait() {
    for (size_t i = 0; i < w_.groups.size(); ++i) {
      Group& group = w_.groups[i];
      if (group.state == GroupState::kAtWarpBarrier) {
        release_warp_barrier(group.wait_mask);
        if (w_.groups[i].state == GroupState::kReady) return true;
      } else if (group.state == GroupState::kAtCollective &&
                 (group.wait_mask & w_.live & ~group.mask) == 0) {
        return finish_collective(group);
      } else if (group.state == GroupState::kAtWarpgroup && group.mask == w_.live &&
                 meet_warpgroup(w_)) {
        return true;
      }
    }
    return false;
  }

  // No group is ready: lanes that can never meet are a finding, and the operation is done with
  // those that are there. False: only block barriers are left.
  // The wait that comes first in the code is the one that goes wrong.
  bool give_up_on_missing_lanes() {
    Group* first = nullptr;
    for (Group& group : w_.groups) {
      const bool in_warp =
          group.state == GroupState::kAtCollective || group.state == GroupState::kAtWarpBarrier;
      if (in_warp && (first == nullptr || group.pc < first->pc)) first = &group;
    }
    if (first == nullptr) return false;
    w_.set_frame(first->frame);
    if (w_.checks) {
      const uint32_t missing = first->wait_mask & w_.live & ~first->mask;
      report_missing_lanes(w_, first->pc, missing, "this warp operation names");
    }
    if (first->state == GroupState::kAtCollective) return finish_collective(*first);
    first->state = GroupState::kReady;
    ++first->pc;
    return true;
  }

  bool finish_collective(Group& group) {
    const Instr& in = w_.module->code[group.pc];
    w_.set_frame(group.frame);
    w_.pc = group.pc;
    if (w_.any_undefined && w_.checks) before_instruction(w_, in, group.mask);
    in.fn(w_, in, group.mask);
    group.state = GroupState::kReady;
    ++group.pc;
    return true;
  }

  Warp& w_;
  Grid& grid_;
  uint64_t left_;
  int current_ = 0;
  uint32_t backward_branches_ = 0;
};

}  // namespace

WarpState run_warp(Warp& warp, uint64_t turn) {
  warp.spin.gave_up_turn = false;
  return Runner(warp, turn).run();
}

}  // namespace warplings::sim

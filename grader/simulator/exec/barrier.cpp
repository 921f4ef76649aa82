// Block barriers, complete when all threads that have not exited (or the number given) are there.
//
// From compute capability 7.0 on, a barrier waits for every thread of the block that has not exited
// (CUDA C++ Programming Guide, "Independent Thread Scheduling"; PTX ISA, `barrier`: an arriving
// thread waits for all threads of its warp that have not exited, and then the warp has arrived). So
// lanes that leave the kernel in front of a barrier, or pass by it on their way out, hold up
// nobody: that works on every card which can run this code, and is no finding. compute-sanitizer's
// synccheck reports it, as the cards before 7.0 did not promise it. What the lanes that pass by do
// in the meantime is ordered by nothing, and racecheck says so; a barrier of their own that they
// meet on the way is a finding of checks/sync_events.cpp.
#include <algorithm>
#include <bit>

#include "exec/events.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

void write_result(Warp& warp, const Group& group, const Instr& in, const BarrierState& barrier) {
  warp.set_frame(group.frame);
  const auto mode = static_cast<BarrierMode>(in.imm);
  if (mode == BarrierMode::kPopc) {
    uint32_t* d = warp.out<uint32_t>(in.ops[0]);
    for (int lane = 0; lane < 32; ++lane) {
      if ((group.mask >> lane) & 1) d[lane] = barrier.predicate_true;
    }
  } else if (mode == BarrierMode::kAnd || mode == BarrierMode::kOr) {
    const bool all = barrier.predicate_true == barrier.arrived;
    const bool value = mode == BarrierMode::kAnd ? all : barrier.predicate_true != 0;
    uint32_t* d = warp.out<uint32_t>(in.ops[0]);
    *d = value ? (*d | group.mask) : (*d & ~group.mask);
  }
}

void release(Block& block, int id) {
  BarrierState& barrier = block.barriers[id];
  // Threads that have exited count as having arrived, unless the barrier names its number of
  // threads.
  const uint64_t threads = block.grid->config->block.count();
  const bool everybody =
      (barrier.expected == 0 || barrier.arrived >= threads) && !barrier.some_do_not_wait;
  if (block.warps[0].checks) barrier_complete(block, id, everybody);
  for (Warp& warp : block.warps) {
    for (Group& group : warp.groups) {
      if (group.state != GroupState::kAtBarrier || group.barrier != id) continue;
      write_result(warp, group, warp.module->code[group.pc], barrier);
      group.state = GroupState::kReady;
      ++group.pc;
    }
  }
  barrier = BarrierState{};
}

// A number of threads stands for whole warps: the lanes of a warp that have exited, or that its
// block never had, count as soon as the others are there.
uint32_t counted(const Block& block, const BarrierState& barrier) {
  uint32_t threads = barrier.arrived;
  for (const Warp& warp : block.warps) {
    if (((barrier.warps >> warp.index) & 1) == 0) continue;
    threads += 32 - static_cast<uint32_t>(std::popcount(warp.live));
  }
  return threads;
}

}  // namespace

void arrive_at_barrier(Warp& warp, Group& group, const Instr& in, uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const uint32_t id = warp.in<uint32_t>(in.ops[1])[lane];
  if (id >= warp.block->barriers.size()) {
    report_unsupported(warp, "a block has 16 barriers, numbered 0 to 15; this number is higher");
    throw LaunchFault{LaunchStatus::kTrap};
  }
  BarrierState& barrier = warp.block->barriers[id];
  const uint32_t threads = static_cast<uint32_t>(std::popcount(mask));
  barrier.arrived += threads;
  barrier.warps |= 1u << warp.index;
  if (in.ops[2] != kNoPlace) {
    barrier.expected = warp.in<uint32_t>(in.ops[2])[lane];
    if (warp.checks && barrier.expected % 32 != 0) report_barrier_count(warp, barrier.expected);
  }
  const bool waits = static_cast<BarrierMode>(in.imm) != BarrierMode::kArrive;
  barrier.some_do_not_wait = barrier.some_do_not_wait || !waits;
  // Without a number of threads it is for all of them, and nobody passes by.
  if (warp.checks && in.ops[2] != kNoPlace) some_threads_arrive(warp, static_cast<int>(id));
  if (in.ops[3] != kNoPlace) {
    uint32_t predicate = warp.predicate(in.ops[3]);
    if (in.extra == 1) predicate = ~predicate;
    barrier.predicate_true += static_cast<uint32_t>(std::popcount(predicate & mask));
  }
  if (!waits) return;
  group.state = GroupState::kAtBarrier;
  group.barrier = static_cast<int>(id);
}

bool release_barriers(Block& block) {
  bool any = false;
  for (int id = 0; id < static_cast<int>(block.barriers.size()); ++id) {
    const BarrierState& barrier = block.barriers[id];
    if (barrier.arrived == 0) continue;
    const bool complete = barrier.expected != 0 ? counted(block, barrier) >= barrier.expected
                                                : barrier.arrived >= block.live_threads;
    if (!complete) continue;
    release(block, id);
    any = true;
  }
  return any;
}

}  // namespace warplings::sim

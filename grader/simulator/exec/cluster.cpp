#include "exec/cluster.h"

#include "exec/events.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/memory_access.h"
#include "exec/reports.h"

namespace warplings::sim {

uint32_t shared_address_in(const Block& from, uint32_t rank, uint32_t offset) {
  return rank == from.rank ? offset : (rank + 1) << 24 | offset;
}

Block& home_of(Warp& warp, int lane, uint64_t address) {
  Block& own = *warp.block;
  const uint32_t rank = rank_of(own, address);
  if (rank == own.rank && address < kWindowSize) return own;
  const bool exists =
      address < kWindowSize && own.cluster != nullptr && rank < own.cluster->blocks.size();
  const auto fail = [&](RemoteProblem problem) {
    report_remote(warp, lane, rank, problem);
    throw LaunchFault{LaunchStatus::kIllegalAddress};
  };
  if (!exists) fail(RemoteProblem::kNoBlock);
  Block& home = *own.cluster->blocks[rank];
  if (!warp.checks) {
    if (home.done) fail(RemoteProblem::kLeft);
    return home;
  }
  if (home.done) fail(RemoteProblem::kLeft);
  if (!own.met_cluster) {
    own.met_cluster = true;  // once is enough
    report_remote(warp, lane, rank, RemoteProblem::kNotStarted);
  }
  return home;
}

void arrive_at_cluster(Warp& warp, uint32_t lanes, bool releases) {
  Block& block = *warp.block;
  if (((warp.cluster_arrived | warp.cluster_done) & lanes) != 0) {
    report_unsupported(warp,
                       "a thread arrives at the barrier of the cluster twice without a wait "
                       "between: what follows is undefined");
    throw LaunchFault{LaunchStatus::kTrap};
  }
  warp.cluster_arrived |= lanes;
  if (warp.checks) arrived_at_cluster(warp, lanes, releases);
  release_cluster_barrier(block);
}

bool pass_cluster_barrier(Warp& warp, uint32_t lanes, bool acquires) {
  if (((warp.cluster_arrived | warp.cluster_done) & lanes) != lanes) {
    report_unsupported(warp,
                       "a thread waits at the barrier of the cluster without having arrived: what "
                       "follows is undefined");
    throw LaunchFault{LaunchStatus::kTrap};
  }
  if ((warp.cluster_done & lanes) != lanes) return false;
  warp.cluster_done &= ~lanes;
  warp.block->met_cluster = true;
  if (warp.checks && acquires) waited_for_cluster(warp, lanes);
  return true;
}

bool release_cluster_barrier(Block& block) {
  uint32_t any = 0;
  const auto each_warp = [&](auto use) {
    if (block.cluster == nullptr) {
      for (Warp& warp : block.warps) use(warp);
      return;
    }
    for (Block* other : block.cluster->blocks) {
      for (Warp& warp : other->warps) use(warp);
    }
  };
  bool missing = false;
  each_warp([&](Warp& warp) {
    any |= warp.cluster_arrived;
    missing = missing || (warp.live & ~warp.cluster_arrived) != 0;
  });
  if (any == 0 || missing) return false;
  if (block.warps[0].checks) cluster_phase_ends(block);
  each_warp([](Warp& warp) {
    warp.cluster_done |= warp.cluster_arrived;
    warp.cluster_arrived = 0;
    for (Group& group : warp.groups) {
      if (group.state != GroupState::kAtCluster) continue;
      pass_cluster_barrier(warp, group.mask, warp.module->code[group.pc].acquires);
      group.state = GroupState::kReady;
      ++group.pc;
    }
  });
  note_change(block.warps[0]);
  return true;
}

bool waits_for_cluster(const Block& block) {
  for (const Warp& warp : block.warps) {
    for (const Group& group : warp.groups) {
      if (group.state == GroupState::kAtCluster) return true;
    }
  }
  return false;
}

}  // namespace warplings::sim

// What racecheck keeps with a launch and with a block while they run.
#ifndef WARPLINGS_SIMULATOR_CHECKS_WATCH_H_
#define WARPLINGS_SIMULATOR_CHECKS_WATCH_H_

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "checks/first_guess.h"
#include "checks/order.h"
#include "checks/shared_race.h"
#include "exec/warp.h"

namespace warplings::sim {

// An instruction that has computed with values that nothing has written.
struct Computed {
  uint32_t pc = 0;
  bool mattered = false;   // the result has decided something, or left the block
  KeyedFinding otherwise;  // a note
};

// A tensor map that the kernel has changed: who did, and where fences stand since.
struct ChangedMap {
  uint32_t block = 0, warp = 0;
  uint32_t pc = 0;
  bool released = false;
  std::vector<uint32_t> acquired;  // blocks
};

struct GridWatch {
  static constexpr size_t kMostOrigins = 200;
  std::vector<Computed> computed;  // initcheck: at most kMostOrigins
  NoteTable notes;                 // at addresses in global memory
  FirstGuesses guesses;
  std::map<uint64_t, ChangedMap> changed_maps;  // by address
  InnerOrder inner_order = InnerOrder::kNone;   // of the kernel
};

// Of an mbarrier.
struct ObjectClocks {
  SyncClock arriving;  // what came with the arrivals of this phase
  SyncClock complete;  // what a wait for the phases before hands on
};

// The last fence.proxy.async of the lanes of a warp: what it covers of their own writes, and what
// the warp knew of those of others.
struct ProxyFence {
  std::array<uint32_t, 32> own{};  // clocks; 0: none yet
  uint32_t lanes = 0;              // of the last one
  WarpClock known;
};

// What the barrier of a cluster hands on.
struct ClusterWatch {
  Knowledge arriving, complete;
};

struct BlockWatch {
  SharedRace race;
  BlockOrder order;
  NoteTable notes;                        // at addresses in shared memory
  std::vector<WarpClock> clocks;          // of its warps
  std::vector<RecentLoads> recent_loads;  // of its warps
  std::array<Meeting, 16> meetings;
  std::map<uint32_t, ObjectClocks> objects;  // by offset in shared memory
  // What threads of other blocks of the cluster did in this block's shared memory, by word.
  std::unordered_map<uint32_t, std::vector<RaceAccess>> remote;
  // The last access of each thread of another block: its thread, clock and pc.
  std::map<std::pair<uint32_t, uint32_t>, std::pair<uint32_t, uint32_t>> visitors;
  // The threads that have waited for the kernel before, one of a warp, and when.
  std::vector<std::pair<uint32_t, uint32_t>> grid_waits;
  ClusterWatch alone;              // of a block without a cluster
  std::vector<ProxyFence> fences;  // of its warps
  uint32_t fenced_before = 0;      // clock of the barrier before the last fence.proxy.async
};

inline const BlockOrder& order_of(const Warp& warp) { return warp.block->watch->order; }

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_WATCH_H_

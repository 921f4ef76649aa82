// Execution state: a warp, the groups of lanes it has split into, its block.
#ifndef WARPLINGS_SIMULATOR_EXEC_WARP_H_
#define WARPLINGS_SIMULATOR_EXEC_WARP_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "core/counters.h"
#include "decode/program.h"
#include "decode/special.h"
#include "exec/async_copy.h"
#include "exec/bulk_copy.h"
#include "exec/mbarrier.h"
#include "exec/wgmma.h"

namespace warplings::sim {

class Block;
class Cluster;
class Grid;
class LaunchObserver;

// What the checks keep with an object of the engine, which owns it and knows nothing of it.
struct BlockWatch;
struct ClusterWatch;
struct GridWatch;
struct WarpClock;
struct DeleteWatch {
  void operator()(BlockWatch* watch) const;
  void operator()(ClusterWatch* watch) const;
  void operator()(GridWatch* watch) const;
};
template <class T>
using Watch = std::unique_ptr<T, DeleteWatch>;

// A call frame. Groups of one warp may stand in different frames.
struct Frame {
  int parent = -1;
  int function = 0;
  uint32_t registers = 0;  // byte offset in Warp::storage
  uint32_t local = 0;      // byte offset in each lane's local memory
  uint32_t return_pc = 0;
  uint32_t call_site = 0;
  int depth = 0;
};

enum class GroupState : uint8_t {
  kReady,
  kAtBarrier,
  kAtWarpBarrier,
  kAtCollective,
  kAtWarpgroup,
  kAtCluster
};

struct Group {
  uint32_t pc = 0;
  uint32_t mask = 0;
  int frame = 0;
  GroupState state = GroupState::kReady;
  uint32_t round = 0;          // yields taken: groups with fewer run first
  uint32_t wait_mask = 0;      // lanes that a warp-level wait names
  int barrier = 0;             // id, while kAtBarrier
  uint32_t barrier_lanes = 0;  // lanes for which the predicate of bar.red is true
};

// Whether a warp that spins can ever leave its loop by itself. It cannot if its registers come back
// to what they were while no memory has changed.
struct SpinWatch {
  static constexpr size_t kStates = 8;
  std::array<uint64_t, kStates> seen{};  // hashes of earlier states
  size_t count = 0;
  uint64_t changes = ~uint64_t{0};  // Grid::changes that they belong to
  bool came_back = false;
  bool gave_up_turn = false;  // the last turn ended because of spinning
  uint32_t spins = 0;         // backward branches in a row that touched memory others may change
  uint32_t yields = 0;        // of groups that spin, since the last turn that was given up

  void note(uint64_t state, uint64_t changes_now) {
    if (changes != changes_now) {
      changes = changes_now;
      count = 0;
      came_back = false;
    }
    for (size_t i = 0; i < std::min(count, kStates); ++i) came_back |= seen[i] == state;
    seen[count++ % kStates] = state;
  }
  bool is_stuck(uint64_t changes_now) const { return came_back && changes == changes_now; }
};

class Warp {
 public:
  // Lanes of an operand as T.
  template <class T>
  const T* in(Place p) const {
    return reinterpret_cast<const T*>(area_[p >> 30] + (p & 0x3fffffffu));
  }
  template <class T>
  T* out(Place p) {
    return reinterpret_cast<T*>(area_[kAreaRegisters] + (p & 0x3fffffffu));
  }
  uint32_t predicate(Place p) const { return *in<uint32_t>(p); }

  void set_frame(int frame) {
    current_frame = frame;
    area_[kAreaRegisters] = storage.data() + frames[frame].registers;
    undefined_base = frames[frame].registers / kSlot;
  }
  void set_constants(const uint8_t* constants) {
    area_[kAreaConstants] = const_cast<uint8_t*>(constants);
    area_[kAreaSpecial] = special;
  }

  // Undefined bytes of a register: bit i of undefined[slot] = lane i has some; which, in bytes.
  uint32_t& undefined_lanes(Place p) { return undefined[undefined_base + slot_of(p)]; }
  uint8_t* undefined_bytes(Place p) {
    return undefined_detail.data() + (undefined_base + slot_of(p)) * size_t{32};
  }
  // Where the undefined lanes of a register come from: 0 straight from memory, else the result of
  // arithmetic, GridWatch::computed[origin - 1]. In shadows of memory a byte of origin n is n + 1.
  uint8_t& origin(Place p) { return undefined_origin[undefined_base + slot_of(p)]; }

  Block* block = nullptr;
  const LoadedModule* module = nullptr;
  uint32_t pc = 0;            // of the instruction in execution
  int index = 0;              // in the block
  uint32_t live = 0;          // lanes that have not exited
  std::vector<Group> groups;  // all live lanes, each in one group
  std::vector<Frame> frames;
  int current_frame = 0;
  uint32_t undefined_base = 0;
  bool any_undefined = false;  // some register may hold undefined bytes
  bool took_absent = false;    // some of these from a lane that took no part in a shuffle
  SpinWatch spin;
  bool spun = false;                // an atomic or volatile access since the last backward branch
  uint32_t carry = 0;               // CC.CF of each lane
  uint32_t undefined_carry = 0;     // lanes in which it has been computed from undefined values
  uint8_t carry_origin = 0;         // as undefined_origin
  uint32_t group_mask = 0;          // lanes of the group in execution, before the guard
  const uint8_t* params = nullptr;  // kernel parameters
  uint32_t param_bytes = 0;
  PcCounters* counters = nullptr;          // per instruction of the module; null when off
  const uint64_t* instructions = nullptr;  // warp instructions of this launch so far
  const uint16_t* cycles_of = nullptr;     // of each instruction; null if nobody asks for the time
  uint64_t cycles = 0;                     // since the block began
  bool checks = true;                      // initcheck, racecheck, synccheck
  // exec/observer.h; null when nobody watches.
  LaunchObserver* watch_instructions = nullptr;
  LaunchObserver* watch_requests = nullptr;
  std::vector<uint8_t> storage;           // registers of all frames
  std::vector<uint32_t> undefined;        // per slot
  std::vector<uint8_t> undefined_detail;  // per slot and lane: byte mask
  std::vector<uint8_t> undefined_origin;  // per slot
  std::vector<uint8_t> local;             // lane-major
  std::vector<uint8_t> local_undefined;   // one byte per byte of local: 0 written, else origin + 1
  uint32_t local_size = 0;                // per lane
  std::array<uint32_t, 32> stack_top{};   // end of what alloca gave each lane, in its local memory
  bool takes_stack = false;               // some lane has called alloca
  WarpClock* clock = nullptr;             // kept by the checks, for them
  AsyncCopies async_copies;               // cp.async under way
  WgmmaState wgmma;
  BulkGroups bulk_groups;        // bulk copies out of shared memory under way
  uint32_t cluster_arrived = 0;  // lanes that wait for the others of the cluster
  uint32_t cluster_done = 0;     // lanes whose phase has ended, and that have not waited
  uint32_t early = 0;    // lanes that may run beside the kernel before (griddepcontrol.wait)
  MBarrierWait awaited;  // the last wait that came too early
  alignas(64) uint8_t special[kSpecialBytes];

 private:
  uint8_t* area_[3] = {nullptr, nullptr, nullptr};
};

// A barrier resource of a block.
struct BarrierState {
  uint32_t arrived = 0;           // threads
  uint32_t expected = 0;          // 0: all live threads
  uint32_t warps = 0;             // some thread of which has arrived, a bit each
  uint32_t predicate_true = 0;    // bar.red: threads whose predicate holds
  bool some_do_not_wait = false;  // bar.arrive
};

// Words of shared memory of which a plain read tells the checks nothing new: those whose entry is
// `now`. The checks keep it up to date.
struct QuietWords {
  const uint32_t* since = nullptr;
  uint32_t now = 0;
};

class Block {
 public:
  Grid* grid = nullptr;
  Dim3 index;
  uint64_t linear = 0;
  Cluster* cluster = nullptr;  // of several blocks
  uint32_t rank = 0;           // in it
  bool met_cluster = false;    // some thread has waited for the others of the cluster
  uint32_t live_threads = 0;
  std::vector<Warp> warps;
  std::vector<uint8_t> shared;
  std::vector<uint8_t> shared_undefined;  // as Warp::local_undefined; empty when checks are off
  std::array<BarrierState, 16> barriers;
  QuietWords quiet;
  Watch<BlockWatch> watch;
  MBarriers mbarriers;
  uint32_t spare_registers = 0;  // that setmaxnreg has given back
  bool done = false;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_WARP_H_

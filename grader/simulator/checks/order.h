// What happens before what, beyond the barriers of a block (checks/shared_race.h): fences, flags,
// locks and tickets, in shared and in global memory.
//
// Release: a fence takes note of everything that its thread knows to have happened; the next strong
// write of the thread leaves that note at its address, and atomics on the address add theirs to it
// (a release sequence). Acquire: a strong read picks the note up; a fence after it, or .acquire on
// the read itself, makes it part of what has happened. Until then the note is pending: an access
// that only it orders is worth a remark, because the fence on the reading side is missing.
//
// Barriers hand on all of this to the threads that they order.
#ifndef WARPLINGS_SIMULATOR_CHECKS_ORDER_H_
#define WARPLINGS_SIMULATOR_CHECKS_ORDER_H_

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checks/knowledge.h"
#include "decode/program.h"

namespace warplings::sim {

struct WarpClock;
class Block;
class Warp;

// Index of a reach: inside the block, and across blocks.
enum Reach : uint8_t { kInBlock = 0, kAcross = 1 };

// What orders the next accesses of a thread.
struct ThreadOrder {
  Knowledge known;
  std::array<Knowledge, 2> pending;   // by where it comes from
  std::array<Knowledge, 2> released;  // what the last fence covers, by how far the fence reaches
  void join(const ThreadOrder& other);
  bool empty() const;
  bool same(const ThreadOrder& other) const;  // false where it takes work to know
};

// The same for a lane. Its last fences also cover what it did itself up to a clock, which is kept
// apart so that the lanes of a warp can share the rest.
struct LaneOrder : ThreadOrder {
  std::array<uint32_t, 2> own{};  // by how far the fence reaches
};
// What the lanes in `mask` know goes into `to`. `lanes` is empty or has all 32.
void merge_lanes(const std::vector<LaneOrder>& lanes, uint32_t mask, uint32_t block, uint32_t warp,
                 ThreadOrder* to);
// The lanes in `mask` learn what `from` knows.
void teach_lanes(std::vector<LaneOrder>& lanes, uint32_t mask, const ThreadOrder& from);

// How an earlier access stands to the present of a thread.
enum class Standing : uint8_t { kUnordered, kPending, kOrdered };

// The part of a block that all its threads share.
struct BlockOrder {
  uint32_t block = 0;
  uint32_t landed = 0;  // clock of the last bulk copy that arrived
  uint32_t before = 0;  // whatever any warp did up to this clock happened before the last barrier
  ThreadOrder all;
  void start(uint32_t number) {
    *this = BlockOrder();
    block = number;
  }
};

// Lanes may be ordered between two barriers of the block, and warps may not.
inline bool warps_are_apart(InnerOrder inner) {
  return inner == InnerOrder::kWholeWarps || inner == InnerOrder::kLanes;
}

// Two threads of a block, each with an access between the same barriers: whether whatever can be
// ordered after both is ordered after one more such access, by `thread` at `clock`.
inline bool two_stand_for_all(InnerOrder inner, const uint32_t threads[2], const uint32_t clocks[2],
                              uint32_t thread, uint32_t clock) {
  if (threads[0] == threads[1] || inner == InnerOrder::kAny) return false;
  if (inner == InnerOrder::kNone || threads[0] / 32 != threads[1] / 32) return true;
  return inner == InnerOrder::kWholeWarps && threads[0] / 32 == thread / 32 && clocks[0] == clock &&
         clocks[1] == clock;
}

// The notes at addresses. One table for global memory, one for the shared memory of each block.
class NoteTable {
 public:
  struct Note {
    Knowledge across;
    Knowledge in_block;  // of fences that reach only `block`
    uint32_t block = 0;
  };
  Note* find(uint64_t address);
  Note& at(uint64_t address) { return notes_[address]; }
  void forget(uint64_t address) { notes_.erase(address); }
  bool empty() const { return notes_.empty(); }
  void clear() { notes_.clear(); }

 private:
  std::unordered_map<uint64_t, Note> notes_;
};

// Is what thread `thread` of `block` did at `clock` ordered before the present of this lane?
// Barriers and warp synchronisation of the lane's own block included.
Standing standing_of(const Warp& warp, uint32_t lane, uint32_t block, uint32_t thread,
                     uint32_t clock);
// The same without barriers.
Standing noted_standing(const WarpClock& clock, const BlockOrder& order, uint32_t lane,
                        uint32_t block, uint32_t thread, uint32_t at);

// All live threads of the block have met.
void order_block(Block& block);
// Lanes that have met at a bar.warp.sync.
void order_lanes(Warp& warp, uint32_t mask);

// A barrier of some threads: what they bring, and what those who wait take away.
struct Meeting {
  std::vector<uint32_t> seen;  // per warp, as in WarpClock
  ThreadOrder order;
};
void arrive(Warp& warp, Meeting* meeting);
void take_part(Warp& warp, const Meeting& meeting);

void fence(Warp& warp, uint32_t mask, Reach reach);
// Everything that these lanes know to have happened, and what they have done.
Knowledge past_of_lanes(const Warp& warp, uint32_t mask);
// The part of it that their last fences cover, for other blocks.
Knowledge fenced_past_of_lanes(const Warp& warp, uint32_t mask);

// Strong accesses after they have been made: `read` are the lanes that saw the value, `written`
// those that changed it. Addresses are offsets in the shared memory of `home`.
struct StrongAccess {
  const uint64_t* address;
  uint32_t read = 0;
  uint32_t written = 0;
  bool read_modify_write = false;
  Block* home = nullptr;  // whose shared memory; null: global memory
};
void strong_access(Warp& warp, const Instr& in, const StrongAccess& access);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_ORDER_H_

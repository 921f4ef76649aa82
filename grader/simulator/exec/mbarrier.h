// mbarrier objects of a block. The truth lies here; the 64 bits in shared memory are its image, so
// that a program that writes over an object, or uses one that was never initialised, is told.
//
// Terms of the PTX ISA: a phase is complete when as many arrivals as expected have come and no
// transaction is outstanding; then the next one begins with the expected count. A transaction is
// the arrival of bytes that an asynchronous copy brings.
#ifndef WARPLINGS_SIMULATOR_EXEC_MBARRIER_H_
#define WARPLINGS_SIMULATOR_EXEC_MBARRIER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "exec/bulk_copy.h"

namespace warplings::sim {

class Block;
class Warp;

inline constexpr uint32_t kMostArrivals = (1u << 20) - 1;    // of one phase, by the PTX ISA
inline constexpr int64_t kMostTransactions = (1 << 20) - 1;  // outstanding, either way

struct MBarrier {
  // An arrival that happens when copies of a lane have reached shared memory.
  struct AfterCopies {
    uint32_t warp = 0, lane = 0;
    uint64_t sequence = 0;  // the last copy that counts
    uint32_t moment = 0;    // of the warp when it was asked for (exec/events.h)
  };
  uint32_t expected = 0;     // arrivals of every phase
  uint32_t pending = 0;      // of these still to come in this phase
  uint32_t phase = 0;        // counts up; its lowest bit is the parity
  int64_t transactions = 0;  // bytes that are expected, less those that were said to have come
  std::vector<AfterCopies> after_copies;
  std::vector<BulkArrival> incoming;  // they come when somebody asks for the phase
  uint32_t number = 0;                // of the object in its block

  int64_t incoming_bytes() const {
    int64_t bytes = 0;
    for (const BulkArrival& arrival : incoming) bytes += arrival.bytes;
    return bytes;
  }
  bool has_all_arrivals() const { return pending == after_copies.size(); }
  // Nothing is missing but copies that are under way.
  bool can_end() const { return has_all_arrivals() && transactions == incoming_bytes(); }

  // Bits 0-19 pending, 20-39 expected, 40-63 phase: also the state that an arrival returns.
  uint64_t image() const {
    return pending | uint64_t{expected} << 20 | uint64_t{phase & 0xffffffu} << 40;
  }
};

class MBarriers {
 public:
  void reset() {
    objects_.clear();
    made_ = 0;
  }
  MBarrier* find(uint32_t offset);
  MBarrier& initialise(uint32_t offset, uint32_t expected);
  void remove(uint32_t offset) { objects_.erase(offset); }
  bool empty() const { return objects_.empty(); }

 private:
  std::map<uint32_t, MBarrier> objects_;  // by offset in shared memory
  uint32_t made_ = 0;
};

// A wait that came too early, for the report of a launch in which nobody can go on.
struct MBarrierWait {
  bool waits = false;
  uint32_t offset = 0;
  uint32_t pc = 0;
};

// Lets the phase end if nothing is missing, or nothing but cp.async of its threads (these are done
// then), and puts the image into shared memory. Bulk copies are waited for with `end_phase`.
void settle(Block& block, uint32_t offset, MBarrier& barrier);
// The phase ends if bulk copies are all that is missing: they arrive now.
void end_phase(Block& block, uint32_t offset, MBarrier& barrier);

inline uint32_t pending_of_state(uint64_t state) { return state & kMostArrivals; }
inline uint32_t phase_of_state(uint64_t state) { return static_cast<uint32_t>(state >> 40); }

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_MBARRIER_H_

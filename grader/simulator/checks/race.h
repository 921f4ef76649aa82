// Racecheck, one detector for two kinds of memory: what it remembers of an access, when two of them
// race, and what is worth remembering of a word. Where words are kept, and which accesses last
// beyond their instruction, is checks/shared_race.h and checks/global_race.h.
//
// Two accesses race if they share a byte, come from different threads, one of them writes, they are
// not both strong (atomic, volatile, relaxed ...), and neither happens before the other
// (checks/order.h). Strong ones have a race of their own: a thread that reads a word and writes
// what it has made of it undoes what another one has written, if nothing orders the two.
#ifndef WARPLINGS_SIMULATOR_CHECKS_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_RACE_H_

#include <cstdint>

#include "checks/order.h"
#include "checks/stored_values.h"

namespace warplings::sim {

// One access as remembered: who, when, which bytes of a 4-byte word, which instruction.
struct RaceAccess {
  uint32_t block = 0;
  uint32_t clock = 0;  // of its warp; 0: no access
  uint32_t pc = 0;
  uint16_t thread = 0;    // in the block
  uint8_t bytes : 4 = 0;  // mask
  uint8_t size : 2 = 0;   // of one element, as a power of two
  uint8_t shift : 2 = 0;  // of an entry for a whole segment of global memory
  bool write : 1 = false;
  bool strong : 1 = false;
  bool atomic : 1 = false;
  bool block_scope : 1 = false;
  bool async : 1 = false;   // a cp.async or a bulk copy
  bool tensor : 1 = false;  // the tensor cores, for a wgmma
  // It ended at its clock, and the barriers that its thread has passed since do not tell.
  bool late : 1 = false;
  // A strong write, no atomic, of what its thread has made of the word after a strong read.
  bool updates : 1 = false;

  bool exists() const { return clock != 0; }
  bool is_plain_read() const { return !write && !strong; }
  bool is_plain_write() const { return write && !strong; }
  bool same_thread(const RaceAccess& other) const {
    return thread == other.thread && block == other.block;
  }
  bool same_kind(const RaceAccess& other) const {
    return write == other.write && strong == other.strong && atomic == other.atomic &&
           async == other.async && size == other.size && block_scope == other.block_scope;
  }
  bool both_strong(const RaceAccess& other) const {
    const bool reach = block == other.block || !(block_scope || other.block_scope);
    return strong && other.strong && size == other.size && reach;
  }
  bool may_undo(const RaceAccess& earlier) const {
    return updates && earlier.write && !earlier.atomic;
  }
  // Whether the two race unless something orders them, or one thread made them.
  bool touches(const RaceAccess& other) const {
    return (bytes & other.bytes) != 0 && (write || other.write) &&
           (!both_strong(other) || other.may_undo(*this));
  }
};
static_assert(sizeof(RaceAccess) == 16);

// What the lanes of a request have in common; thread and bytes are those of a lane.
RaceAccess access_by(const Warp& warp, const Instr& in, const Request& request);

struct Race {
  RaceAccess earlier, later;
  uint64_t address = 0;  // of the word; an offset in shared memory
  bool shared = false;
  bool in_flight = false;  // the earlier one goes on in the background: nobody has waited for it
  Standing standing = Standing::kUnordered;
  bool same_value = false;  // both are plain writes, the later one of what is there already
  int weight() const { return same_value ? 0 : standing == Standing::kPending ? 1 : 2; }
};

// Looks for the heaviest race of an access, or of all accesses of a request.
struct RaceSearch {
  bool shared;
  const StoredValues* stored;  // of a store; else null
  Race* race;
  bool found = false;

  bool is_over() const { return found && race->weight() == 2; }
  // standing(): of the earlier one to the present of the later one.
  template <class Order>
  void look(const RaceAccess& earlier, const RaceAccess& later, uint64_t address, Order standing) {
    if (!earlier.exists() || !earlier.touches(later) || earlier.same_thread(later)) return;
    if (is_over()) return;
    const Standing how = standing(earlier);
    if (how == Standing::kOrdered) return;
    Race here{earlier, later, address, shared, false, how, false};
    here.same_value = earlier.write && later.write && earlier.strong == later.strong &&
                      !earlier.atomic && !later.atomic && !earlier.async && stored != nullptr &&
                      stored->unchanged(later.thread % 32, address, earlier.bytes & later.bytes);
    if (here.same_value && later.updates) return;  // a flag that several threads raise
    if (found && here.weight() <= race->weight()) return;
    found = true;
    *race = here;
  }
};

// What is known of a word, or of a segment whose words are alike.
struct RaceEntry {
  RaceAccess write;    // the last plain one
  RaceAccess read[2];  // plain ones, of two blocks where there are two, else of two threads
};

// Which accesses need not be remembered, because others stand for them.
struct RaceRules {
  InnerOrder inner_order = InnerOrder::kNone;  // what orders the threads of a block
  bool across = false;                         // blocks may be ordered

  // Two accesses by others after which a third one adds nothing: whoever conflicts with the third
  // conflicts with one of them.
  bool covered(const RaceAccess& first, const RaceAccess& second, const RaceAccess& access) const {
    if (across || !first.exists() || !second.exists()) return false;
    if ((access.bytes & ~(first.bytes & second.bytes)) != 0) return false;
    if (first.block != second.block) return true;
    if (first.block != access.block) return false;
    const uint32_t threads[] = {first.thread, second.thread};
    const uint32_t clocks[] = {first.clock, second.clock};
    return two_stand_for_all(inner_order, threads, clocks, access.thread, access.clock);
  }
  // Two readers of one block, or of one of its warps: a reader of another one says more.
  bool replaces_second(const RaceEntry& entry, const RaceAccess& access) const {
    const RaceAccess &first = entry.read[0], &second = entry.read[1];
    if (across || first.block != second.block || second.bytes != access.bytes) return false;
    if (access.block != first.block) return true;
    return warps_are_apart(inner_order) && first.thread / 32 == second.thread / 32 &&
           access.thread / 32 != first.thread / 32;
  }
  // Remembers a plain access; false: it belongs in the list of the word. replaceable(old): whoever
  // conflicts with `old` conflicts with the access too.
  template <class Replaceable>
  bool keep(RaceEntry& entry, const RaceAccess& access, Replaceable replaceable) const {
    if (access.strong) return false;
    if (access.write) {
      if (!replaceable(entry.write)) return false;
      entry.write = access;
      return true;
    }
    for (RaceAccess& read : entry.read) {
      if (!replaceable(read)) continue;
      read = access;
      return true;
    }
    if (covered(entry.read[0], entry.read[1], access)) return true;
    if (!replaces_second(entry, access)) return false;
    entry.read[1] = access;
    return true;
  }
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_RACE_H_

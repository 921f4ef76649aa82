// Racecheck for shared memory: which accesses of a block are ordered, and which are not.
//
// Two accesses race if they share a byte, come from different threads, one of them writes, they are
// not both strong (atomic, volatile, relaxed ...), and neither happens before the other. Order comes
// from barriers among their participants and from bar.warp.sync among the lanes it names.
//
// Clocks: each warp counts its own synchronisations; `seen[v]` is the clock of warp v up to which
// everything of v happened before the warp's present. Within a warp, `lane_seen` holds the same per
// pair of lanes once a partial bar.warp.sync has been used, else `all_lanes_seen` serves for all.
#ifndef WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_
#define WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace warplings::sim {

struct WarpClock {
  uint32_t now = 1;
  uint32_t all_lanes_seen = 0;            // accesses of this warp with clock <= this are ordered
  std::vector<uint32_t> seen;             // per warp of the block
  std::vector<uint32_t> lane_seen;        // [to * 32 + from]; empty until needed
};

class SharedRace {
 public:
  // One access as remembered: who, when, which bytes of the 4-byte word, which instruction.
  struct Access {
    uint32_t clock = 0;   // 0: none
    uint16_t thread = 0;  // in the block
    uint8_t bytes = 0;    // mask
    bool strong = false;
    bool write = false;
    uint32_t pc = 0;
    uint32_t value = 0;   // of a write: two plain writes of one value are a note
  };
  struct Race {
    Access earlier, later;
    uint32_t address = 0;  // of the word
  };

  void start(uint32_t shared_bytes, uint32_t warps);
  bool enabled() const { return !words_.empty(); }

  // Accesses of the lanes in `mask`. addresses are offsets in shared memory; `bytes` per lane, at
  // most 16. Returns the first race found in this request, if any.
  bool access(const WarpClock& clock, uint32_t warp, uint32_t mask, const uint32_t* addresses,
              uint32_t bytes, bool write, bool strong, uint32_t pc, const uint8_t* values,
              Race* race);

  // All of the warps' listed lanes meet: everything before is ordered with everything after.
  static void join_block(std::vector<WarpClock*>& participants, const std::vector<uint32_t>& warps);
  static void join_warp(WarpClock& clock, uint32_t warp, uint32_t mask);

 private:
  struct Word {
    Access write;
    Access read[2];      // of two different threads where there are two
    bool overflow = false;
  };
  bool ordered(const WarpClock& clock, uint32_t warp, uint32_t lane, const Access& earlier) const;
  bool check_word(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index,
                  Race* race);
  void remember(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index);

  std::vector<Word> words_;
  std::unordered_map<uint32_t, std::vector<Access>> overflow_;  // word -> further accesses
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_SHARED_RACE_H_

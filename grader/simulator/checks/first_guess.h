// The first guess of a compare-and-swap loop: a plain read of a word that the same thread then
// changes by an atomic, with no barrier between. The guess may be out of date and the atomic
// corrects it, so a race of such a load with an atomic is worth a note only.
//
// Addresses decide, not the registers that hold them. One thread is enough to show what a load is
// for. A race may be found before that, so its report waits until the launch ends.
#ifndef WARPLINGS_SIMULATOR_CHECKS_FIRST_GUESS_H_
#define WARPLINGS_SIMULATOR_CHECKS_FIRST_GUESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/finding.h"
#include "core/request.h"

namespace warplings::sim {

// The latest plain loads of a warp. Those of shared memory have offsets for addresses, which are
// none of global memory.
struct RecentLoads {
  struct Load {
    uint32_t pc = 0;
    uint32_t clock = 0;
    uint32_t lanes = 0;
    std::array<uint64_t, 32> address;
  };
  static constexpr size_t kKept = 8;
  std::vector<Load> loads;  // the oldest is at `next` once there are kKept
  size_t next = 0;
  void add(uint32_t pc, uint32_t clock, const Request& request);
  void clear() {
    loads.clear();
    next = 0;
  }
};

// Of a launch.
class FirstGuesses {
 public:
  // Kernels without atomics that return a value have nothing to guess.
  void watch(bool any, bool in_shared) {
    watches_ = any;
    watches_shared_ = in_shared;
  }
  bool watches() const { return watches_; }
  bool watches_shared() const { return watches_shared_; }

  // An atomic of a warp whose last barrier was at the clock `before`.
  void changed(const RecentLoads& recent, uint32_t before, const Request& request);
  bool is_guess(uint32_t pc) const { return guesses_.contains(pc); }

  // A race that is a note if the load at `pc` turns out to be a guess.
  struct Doubt {
    uint32_t pc = 0;
    uint32_t earlier_pc = 0, later_pc = 0;  // of the two accesses
    KeyedFinding as_guess, otherwise;
  };
  bool in_doubt(uint32_t earlier_pc, uint32_t later_pc) const;
  void add(Doubt doubt) { doubts_.push_back(std::move(doubt)); }
  void settle();  // the launch has ended

 private:
  bool watches_ = false, watches_shared_ = false;
  std::set<uint32_t> guesses_;  // pcs of loads
  std::vector<Doubt> doubts_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_FIRST_GUESS_H_

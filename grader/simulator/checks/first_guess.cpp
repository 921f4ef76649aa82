#include "checks/first_guess.h"

#include <algorithm>
#include <bit>

namespace warplings::sim {

void RecentLoads::add(uint32_t pc, uint32_t clock, const Request& request) {
  if (loads.size() < kKept) {
    next = loads.size();
    loads.emplace_back();
  }
  Load& load = loads[next];
  next = (next + 1) % kKept;
  load.pc = pc;
  load.clock = clock;
  load.lanes = request.mask;
  std::copy_n(request.address, 32, load.address.begin());
}

void FirstGuesses::changed(const RecentLoads& recent, uint32_t before, const Request& request) {
  for (const RecentLoads::Load& load : recent.loads) {
    if (load.clock <= before || is_guess(load.pc)) continue;
    for (uint32_t rest = request.mask & load.lanes; rest != 0; rest &= rest - 1) {
      const size_t lane = static_cast<size_t>(std::countr_zero(rest));
      if (load.address[lane] != request.address[lane]) continue;
      guesses_.insert(load.pc);
      break;
    }
  }
}

bool FirstGuesses::in_doubt(uint32_t earlier_pc, uint32_t later_pc) const {
  return std::any_of(doubts_.begin(), doubts_.end(), [&](const Doubt& doubt) {
    return doubt.earlier_pc == earlier_pc && doubt.later_pc == later_pc;
  });
}

void FirstGuesses::settle() {
  for (Doubt& doubt : doubts_) {
    report(std::move(is_guess(doubt.pc) ? doubt.as_guess : doubt.otherwise));
  }
  doubts_.clear();
}

}  // namespace warplings::sim

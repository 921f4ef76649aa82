// Racecheck of what the tensor cores read in the background (wgmma).
//
// A wgmma belongs to four warps. It begins when all of them have come to it, so each of them must
// know of a write before it; and when one of them has waited for it, it is over for all.
#include <algorithm>

#include "checks/shared_race.h"

namespace warplings::sim {
namespace {

constexpr uint32_t kUnitWords = 4;
constexpr uint32_t kWarps = 4;

}  // namespace

bool SharedRace::begin_tensor_reads(const WarpClock* clocks, uint32_t first_warp, uint32_t number,
                                    const uint32_t* units, size_t count, uint32_t pc, Race* race) {
  const size_t which = first_warp / kWarps;
  if (warpgroups_.size() <= which) warpgroups_.resize(which + 1);
  Warpgroup& group = warpgroups_[which];
  if (group.last.empty()) group.last.assign(words_.size() / kUnitWords + 1, 0);
  group.all.resize(number);
  group.all.back().pc = pc;
  bool found = false;
  Access access;
  access.block = order_->block;
  access.pc = pc;
  access.bytes = 0xf;
  access.tensor = true;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t unit = units[i] / (4 * kUnitWords);
    group.last[unit] = number;
    for (uint32_t index = unit * kUnitWords; index < (unit + 1) * kUnitWords && !found; ++index) {
      for (uint32_t warp = 0; warp < kWarps && !found; ++warp) {
        access.clock = clocks[warp].now;
        access.thread = static_cast<uint16_t>((first_warp + warp) * 32);
        found = check(clocks[warp], first_warp + warp, access, index, nullptr, race);
        // The one that a thread of its own warp made is no better: the others do not know of it.
        race->later.thread = static_cast<uint16_t>(first_warp * 32);
      }
    }
  }
  return found;
}

void SharedRace::end_tensor_reads(const WarpClock& clock, uint32_t warp, uint32_t number) {
  const size_t which = warp / kWarps, member = warp % kWarps;
  if (which >= warpgroups_.size()) return;
  Warpgroup& group = warpgroups_[which];
  for (uint32_t i = group.ended[member]; i < number && i < group.all.size(); ++i) {
    group.all[i].clocks[member] = clock.now;
  }
  group.ended[member] = std::max(group.ended[member], number);
}

bool SharedRace::check_tensor_reads(const WarpClock& clock, uint32_t warp, const Access& access,
                                    uint32_t index, Race* race) const {
  Access read;
  bool awaited = false;
  const auto knows = [&](const Access& earlier) {
    return earlier.thread / 32 == warp ||
           standing(clock, warp, access.thread % 32, earlier) == Standing::kOrdered;
  };
  if (!find_tensor_read(index, knows, &read, &awaited)) return false;
  *race = {read, access, index * 4, true, !awaited, Standing::kUnordered, false};
  return true;
}

}  // namespace warplings::sim

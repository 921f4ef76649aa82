#include "checks/shared_race.h"

#include <algorithm>
#include <bit>

namespace warplings::sim {

void SharedRace::start(uint32_t shared_bytes, bool order_inside_epochs) {
  words_.assign((shared_bytes + 3) / 4, Word{});
  quiet_.assign(words_.size(), 0);
  overflow_.clear();
  in_flight_.clear();
  words_in_flight_ = 0;
  epoch_ = 1;
  order_inside_epochs_ = order_inside_epochs;
}

// Did `earlier` happen before the present of this lane?
bool SharedRace::ordered(const WarpClock& clock, uint32_t warp, uint32_t lane,
                         const Access& earlier) const {
  if (earlier.epoch != epoch_) return true;
  const uint32_t other_warp = earlier.thread / 32;
  if (other_warp != warp) return clock.seen[other_warp] >= earlier.clock;
  const uint32_t other_lane = earlier.thread % 32;
  if (other_lane == lane || clock.all_lanes_seen >= earlier.clock) return true;
  return !clock.lane_seen.empty() && clock.lane_seen[lane * 32 + other_lane] >= earlier.clock;
}

bool SharedRace::conflict(const WarpClock& clock, uint32_t warp, const Access& earlier,
                          const Access& later) const {
  if (earlier.epoch != epoch_ || earlier.thread == later.thread) return false;
  if ((earlier.bytes & later.bytes) == 0) return false;
  if (!earlier.write && !later.write) return false;
  if (earlier.strong && later.strong) return false;
  return !ordered(clock, warp, later.thread % 32, earlier);
}

bool SharedRace::check(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index,
                       Race* race) const {
  if (words_in_flight_ != 0 && in_flight_[index].bytes != 0) {
    *race = {in_flight_[index], access, index * 4, true};
    return true;
  }
  const Word& word = words_[index];
  const Access* found = nullptr;
  if (conflict(clock, warp, word.write, access)) found = &word.write;
  for (const Access& read : word.read) {
    if (found == nullptr && conflict(clock, warp, read, access)) found = &read;
  }
  if (found == nullptr && word.overflow) {
    for (const Access& earlier : overflow_.at(index)) {
      if (found == nullptr && conflict(clock, warp, earlier, access)) found = &earlier;
    }
  }
  if (found == nullptr) return false;
  *race = {*found, access, index * 4, false};
  return true;
}

// Keeps enough of the past to find a race with any later access: the last plain write, two readers
// of different threads, and in the overflow list whatever does not fit (parts of words, strong
// accesses, further readers where only some threads are ordered).
void SharedRace::remember(const WarpClock& clock, uint32_t warp, const Access& access,
                          uint32_t index) {
  Word& word = words_[index];
  const uint32_t lane = access.thread % 32;
  const auto replaceable = [&](const Access& old) {
    if (old.epoch != epoch_) return true;
    if ((old.bytes & ~access.bytes) != 0) return false;
    return old.thread == access.thread || ordered(clock, warp, lane, old);
  };
  if (!access.strong && access.write && replaceable(word.write)) {
    word.write = access;
    return;
  }
  if (!access.strong && !access.write) {
    for (Access& read : word.read) {
      if (replaceable(read)) {
        read = access;
        return;
      }
    }
    // Any writer of this epoch differs from one of the two readers, and inside an epoch nothing is
    // ordered, so a third reader adds nothing.
    const bool covered = (access.bytes & ~(word.read[0].bytes & word.read[1].bytes)) == 0;
    if (covered && !order_inside_epochs_) return;
  }
  std::vector<Access>& list = overflow_[index];
  word.overflow = true;
  for (Access& old : list) {
    const bool alike = old.write == access.write && old.strong == access.strong;
    if (old.epoch != epoch_ || (alike && replaceable(old))) {
      old = access;
      return;
    }
  }
  list.push_back(access);
}

bool SharedRace::access(const WarpClock& clock, uint32_t warp, uint32_t mask,
                        const uint64_t* addresses, uint32_t bytes, bool write, bool strong,
                        uint32_t pc, Race* race) {
  bool found = false;
  Access access;
  access.epoch = epoch_;
  access.clock = clock.now;
  access.strong = strong;
  access.write = write;
  access.pc = pc;
  const uint32_t* const quiet = quiet_.data();
  const bool plain_words = !write && !strong && bytes >= 4;  // aligned: whole words
  // Lanes of one instruction are compared with each other too: lane i sees what lane i - 1 left.
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint32_t at = static_cast<uint32_t>(addresses[lane]);
    if (plain_words && bytes == 4) {
      if (quiet[at / 4] == epoch_) continue;
    } else if (plain_words) {
      bool all = true;
      for (uint32_t k = 0; k < bytes / 4; ++k) all = all && quiet[at / 4 + k] == epoch_;
      if (all) continue;
    }
    access.thread = static_cast<uint16_t>(warp * 32 + lane);
    for (uint32_t left = bytes; left > 0;) {
      const uint32_t offset = at & 3;
      const uint32_t n = std::min(4 - offset, left);
      access.bytes = static_cast<uint8_t>(((1u << n) - 1) << offset);
      const uint32_t index = at / 4;
      if (write || strong || quiet_[index] != epoch_) {
        if (!found) found = check(clock, warp, access, index, race);
        remember(clock, warp, access, index);
        const Word& word = words_[index];
        const bool two_readers = word.read[0].epoch == epoch_ && word.read[1].epoch == epoch_ &&
                                 word.read[0].bytes == 0xf && word.read[1].bytes == 0xf;
        const bool nothing_new = two_readers && word.write.epoch != epoch_ && !word.overflow &&
                                 !order_inside_epochs_ && words_in_flight_ == 0;
        quiet_[index] = nothing_new ? epoch_ : 0;
      }
      at += n;
      left -= n;
    }
  }
  return found;
}

void SharedRace::join_warps(const std::vector<WarpClock*>& clocks,
                            const std::vector<uint32_t>& warps) {
  if (clocks.empty()) return;
  std::vector<uint32_t> joined = clocks[0]->seen;
  for (size_t i = 0; i < clocks.size(); ++i) {
    for (size_t v = 0; v < joined.size(); ++v) {
      joined[v] = std::max(joined[v], clocks[i]->seen[v]);
    }
    joined[warps[i]] = std::max(joined[warps[i]], clocks[i]->now);
  }
  for (size_t i = 0; i < clocks.size(); ++i) {
    clocks[i]->seen = joined;
    clocks[i]->all_lanes_seen = clocks[i]->now;
    ++clocks[i]->now;
  }
}

void SharedRace::join_lanes(WarpClock& clock, uint32_t mask) {
  if (mask == 0xffffffffu) {
    clock.all_lanes_seen = clock.now++;
    return;
  }
  if (clock.lane_seen.empty()) clock.lane_seen.assign(32 * 32, 0);
  uint32_t joined[32] = {};
  for (uint32_t from = 0; from < 32; ++from) {
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
      joined[from] = std::max(joined[from], clock.lane_seen[lane * 32 + from]);
    }
    if ((mask >> from) & 1) joined[from] = clock.now;
  }
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    std::copy(joined, joined + 32, &clock.lane_seen[lane * 32]);
  }
  ++clock.now;
}

}  // namespace warplings::sim

#include "checks/shared_race.h"

#include <algorithm>
#include <bit>

#include "checks/stored_values.h"

namespace warplings::sim {

void WarpClock::start(size_t warps) {
  now = 1;
  all_lanes_seen = 0;
  seen.assign(warps, 0);
  lane_seen.clear();
  lanes.clear();
}

void SharedRace::start(uint32_t shared_bytes, InnerOrder inner_order, const BlockOrder* order) {
  words_.assign((shared_bytes + 3) / 4, Word{});
  quiet_.assign(words_.size(), 0);
  overflow_.clear();
  in_flight_.clear();
  words_in_flight_ = 0;
  warpgroups_.clear();
  late_.clear();
  rules_.inner_order = inner_order;
  order_ = order;
}

void SharedRace::next_epoch() {
  for (const uint32_t index : late_) {
    words_[index].write.late = false;
    if (!words_[index].overflow) continue;
    for (Listed& listed : overflow_.at(index)) listed.late = false;
  }
  late_.clear();
}

// Did `earlier` happen before the present of this lane?
Standing SharedRace::standing(const WarpClock& clock, uint32_t warp, uint32_t lane,
                              const Access& earlier) const {
  if (!is_current(earlier)) return Standing::kOrdered;
  const uint32_t other_warp = earlier.thread / 32;
  if (other_warp != warp) {
    if (clock.seen[other_warp] >= earlier.clock) return Standing::kOrdered;
  } else {
    const uint32_t other_lane = earlier.thread % 32;
    if (other_lane == lane || clock.all_lanes_seen >= earlier.clock) return Standing::kOrdered;
    if (!clock.lane_seen.empty() && clock.lane_seen[lane * 32 + other_lane] >= earlier.clock) {
      return Standing::kOrdered;
    }
  }
  return noted_standing(clock, *order_, lane, order_->block, earlier.thread, earlier.clock);
}

bool SharedRace::check(const WarpClock& clock, uint32_t warp, const Access& access, uint32_t index,
                       const StoredValues* stored, Race* race) const {
  // Two copies may read the same bytes, and anybody may read what a copy reads.
  const bool in_flight = words_in_flight_ != 0 && in_flight_[index].bytes != 0;
  if (in_flight && (in_flight_[index].write || access.write)) {
    *race = {in_flight_[index], access, index * 4, true, true, Standing::kUnordered, false};
    return true;
  }
  if (!warpgroups_.empty() && access.write &&
      check_tensor_reads(clock, warp, access, index, race)) {
    return true;
  }
  const Word& word = words_[index];
  RaceSearch search{true, stored, race};
  const auto look = [&](const Access& earlier) {
    search.look(earlier, access, index * 4,
                [&](const Access& one) { return standing(clock, warp, access.thread % 32, one); });
  };
  look(word.write);
  look(word.read[0]);
  look(word.read[1]);
  // Atomics of one size do not race with each other.
  if (word.overflow && !(access.strong && word.strong_size == access.size)) {
    for (const Listed& earlier : overflow_.at(index)) {
      if (!is_current(earlier) || !earlier.touches(access)) continue;
      Access one = earlier;
      for (uint32_t rest = earlier.lanes; rest != 0; rest &= rest - 1) {
        one.thread = static_cast<uint16_t>(earlier.thread / 32 * 32 + std::countr_zero(rest));
        look(one);
      }
    }
  }
  return search.found;
}

bool SharedRace::Listed::join(const Access& other) {
  if (late != other.late || clock != other.clock || pc != other.pc || bytes != other.bytes ||
      thread / 32 != other.thread / 32 || !same_kind(other)) {
    return false;
  }
  lanes |= 1u << other.thread % 32;
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
    if (!is_current(old)) return true;
    if ((old.bytes & ~access.bytes) != 0) return false;
    return old.thread == access.thread || standing(clock, warp, lane, old) == Standing::kOrdered;
  };
  const auto join = [&] {
    if (!word.overflow) return false;
    std::vector<Listed>& list = overflow_.at(index);
    return std::any_of(list.begin(), list.end(), [&](Listed& old) { return old.join(access); });
  };
  if (!access.is_plain_write() && join()) return;
  if (rules_.keep(word, access, replaceable)) return;
  if (access.is_plain_write() && join()) return;
  remember_in_list(Listed(access), index, replaceable);
}

template <class Replaceable>
void SharedRace::remember_in_list(const Listed& access, uint32_t index, Replaceable replaceable) {
  Word& word = words_[index];
  const auto all_replaceable = [&](const Listed& old) {
    Access one = old;
    for (uint32_t rest = old.lanes; rest != 0; rest &= rest - 1) {
      one.thread = static_cast<uint16_t>(old.thread / 32 * 32 + std::countr_zero(rest));
      if (!replaceable(one)) return false;
    }
    return true;
  };
  std::vector<Listed>& list = overflow_[index];
  const uint8_t strong_size = access.strong ? access.size : Word::kMixed;
  word.strong_size = !word.overflow || word.strong_size == strong_size ? strong_size : Word::kMixed;
  word.overflow = true;
  const Listed* first = nullptr;
  for (Listed& old : list) {
    const bool alike = old.same_kind(access);
    if (!is_current(old) || (alike && all_replaceable(old))) {
      old = access;
      return;
    }
    if (!alike) continue;
    if (first != nullptr && rules_.covered(*first, old, access)) return;
    if (first == nullptr) first = &old;
  }
  list.push_back(access);
}

// Lanes of one instruction that read the same word, remembered at once. Where nobody has written it
// in this epoch there is nothing to compare; false: there is.
bool SharedRace::read_together(const Access& access, uint32_t lanes, uint32_t index) {
  const Word& word = words_[index];
  if (words_in_flight_ != 0 || is_current(word.write)) return false;
  Listed together(access);
  together.lanes = lanes;
  if (word.overflow) {
    std::vector<Listed>& list = overflow_.at(index);
    const auto written = [&](const Listed& old) { return old.write && is_current(old); };
    if (std::any_of(list.begin(), list.end(), written)) return false;
    for (Listed& old : list) {
      if (!old.join(access)) continue;
      old.lanes |= lanes;
      return true;
    }
  }
  remember_in_list(together, index, [&](const Access& old) { return !is_current(old); });
  return true;
}

// The common case, checked and remembered at once: a plain access to a whole word that no other
// thread has touched in this epoch.
bool SharedRace::take_alone(const Access& access, uint32_t index) {
  Word& word = words_[index];
  const auto free = [&](const Access& old) {
    return !is_current(old) || old.thread == access.thread;
  };
  if (word.overflow || words_in_flight_ != 0) return false;
  if (access.write && !warpgroups_.empty()) return false;
  if (!free(word.write) || !free(word.read[0]) || !free(word.read[1])) return false;
  (access.write ? word.write : word.read[0]) = access;
  return true;
}

bool SharedRace::access(const WarpClock& clock, uint32_t warp, uint32_t mask,
                        const uint64_t* addresses, uint32_t bytes, Access access,
                        const StoredValues* stored, Race* race) {
  bool found = false;
  const bool write = access.write, strong = access.strong;
  access.clock = clock.now;
  const uint32_t present = epoch();
  const uint32_t* const quiet = quiet_.data();
  const bool plain_words = !write && !strong && bytes >= 4;  // aligned: whole words
  const bool two_are_enough = !write && !strong && rules_.inner_order < InnerOrder::kLanes;
  const bool lanes_apart = rules_.inner_order == InnerOrder::kLanes;
  uint64_t last_address = ~uint64_t{0};
  int alike = 0;  // lanes in a row that read this address
  // Lanes of one instruction are compared with each other too: lane i sees what lane i - 1 left.
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint32_t at = static_cast<uint32_t>(addresses[lane]);
    alike = addresses[lane] == last_address ? alike + 1 : 0;
    last_address = addresses[lane];
    if (two_are_enough && alike >= 2) continue;
    if (plain_words && bytes == 4) {
      if (quiet[at / 4] == present) continue;
    } else if (plain_words) {
      bool all = true;
      for (uint32_t k = 0; k < bytes / 4; ++k) all = all && quiet[at / 4 + k] == present;
      if (all) continue;
    }
    access.thread = static_cast<uint16_t>(warp * 32 + lane);
    if (plain_words && lanes_apart) {
      uint32_t readers = 0;
      for (uint32_t others = rest; others != 0 && addresses[std::countr_zero(others)] == at;
           others &= others - 1) {
        readers |= others & (~others + 1);
      }
      access.bytes = 0xf;
      bool together = readers != 1u << lane;
      for (uint32_t k = 0; together && k < bytes / 4; ++k) {
        together = read_together(access, readers, at / 4 + k);
      }
      if (together) {
        rest &= ~readers | 1u << lane;  // this one goes at the end of the loop
        continue;
      }
    }
    for (uint32_t left = bytes; left > 0;) {
      const uint32_t offset = at & 3;
      const uint32_t n = std::min(4 - offset, left);
      access.bytes = static_cast<uint8_t>(((1u << n) - 1) << offset);
      const uint32_t index = at / 4;
      if (access.bytes == 0xf && !strong && take_alone(access, index)) {
        quiet_[index] = 0;
      } else if (write || strong || quiet_[index] != present) {
        Race here;
        const bool worst = found && race->weight() == 2;
        if (!worst && check(clock, warp, access, index, stored, &here) &&
            (!found || here.weight() > race->weight())) {
          found = true;
          *race = here;
        }
        remember(clock, warp, access, index);
        const Word& word = words_[index];
        // By a thread and at a clock that nobody has: covered for every reader.
        Access anybody;
        anybody.bytes = 0xf;
        anybody.thread = UINT16_MAX;
        anybody.block = access.block;
        const bool two_readers = is_current(word.read[0]) && is_current(word.read[1]) &&
                                 rules_.covered(word.read[0], word.read[1], anybody);
        const bool nothing_new =
            two_readers && !is_current(word.write) && !word.overflow && words_in_flight_ == 0;
        quiet_[index] = nothing_new ? present : 0;
      }
      at += n;
      left -= n;
    }
  }
  return found;
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

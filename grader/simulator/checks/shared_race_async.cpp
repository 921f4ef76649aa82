// Racecheck of what does not happen in the order of a thread's program: copies in flight, and the
// clocks that an mbarrier hands from those who arrive to those who wait.
#include <algorithm>
#include <array>
#include <bit>

#include "checks/shared_race.h"

namespace warplings::sim {
namespace {

void keep_latest(std::vector<uint32_t>& clocks, size_t index, uint32_t clock) {
  if (clocks.size() <= index) clocks.resize(index + 1, 0);
  clocks[index] = std::max(clocks[index], clock);
}

}  // namespace

void SyncClock::merge(const SyncClock& other) {
  for (size_t i = 0; i < other.threads.size(); ++i) keep_latest(threads, i, other.threads[i]);
  for (size_t i = 0; i < other.warps.size(); ++i) keep_latest(warps, i, other.warps[i]);
  order.join(other.order);
}

void SharedRace::release(const WarpClock& clock, uint32_t warp, uint32_t lanes,
                         SyncClock* to) const {
  to->threads.resize(std::max<size_t>(to->threads.size(), (warp + 1) * 32), 0);
  uint32_t* threads = &to->threads[warp * 32];
  for (uint32_t from = 0; from < 32; ++from) {
    uint32_t seen = ((lanes >> from) & 1) != 0 ? clock.now : clock.all_lanes_seen;
    if (!clock.lane_seen.empty()) {
      for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
        seen = std::max(seen, clock.lane_seen[lane * 32 + from]);
      }
    }
    threads[from] = std::max(threads[from], seen);
  }
  for (size_t v = 0; v < clock.seen.size(); ++v) keep_latest(to->warps, v, clock.seen[v]);
  merge_lanes(clock.lanes, lanes, order_->block, warp, &to->order);
}

void SharedRace::acquire(WarpClock& clock, uint32_t warp, uint32_t lanes, uint32_t live,
                         const SyncClock& from) const {
  const bool whole = (live & ~lanes) == 0;
  ThreadOrder learnt = from.order;
  for (uint32_t v = 0; v < clock.seen.size(); ++v) {
    const uint32_t by_others = v < from.warps.size() ? from.warps[v] : 0;
    std::array<uint32_t, 32> clocks;
    for (size_t lane = 0; lane < 32; ++lane) {
      const size_t thread = v * 32 + lane;
      clocks[lane] = std::max(by_others, thread < from.threads.size() ? from.threads[thread] : 0);
    }
    const auto [low, high] = std::minmax_element(clocks.begin(), clocks.end());
    uint32_t& seen = v == warp ? clock.all_lanes_seen : clock.seen[v];
    if (whole) seen = std::max(seen, *low);
    // Some lanes of that warp have done more than others, or only some of this one have waited.
    if (*high > seen) learnt.known.add_warp(order_->block, v, clocks.data());
  }
  teach_lanes(clock.lanes, lanes, learnt);
}

bool SharedRace::compare_strong(const WarpClock& clock, uint32_t warp, uint32_t mask,
                                const uint64_t* offsets, uint32_t bytes, uint32_t pc,
                                Race* race) const {
  Access access;
  access.block = order_->block;
  access.clock = clock.now;
  access.pc = pc;
  access.bytes = 0xf;
  access.strong = true;
  access.write = true;
  access.size = 3;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    access.thread = static_cast<uint16_t>(warp * 32 + lane);
    const uint32_t first = static_cast<uint32_t>(offsets[lane] / 4);
    for (uint32_t index = first; index < first + bytes / 4; ++index) {
      if (check(clock, warp, access, index, nullptr, race)) return true;
    }
  }
  return false;
}

bool SharedRace::begin_async_write(const WarpClock& clock, uint32_t warp, uint32_t mask,
                                   const uint64_t* offsets, uint32_t bytes, uint32_t pc,
                                   Race* race) {
  if (in_flight_.empty()) in_flight_.assign(words_.size(), Access{});
  bool found = false;
  Access access;
  access.block = order_->block;
  access.clock = clock.now;
  access.pc = pc;
  access.bytes = 0xf;
  access.write = true;
  access.async = true;
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    access.thread = static_cast<uint16_t>(warp * 32 + lane);
    const uint32_t first = static_cast<uint32_t>(offsets[lane] / 4);
    for (uint32_t index = first; index < first + bytes / 4; ++index) {
      if (!found) found = check(clock, warp, access, index, nullptr, race);
      if (in_flight_[index].bytes == 0) ++words_in_flight_;
      in_flight_[index] = access;
      quiet_[index] = 0;
    }
  }
  return found;
}

void SharedRace::end_async_write(const WarpClock& clock, uint32_t warp, uint32_t mask,
                                 const uint64_t* offsets, uint32_t bytes, uint32_t finished) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint32_t first = static_cast<uint32_t>(offsets[lane] / 4);
    for (uint32_t index = first; index < first + bytes / 4; ++index) {
      Access access = in_flight_[index];
      // Another copy to the same word, which was reported, may have taken its place.
      if (access.bytes == 0 || access.thread != warp * 32 + lane) continue;
      in_flight_[index] = Access{};
      --words_in_flight_;
      access.clock = finished;
      access.late = finished <= order_->before;
      if (access.late) late_.push_back(index);
      remember(clock, warp, access, index);
    }
  }
}

bool SharedRace::begin_bulk(const WarpClock* issuer, Access access, uint32_t holder, uint32_t first,
                            uint32_t words, Race* race) {
  if (in_flight_.empty()) in_flight_.assign(words_.size(), Access{});
  access.bytes = 0xf;
  access.async = true;
  bool found = false;
  for (uint32_t index = first; index < first + words; ++index) {
    if (issuer != nullptr && !found) {
      access.clock = issuer->now;
      found = check(*issuer, access.thread / 32u, access, index, nullptr, race);
    }
    if (in_flight_[index].bytes == 0) ++words_in_flight_;
    in_flight_[index] = access;
    in_flight_[index].block = order_->block;
    in_flight_[index].thread = static_cast<uint16_t>(holder);
    quiet_[index] = 0;
  }
  return found;
}

void SharedRace::end_bulk_write(uint32_t holder, uint32_t clock, uint32_t first, uint32_t words) {
  for (uint32_t index = first; index < first + words; ++index) {
    Access access = in_flight_[index];
    if (access.bytes == 0 || access.thread != holder || !access.write) continue;
    in_flight_[index] = Access{};
    --words_in_flight_;
    access.clock = clock;
    words_[index].write = access;
  }
}

void SharedRace::end_bulk_read(const WarpClock& clock, uint32_t thread, uint32_t first,
                               uint32_t words) {
  for (uint32_t index = first; index < first + words; ++index) {
    Access access = in_flight_[index];
    if (access.bytes == 0 || access.thread != thread || access.write) continue;
    in_flight_[index] = Access{};
    --words_in_flight_;
    access.clock = clock.now;
    remember(clock, thread / 32, access, index);
  }
}

}  // namespace warplings::sim

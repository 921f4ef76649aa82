// Racecheck of the asynchronous proxy: bulk copies into and out of shared memory, and what plain
// writes owe to it.
#include <algorithm>
#include <bit>

#include "checks/cluster_race.h"
#include "checks/explain_race.h"
#include "checks/watch.h"
#include "exec/bulk_copy.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

struct Words {
  uint32_t first = 0, count = 0;
};

// The words of neighbouring pieces, each once.
std::vector<Words> words_of(const BulkPiece* pieces, size_t count) {
  std::vector<Words> out;
  for (size_t i = 0; i < count; ++i) {
    if (pieces[i].bytes == 0) continue;
    uint32_t first = pieces[i].shared / 4;
    const uint32_t end = (pieces[i].shared + pieces[i].bytes + 3) / 4;
    if (!out.empty() && first <= out.back().first + out.back().count && first >= out.back().first) {
      out.back().count = std::max(out.back().count, end - out.back().first);
    } else {
      out.push_back({first, end - first});
    }
  }
  return out;
}

// The thread that does not exist and stands for the copies that an mbarrier counts.
uint32_t holder_of(const Block& home, uint32_t number) {
  return static_cast<uint32_t>(home.warps.size()) * 32 + number % 32;
}

RaceAccess access_of(const Warp& warp, int lane, bool write) {
  RaceAccess access;
  access.block = order_of(warp).block;
  access.pc = warp.pc;
  access.write = write;
  access.async = true;
  access.thread = static_cast<uint16_t>(warp.index * 32 + lane);
  return access;
}

// What a copy that a thread of another block issues meets.
void compare_from_outside(const Warp& warp, int lane, Block& home, const Words& words,
                          const RaceAccess& access) {
  const uint32_t block = home.watch->order.block;
  bool found = false;
  for (uint32_t index = words.first; index < words.first + words.count && !found; ++index) {
    home.watch->race.visit(index, [&](const RaceAccess& earlier) {
      if (found || (!earlier.write && !access.write)) return;
      if (standing_of(warp, static_cast<uint32_t>(lane), block, earlier.thread, earlier.clock) ==
          Standing::kOrdered) {
        return;
      }
      found = true;
      report_race(warp, {earlier, access, uint64_t{index} * 4, true}, RaceNote::kNone);
    });
    RaceAccess read;
    bool awaited = false;
    const auto knows = [&](const RaceAccess& earlier) {
      return standing_of(warp, static_cast<uint32_t>(lane), block, earlier.thread, earlier.clock) ==
             Standing::kOrdered;
    };
    if (found || !access.write ||
        !home.watch->race.find_tensor_read(index, knows, &read, &awaited)) {
      continue;
    }
    found = true;
    report_race(warp, {read, access, uint64_t{index} * 4, true, !awaited}, RaceNote::kNone);
  }
}

// Whether the warp that passed the fence knew of the write.
bool knew_of(const BlockWatch& watch, const WarpClock& known, uint32_t warp, uint32_t lane,
             const RaceAccess& write) {
  const uint32_t other_warp = write.thread / 32, other_lane = write.thread % 32;
  if (other_warp != warp && known.seen[other_warp] >= write.clock) return true;
  if (other_warp == warp && known.all_lanes_seen >= write.clock) return true;
  if (other_warp == warp && !known.lane_seen.empty() &&
      known.lane_seen[lane * 32 + other_lane] >= write.clock) {
    return true;
  }
  return noted_standing(known, BlockOrder{}, lane, watch.order.block, write.thread, write.clock) ==
         Standing::kOrdered;
}

// Whether some fence.proxy.async stands between a plain write and now.
bool is_fenced(const BlockWatch& watch, const RaceAccess& write) {
  if (write.clock <= watch.fenced_before) return true;
  for (uint32_t warp = 0; warp < watch.fences.size(); ++warp) {
    const ProxyFence& fence = watch.fences[warp];
    if (fence.lanes == 0) continue;
    const uint32_t own_lane = write.thread % 32;
    if (write.thread / 32 == warp && fence.own[own_lane] >= write.clock) return true;
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(fence.lanes));
    if (knew_of(watch, fence.known, warp, lane, write)) return true;
  }
  return false;
}

// False after a finding.
bool check_proxy(const Warp& warp, int lane, uint32_t first, uint32_t count) {
  const BlockWatch& watch = *warp.block->watch;
  for (uint32_t index = first; index < first + count; ++index) {
    const RaceAccess& write = watch.race.last_write(index);
    if (!write.exists() || write.async || is_fenced(watch, write)) continue;
    report_missing_proxy_fence(warp, lane, index * 4, write.thread, write.pc);
    return false;
  }
  return true;
}

void check_proxy(const Warp& warp, int lane, const std::vector<Words>& all) {
  for (const Words& words : all) {
    if (!check_proxy(warp, lane, words.first, words.count)) return;
  }
}

}  // namespace

void check_tensor_proxy(const Warp& warp, const uint32_t* units, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (!check_proxy(warp, 0, units[i] / 16 * 4, 4)) return;
  }
}

void race_bulk_arrival(Warp& warp, int lane, Block& home, uint32_t number,
                       const BulkArrival& arrival) {
  if (!warp.checks || !home.watch->race.enabled()) return;
  SharedRace& race = home.watch->race;
  const RaceAccess access = access_of(warp, lane, true);
  const bool own = &home == warp.block;
  const uint32_t holder = holder_of(home, number);
  bool told = false;
  for (const Words& words : words_of(arrival.pieces.data(), arrival.pieces.size())) {
    Race found;
    if (!own) compare_from_outside(warp, lane, home, words, access);
    if (race.begin_bulk(own ? warp.clock : nullptr, access, holder, words.first, words.count,
                        &found) &&
        !told) {
      told = true;
      report_race(warp, found, RaceNote::kNone);
    }
  }
}

void bulk_landed(Block& home, uint32_t offset, uint32_t number, const BulkArrival& arrival) {
  BlockWatch& watch = *home.watch;
  if (!watch.race.enabled()) return;
  uint32_t clock = watch.order.landed;
  for (const WarpClock& warp : watch.clocks) clock = std::max(clock, warp.now);
  watch.order.landed = clock;
  const uint32_t holder = holder_of(home, number);
  for (const Words& words : words_of(arrival.pieces.data(), arrival.pieces.size())) {
    watch.race.end_bulk_write(holder, clock, words.first, words.count);
  }
  std::vector<uint32_t>& threads = watch.objects[offset].arriving.threads;
  if (threads.size() <= holder) threads.resize((holder / 32 + 1) * 32, 0);
  threads[holder] = clock;
}

void race_bulk_departure(Warp& warp, int lane, const BulkPiece* pieces, size_t count) {
  if (!warp.checks || !warp.block->watch->race.enabled()) return;
  SharedRace& race = warp.block->watch->race;
  const RaceAccess access = access_of(warp, lane, false);
  bool told = false;
  const std::vector<Words> all = words_of(pieces, count);
  for (const Words& words : all) {
    Race found;
    if (race.begin_bulk(warp.clock, access, access.thread, words.first, words.count, &found) &&
        !told) {
      told = true;
      report_race(warp, found, RaceNote::kNone);
    }
  }
  if (!told) check_proxy(warp, lane, all);
}

void bulk_was_read(Warp& warp, const BulkDeparture& copy) {
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  const uint32_t thread = static_cast<uint32_t>(warp.index * 32 + copy.lane);
  for (const Words& words : words_of(copy.pieces.data(), copy.pieces.size())) {
    race.end_bulk_read(*warp.clock, thread, words.first, words.count);
  }
}

void race_proxy_read(Warp& warp, int lane, const BulkPiece* pieces, size_t count) {
  if (!warp.checks || !warp.block->watch->race.enabled()) return;
  SharedRace& race = warp.block->watch->race;
  const RaceAccess access = access_of(warp, lane, false);
  const std::vector<Words> all = words_of(pieces, count);
  for (const Words& words : all) {
    Race found;
    const bool races =
        race.begin_bulk(warp.clock, access, access.thread, words.first, words.count, &found);
    race.end_bulk_read(*warp.clock, access.thread, words.first, words.count);
    if (!races) continue;
    report_race(warp, found, RaceNote::kNone);
    return;
  }
  check_proxy(warp, lane, all);
}

void proxy_fence_passed(Warp& warp, uint32_t lanes) {
  BlockWatch& watch = *warp.block->watch;
  if (!watch.race.enabled()) return;
  ProxyFence& fence = watch.fences[static_cast<size_t>(warp.index)];
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const size_t lane = static_cast<size_t>(std::countr_zero(rest));
    fence.own[lane] = warp.clock->now;
  }
  fence.lanes = lanes;
  fence.known = *warp.clock;
  watch.fenced_before = watch.order.before;
  ++warp.clock->now;  // what the lanes do from here on is not covered
}

}  // namespace warplings::sim

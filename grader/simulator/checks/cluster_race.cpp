#include "checks/cluster_race.h"

#include <algorithm>
#include <bit>

#include "checks/watch.h"
#include "exec/cluster.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {

namespace {

// Calls use(lane, word, bytes of it) for each word that a lane of the request touches.
template <class Use>
void each_word(const Request& request, Use use) {
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    uint32_t at = static_cast<uint32_t>(request.address[lane]);
    for (uint32_t left = request.bytes; left > 0;) {
      const uint32_t offset = at & 3, n = std::min(4 - offset, left);
      use(lane, at / 4, static_cast<uint8_t>(((1u << n) - 1) << offset));
      at += n;
      left -= n;
    }
  }
}

// An access of `warp` and an earlier one.
bool compare(const Warp& warp, uint32_t lane, const RaceAccess& earlier, const RaceAccess& now,
             uint32_t word) {
  Race race;
  RaceSearch search{true, nullptr, &race};
  search.look(earlier, now, uint64_t{word} * 4, [&](const RaceAccess& one) {
    return standing_of(warp, lane, one.block, one.thread, one.clock);
  });
  if (search.found) report_race(warp, race, RaceNote::kNone);
  return search.found;
}

void remember(const Warp& warp, uint32_t lane, std::vector<RaceAccess>& list,
              const RaceAccess& access) {
  for (RaceAccess& known : list) {
    const bool alike = known.write == access.write && known.strong == access.strong &&
                       (known.bytes & ~access.bytes) == 0;
    if (!alike) continue;
    if (known.same_thread(access) ||
        standing_of(warp, lane, known.block, known.thread, known.clock) == Standing::kOrdered) {
      known = access;
      return;
    }
  }
  list.push_back(access);
}

void race_remote(Warp& warp, Block& home, const Request& request, RaceAccess like) {
  BlockWatch& watch = *home.watch;
  bool found = race_with_remote(warp, home, request, like);
  each_word(request, [&](uint32_t lane, uint32_t word, uint8_t bytes) {
    RaceAccess access = like;
    access.bytes = bytes;
    access.thread = static_cast<uint16_t>(warp.index * 32 + static_cast<int>(lane));
    watch.race.visit(word, [&](const RaceAccess& earlier) {
      if (!found) found = compare(warp, lane, earlier, access, word);
    });
    remember(warp, lane, watch.remote[word], access);
  });
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint32_t thread = static_cast<uint32_t>(warp.index * 32 + std::countr_zero(rest));
    watch.visitors[{like.block, thread}] = {like.clock, like.pc};
  }
}

}  // namespace

bool race_with_remote(Warp& warp, Block& home, const Request& request, const RaceAccess& like) {
  bool found = false;
  const auto& remote = home.watch->remote;
  each_word(request, [&](uint32_t lane, uint32_t word, uint8_t bytes) {
    const auto list = remote.find(word);
    if (found || list == remote.end()) return;
    RaceAccess access = like;
    access.bytes = bytes;
    access.thread = static_cast<uint16_t>(warp.index * 32 + static_cast<int>(lane));
    for (const RaceAccess& earlier : list->second) {
      if (compare(warp, lane, earlier, access, word)) {
        found = true;
        return;
      }
    }
  });
  return found;
}

void race_shared(Warp& warp, const Instr& in, const Request& request, Block& home) {
  if (&home == warp.block) return race_shared(warp, in, request);
  if (!warp.checks || !home.watch->race.enabled()) return;
  race_remote(warp, home, request, access_by(warp, in, request));
}

namespace {

// A block that was launched without a cluster is one of its own.
ClusterWatch& watch_of(Block& block) {
  if (block.cluster == nullptr) return block.watch->alone;
  if (block.cluster->watch == nullptr) block.cluster->watch.reset(new ClusterWatch);
  return *block.cluster->watch;
}

}  // namespace

void arrived_at_cluster(Warp& warp, uint32_t lanes, bool releases) {
  Knowledge& arriving = watch_of(*warp.block).arriving;
  if (!releases) {
    arriving.join(fenced_past_of_lanes(warp, lanes));
    return;
  }
  arriving.join(past_of_lanes(warp, lanes));
  moment_passes(warp);
}

void cluster_phase_ends(Block& block) {
  ClusterWatch& watch = watch_of(block);
  watch.complete.join(watch.arriving);
}

void waited_for_cluster(Warp& warp, uint32_t lanes) {
  ThreadOrder learnt;
  learnt.known = watch_of(*warp.block).complete;
  teach_lanes(warp.clock->lanes, lanes, learnt);
}

// Whoever touched this block's shared memory must have done so before something that one of its
// threads waited for: else the block might have been gone.
void block_leaves(Block& block) {
  BlockWatch& watch = *block.watch;
  const auto is_known = [&](uint32_t other, uint32_t thread, uint32_t clock) {
    for (const WarpClock& own : watch.clocks) {
      for (uint32_t lane = 0; lane < 32; ++lane) {
        if (noted_standing(own, watch.order, lane, other, thread, clock) == Standing::kOrdered) {
          return true;
        }
        if (own.lanes.empty()) break;
      }
    }
    return false;
  };
  for (const auto& [thread, last] : watch.visitors) {
    if (is_known(thread.first, thread.second, last.first)) continue;
    report_early_leave(block, thread.first, thread.second, last.second);
    return;
  }
}

}  // namespace warplings::sim

#include "checks/cluster_race.h"

#include <algorithm>
#include <bit>

#include "checks/watch.h"
#include "exec/cluster.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {

RaceSide side_of(const SharedRace::Access& access, uint32_t block) {
  return {block,         access.thread, access.pc,    access.write,
          access.strong, access.atomic, access.async, access.tensor};
}

namespace {

bool touch(const SharedRace::Access& a, const SharedRace::Access& b) {
  if ((a.bytes & b.bytes) == 0 || (!a.write && !b.write)) return false;
  return !(a.strong && b.strong && a.size == b.size);
}

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

// An access of `warp` and an earlier one by a thread of `block`.
bool compare(const Warp& warp, uint32_t lane, const SharedRace::Access& earlier, uint32_t block,
             const SharedRace::Access& now, uint32_t word) {
  const uint32_t own = order_of(warp).block;
  if (!touch(earlier, now) || (block == own && earlier.thread == now.thread)) return false;
  if (standing_of(warp, lane, block, earlier.thread, earlier.clock) == Standing::kOrdered) {
    return false;
  }
  report_race(warp, {side_of(earlier, block), side_of(now, own), uint64_t{word} * 4, true, false},
              RaceNote::kNone);
  return true;
}

void remember(const Warp& warp, uint32_t lane, std::vector<RemoteAccess>& list,
              const SharedRace::Access& access) {
  const uint32_t own = order_of(warp).block;
  for (RemoteAccess& known : list) {
    const bool alike = known.access.write == access.write && known.access.strong == access.strong &&
                       (known.access.bytes & ~access.bytes) == 0;
    if (!alike) continue;
    const SharedRace::Access& old = known.access;
    if ((known.block == own && old.thread == access.thread) ||
        standing_of(warp, lane, known.block, old.thread, old.clock) == Standing::kOrdered) {
      known = {access, own};
      return;
    }
  }
  list.push_back({access, own});
}

void race_remote(Warp& warp, Block& home, const Request& request, SharedRace::Access like) {
  BlockWatch& watch = *home.watch;
  const uint32_t block = watch.order.block;
  like.clock = warp.clock->now;
  bool found = race_with_remote(warp, home, request, like);
  each_word(request, [&](uint32_t lane, uint32_t word, uint8_t bytes) {
    SharedRace::Access access = like;
    access.bytes = bytes;
    access.thread = static_cast<uint16_t>(warp.index * 32 + static_cast<int>(lane));
    watch.race.visit(word, [&](const SharedRace::Access& earlier) {
      if (!found) found = compare(warp, lane, earlier, block, access, word);
    });
    remember(warp, lane, watch.remote[word], access);
  });
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint32_t thread = static_cast<uint32_t>(warp.index * 32 + std::countr_zero(rest));
    watch.visitors[{order_of(warp).block, thread}] = {like.clock, like.pc};
  }
}

}  // namespace

bool race_with_remote(Warp& warp, Block& home, const Request& request,
                      const SharedRace::Access& like) {
  bool found = false;
  const auto& remote = home.watch->remote;
  each_word(request, [&](uint32_t lane, uint32_t word, uint8_t bytes) {
    const auto list = remote.find(word);
    if (found || list == remote.end()) return;
    SharedRace::Access access = like;
    access.bytes = bytes;
    access.thread = static_cast<uint16_t>(warp.index * 32 + static_cast<int>(lane));
    for (const RemoteAccess& earlier : list->second) {
      if (compare(warp, lane, earlier.access, earlier.block, access, word)) {
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
  SharedRace::Access access;
  access.pc = warp.pc;
  access.write = request.write;
  access.strong = in.strong;
  access.atomic = request.atomic;
  access.size = static_cast<uint8_t>(std::countr_zero(unsigned{in.size}) & 3);
  race_remote(warp, home, request, access);
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

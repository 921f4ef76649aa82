#include "checks/order.h"

#include <algorithm>
#include <bit>

#include "checks/watch.h"
#include "exec/interpreter.h"

namespace warplings::sim {
namespace {

// Lanes have an order of their own from the first fence or flag on.
std::vector<LaneOrder>& lanes_of(Warp& warp) {
  std::vector<LaneOrder>& lanes = warp.clock->lanes;
  if (lanes.empty()) lanes.resize(32);
  return lanes;
}

template <class Visit>
void each(uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<uint32_t>(std::countr_zero(mask)));
}

// Everything that this lane knows to have happened before its last synchronisation, and all that
// others did.
Knowledge known_to(const Warp& warp, uint32_t lane) {
  const BlockOrder& order = warp.block->watch->order;
  const WarpClock& clock = *warp.clock;
  const uint32_t own_warp = static_cast<uint32_t>(warp.index);
  Knowledge past = order.all.known;
  if (!clock.lanes.empty()) past.join(clock.lanes[lane].known);
  past.add_block(order.block, order.before);
  for (uint32_t v = 0; v < clock.seen.size(); ++v) {
    if (v == own_warp || clock.seen[v] <= order.before) continue;
    uint32_t clocks[32];
    std::fill_n(clocks, 32, clock.seen[v]);
    past.add_warp(order.block, v, clocks);
  }
  if (clock.all_lanes_seen > order.before || !clock.lane_seen.empty()) {
    uint32_t clocks[32];
    for (uint32_t from = 0; from < 32; ++from) {
      const uint32_t seen = clock.lane_seen.empty() ? 0 : clock.lane_seen[lane * 32 + from];
      clocks[from] = std::max(clock.all_lanes_seen, seen);
    }
    past.add_warp(order.block, own_warp, clocks);
  }
  return past;
}

uint32_t thread_of(const Warp& warp, uint32_t lane) {
  return static_cast<uint32_t>(warp.index) * 32 + lane;
}

// The same, and everything that the lane has done.
Knowledge past_of(const Warp& warp, uint32_t lane) {
  Knowledge past = known_to(warp, lane);
  past.add_thread(warp.block->watch->order.block, thread_of(warp, lane), warp.clock->now);
  return past;
}

Knowledge released_by(const Warp& warp, uint32_t lane, Reach reach) {
  Knowledge released = warp.block->watch->order.all.released[reach];
  if (warp.clock->lanes.empty()) return released;
  const LaneOrder& own = warp.clock->lanes[lane];
  released.join(own.released[reach]);
  released.add_thread(warp.block->watch->order.block, thread_of(warp, lane), own.own[reach]);
  return released;
}

// Whether any thread of the block has passed a fence that the lane could build on.
bool has_released(const Warp& warp) {
  const ThreadOrder& all = warp.block->watch->order.all;
  return !warp.clock->lanes.empty() || !all.released[kInBlock].empty() ||
         !all.released[kAcross].empty();
}

void read_note(Warp& warp, uint32_t lane, const NoteTable::Note& note, bool acquires, bool across) {
  ThreadOrder& order = lanes_of(warp)[lane];
  const bool own_block = note.block == warp.block->watch->order.block;
  if (own_block) (acquires ? order.known : order.pending[kInBlock]).join(note.in_block);
  if (across || own_block) (acquires ? order.known : order.pending[kAcross]).join(note.across);
}

}  // namespace

void ThreadOrder::join(const ThreadOrder& other) {
  known.join(other.known);
  for (size_t i = 0; i < 2; ++i) {
    pending[i].join(other.pending[i]);
    released[i].join(other.released[i]);
  }
}

bool ThreadOrder::empty() const {
  return known.empty() && pending[0].empty() && pending[1].empty() && released[0].empty() &&
         released[1].empty();
}

bool ThreadOrder::same(const ThreadOrder& other) const {
  return known.same(other.known) && pending[0].same(other.pending[0]) &&
         pending[1].same(other.pending[1]) && released[0].same(other.released[0]) &&
         released[1].same(other.released[1]);
}

void merge_lanes(const std::vector<LaneOrder>& lanes, uint32_t mask, uint32_t block, uint32_t warp,
                 ThreadOrder* to) {
  if (lanes.empty()) return;
  const LaneOrder* last = nullptr;
  uint32_t own[2][32] = {};
  each(mask, [&](uint32_t lane) {
    const LaneOrder& order = lanes[lane];
    if (last == nullptr || !last->same(order)) to->join(order);
    last = &order;
    for (size_t i = 0; i < 2; ++i) own[i][lane] = order.own[i];
  });
  for (size_t i = 0; i < 2; ++i) to->released[i].add_warp(block, warp, own[i]);
}

void teach_lanes(std::vector<LaneOrder>& lanes, uint32_t mask, const ThreadOrder& from) {
  if (from.empty()) return;
  if (lanes.empty()) lanes.resize(32);
  ThreadOrder before, after;  // of the lane before: most lanes of a warp know the same
  bool first = true;
  each(mask, [&](uint32_t lane) {
    ThreadOrder& order = lanes[lane];
    if (!first && order.same(before)) {
      order = after;
      return;
    }
    before = order;
    order.join(from);
    after = order;
    first = false;
  });
}

NoteTable::Note* NoteTable::find(uint64_t address) {
  const auto it = notes_.find(address);
  return it == notes_.end() ? nullptr : &it->second;
}

Standing noted_standing(const WarpClock& clock, const BlockOrder& order, uint32_t lane,
                        uint32_t block, uint32_t thread, uint32_t at) {
  const ThreadOrder* own = clock.lanes.empty() ? nullptr : &clock.lanes[lane];
  if (order.all.known.covers(block, thread, at)) return Standing::kOrdered;
  if (own != nullptr && own->known.covers(block, thread, at)) return Standing::kOrdered;
  for (size_t i = 0; i < 2; ++i) {
    if (order.all.pending[i].covers(block, thread, at)) return Standing::kPending;
    if (own != nullptr && own->pending[i].covers(block, thread, at)) return Standing::kPending;
  }
  return Standing::kUnordered;
}

Standing standing_of(const Warp& warp, uint32_t lane, uint32_t block, uint32_t thread,
                     uint32_t clock) {
  const BlockOrder& order = warp.block->watch->order;
  if (block == order.block) {
    const WarpClock& own = *warp.clock;
    const uint32_t other_warp = thread / 32, other_lane = thread % 32;
    if (clock <= order.before) return Standing::kOrdered;
    if (other_warp != static_cast<uint32_t>(warp.index)) {
      if (own.seen[other_warp] >= clock) return Standing::kOrdered;
    } else {
      if (other_lane == lane || own.all_lanes_seen >= clock) return Standing::kOrdered;
      if (!own.lane_seen.empty() && own.lane_seen[lane * 32 + other_lane] >= clock) {
        return Standing::kOrdered;
      }
    }
  }
  return noted_standing(*warp.clock, order, lane, block, thread, clock);
}

Knowledge past_of_lanes(const Warp& warp, uint32_t mask) {
  Knowledge past;
  const WarpClock& clock = *warp.clock;
  bool first = true;
  uint32_t last = 0;
  each(mask, [&](uint32_t lane) {
    // Most lanes of a warp know the same.
    const bool alike =
        !first && clock.lane_seen.empty() &&
        (clock.lanes.empty() || clock.lanes[last].known.same(clock.lanes[lane].known));
    if (!alike) past.join(known_to(warp, lane));
    first = false;
    last = lane;
    past.add_thread(warp.block->watch->order.block, thread_of(warp, lane), clock.now);
  });
  return past;
}

Knowledge fenced_past_of_lanes(const Warp& warp, uint32_t mask) {
  Knowledge past;
  if (has_released(warp)) {
    each(mask, [&](uint32_t lane) { past.join(released_by(warp, lane, kAcross)); });
  }
  return past;
}

void order_block(Block& block) {
  BlockOrder& order = block.watch->order;
  uint32_t latest = order.landed;
  for (Warp& warp : block.warps) {
    latest = std::max(latest, warp.clock->now);
    merge_lanes(warp.clock->lanes, ~0u, order.block, static_cast<uint32_t>(warp.index), &order.all);
    warp.clock->lanes.clear();
  }
  // One clock for all from here on, so that one number stands for everything before the barrier.
  order.before = latest;
  for (Warp& warp : block.warps) warp.clock->now = latest + 1;
}

void order_lanes(Warp& warp, uint32_t mask) {
  SharedRace::join_lanes(*warp.clock, (mask & warp.live) == warp.live ? 0xffffffffu : mask);
  std::vector<LaneOrder>& lanes = warp.clock->lanes;
  if (lanes.empty()) return;
  ThreadOrder joined;
  merge_lanes(lanes, mask, warp.block->watch->order.block, static_cast<uint32_t>(warp.index),
              &joined);
  each(mask, [&](uint32_t lane) {
    static_cast<ThreadOrder&>(lanes[lane]) = joined;
    lanes[lane].own = {};
  });
}

void arrive(Warp& warp, Meeting* meeting) {
  WarpClock& clock = *warp.clock;
  meeting->seen.resize(std::max(meeting->seen.size(), clock.seen.size()), 0);
  for (size_t v = 0; v < clock.seen.size(); ++v) {
    meeting->seen[v] = std::max(meeting->seen[v], clock.seen[v]);
  }
  uint32_t& own = meeting->seen[static_cast<size_t>(warp.index)];
  own = std::max(own, clock.now++);  // what the warp does from here on is not part of it
  merge_lanes(clock.lanes, ~0u, warp.block->watch->order.block, static_cast<uint32_t>(warp.index),
              &meeting->order);
}

void take_part(Warp& warp, const Meeting& meeting) {
  WarpClock& clock = *warp.clock;
  const size_t own = static_cast<size_t>(warp.index);
  for (size_t v = 0; v < clock.seen.size(); ++v) {
    if (v != own) clock.seen[v] = std::max(clock.seen[v], meeting.seen[v]);
  }
  clock.all_lanes_seen = std::max(clock.all_lanes_seen, meeting.seen[own]);
  teach_lanes(clock.lanes, ~0u, meeting.order);
}

void fence(Warp& warp, uint32_t mask, Reach reach) {
  std::vector<LaneOrder>& lanes = lanes_of(warp);
  const ThreadOrder& all = warp.block->watch->order.all;
  const bool alike = warp.clock->lane_seen.empty();
  const LaneOrder* last = nullptr;
  each(mask, [&](uint32_t lane) {
    LaneOrder& order = lanes[lane];
    for (size_t i = 0; i <= reach; ++i) {
      order.known.join(order.pending[i]);
      order.known.join(all.pending[i]);
    }
    const bool as_last = alike && last != nullptr && last->known.same(order.known);
    const Knowledge covered = as_last ? last->released[kInBlock] : known_to(warp, lane);
    for (size_t i = 0; i <= reach; ++i) {
      order.released[i] = covered;
      order.own[i] = warp.clock->now;
    }
    last = &order;
  });
  ++warp.clock->now;  // what the lanes do from here on is not covered
}

void strong_access(Warp& warp, const Instr& in, const StrongAccess& access) {
  NoteTable& table =
      access.home != nullptr ? access.home->watch->notes : warp.block->grid->watch->notes;
  const bool leaves = in.releases || has_released(warp);
  if (!leaves && table.empty()) return;
  const bool across =
      in.scope != Scope::kBlock && (access.home == nullptr || access.home->cluster != nullptr);
  const uint32_t block = warp.block->watch->order.block;
  each(access.read | access.written, [&](uint32_t lane) {
    const uint64_t address = access.address[lane];
    const uint32_t bit = 1u << lane;
    NoteTable::Note* note = table.find(address);
    if ((access.read & bit) != 0 && note != nullptr) {
      read_note(warp, lane, *note, in.acquires, across);
    }
    if ((access.written & bit) == 0) return;
    Knowledge near, far;
    if (in.releases) {
      near = past_of(warp, lane);
      if (across) far = near;
    } else if (leaves) {
      near = released_by(warp, lane, kInBlock);
      if (across) far = released_by(warp, lane, kAcross);
    }
    if (!access.read_modify_write && note != nullptr) {
      *note = NoteTable::Note();
      note->block = block;
    }
    if (near.empty() && far.empty()) return;
    if (note == nullptr) {
      note = &table.at(address);
      note->block = block;
    }
    note->across.join(far);
    // Notes that stay inside a block are kept of one block only: the last that left one.
    if (note->block != block && !near.same(far)) note->in_block = Knowledge{};
    if (note->block == block || !near.same(far)) {
      note->block = block;
      note->in_block.join(near);
    }
  });
  if (in.releases) ++warp.clock->now;
}

}  // namespace warplings::sim

// What launches, blocks and synchronisation mean for the checks.
#include "checks/explain_race.h"
#include "checks/global_race.h"
#include "checks/watch.h"
#include "exec/async_copy.h"
#include "exec/events.h"
#include "exec/interpreter.h"
#include "exec/reports.h"

namespace warplings::sim {
namespace {

uint32_t number_of(const Warp& warp) { return static_cast<uint32_t>(warp.index); }

// Plain reads of these words can find nothing new: the engine asks before it tells.
// None where every load is to be known.
void show_quiet_words(Block& block) {
  const SharedRace& race = block.watch->race;
  if (!race.enabled()) return;
  const bool tell_all = block.grid->watch->guesses.watches_shared() || block.cluster != nullptr;
  block.quiet = {race.quiet_epochs(), tell_all ? ~uint32_t{0} : race.epoch()};
}

bool waits_at(const Group& group, int id) {
  return group.state == GroupState::kAtBarrier && group.barrier == id;
}

// Everybody met, but not at one statement: the compiler may copy a barrier, so lines decide.
void check_same_statement(const Block& block, int id) {
  const Warp* first = nullptr;
  uint32_t first_pc = 0;
  for (const Warp& warp : block.warps) {
    for (const Group& group : warp.groups) {
      if (!waits_at(group, id)) continue;
      if (first == nullptr) {
        first = &warp;
        first_pc = group.pc;
      } else if (group.pc != first_pc) {
        const Position a = warp.module->position_of(first_pc).user;
        const Position b = warp.module->position_of(group.pc).user;
        if (a.line != b.line || a.file != b.file) {
          report_mixed_barriers(warp, first_pc, group.pc);
          return;
        }
      }
    }
  }
}

}  // namespace

void DeleteWatch::operator()(GridWatch* watch) const { delete watch; }
void DeleteWatch::operator()(BlockWatch* watch) const { delete watch; }
void DeleteWatch::operator()(ClusterWatch* watch) const { delete watch; }

void launch_begins(Grid& grid, const Function& kernel, bool across) {
  grid.watch.reset(new GridWatch);
  grid.watch->guesses.watch(kernel.atomics, kernel.shared_atomics);
  grid.watch->inner_order = kernel.inner_order;
  GlobalRace::instance().begin(kernel.inner_order, across);
}

void launch_ends(Grid& grid) {
  grid.watch->guesses.settle();
  for (Computed& computed : grid.watch->computed) {
    if (!computed.mattered) report(std::move(computed.otherwise));
  }
}

void block_begins(Block& block) {
  if (block.watch == nullptr) block.watch.reset(new BlockWatch);
  BlockWatch& watch = *block.watch;
  watch.order.start(static_cast<uint32_t>(block.linear));
  watch.notes.clear();
  watch.meetings.fill({});
  watch.objects.clear();
  watch.remote.clear();
  watch.visitors.clear();
  watch.grid_waits.clear();
  watch.alone = {};
  watch.fences.assign(block.warps.size(), {});
  watch.fenced_before = 0;
  watch.clocks.resize(block.warps.size());
  watch.recent_loads.assign(block.warps.size(), {});
  for (size_t i = 0; i < block.warps.size(); ++i) {
    watch.clocks[i].start(block.warps.size() + 1);  // and the copies that arrive
    block.warps[i].clock = &watch.clocks[i];
  }
  if (block.shared.empty()) return;
  watch.race.start(static_cast<uint32_t>(block.shared.size()), block.grid->watch->inner_order,
                   &watch.order);
  show_quiet_words(block);
}

void fence_passed(Warp& warp, uint32_t lanes, Scope scope) {
  fence(warp, lanes, scope == Scope::kBlock ? kInBlock : kAcross);
}

void lanes_met(Warp& warp, uint32_t lanes) { order_lanes(warp, lanes); }

void some_threads_arrive(Warp& warp, int id) {
  arrive(warp, &warp.block->watch->meetings[static_cast<size_t>(id)]);
}

void barrier_complete(Block& block, int id, bool everybody) {
  check_same_statement(block, id);
  Meeting& meeting = block.watch->meetings[static_cast<size_t>(id)];
  if (everybody) {
    order_block(block);
    block.watch->race.next_epoch();
    show_quiet_words(block);
  } else {
    for (Warp& warp : block.warps) {
      bool waited = false;
      for (const Group& group : warp.groups) waited = waited || waits_at(group, id);
      if (waited) take_part(warp, meeting);
    }
  }
  meeting = {};
}

uint32_t moment_of(const Warp& warp) { return warp.clock->now; }
void moment_passes(Warp& warp) { ++warp.clock->now; }

void copies_landed(Warp& warp, const AsyncCopy& copy, uint32_t lanes, uint32_t moment) {
  SharedRace& race = warp.block->watch->race;
  if (!race.enabled()) return;
  race.end_async_write(*warp.clock, number_of(warp), lanes, copy.to.data(), copy.bytes, moment);
}

void object_begins(Block& block, uint32_t offset) { block.watch->objects[offset] = {}; }

void object_phase_ends(Block& block, uint32_t offset) {
  ObjectClocks& object = block.watch->objects[offset];
  object.complete.merge(object.arriving);
  object.arriving = SyncClock{};
}

void arrived_at_object(Warp& warp, uint32_t lanes, Block& home, uint32_t offset) {
  SyncClock& arriving = home.watch->objects[offset].arriving;
  if (&home == warp.block) {
    home.watch->race.release(*warp.clock, number_of(warp), lanes, &arriving);
  } else {
    arriving.order.known.join(past_of_lanes(warp, lanes));
  }
}

void waited_for_object(Warp& warp, uint32_t lanes, uint32_t offset) {
  BlockWatch& watch = *warp.block->watch;
  watch.race.acquire(*warp.clock, number_of(warp), lanes, warp.live,
                     watch.objects[offset].complete);
}

}  // namespace warplings::sim

#include "profile/view_pipeline.h"

#include <algorithm>

namespace warplings::sim {
namespace {

constexpr size_t kMostKept = 2000;     // flights of a block, and waits
constexpr uint32_t kMostBetween = 64;  // instructions from asking to asking again

}  // namespace

uint32_t PipelineView::take(const Warp& warp, const PipelineEvent& event, uint32_t now) {
  const auto number = static_cast<uint16_t>(warp.index);
  switch (event.kind) {
    case PipelineEvent::Kind::kBegins:
      objects_[event.offset] = {{0, {.start = now}}};
      break;
    case PipelineEvent::Kind::kArrives:
    case PipelineEvent::Kind::kArrivesBehind: {
      Phase& of = phase(event.offset, event.number);
      of.latest = std::max(of.latest, now);
      break;
    }
    case PipelineEvent::Kind::kBrings: {
      Phase& of = phase(event.offset, event.number);
      of.latest = std::max(of.latest, now);
      of.has_copies = true;
      add({.kind = Flight::Kind::kIn,
           .warp = number,
           .start = now,
           .pc = warp.pc,
           .shared = event.shared,
           .bytes = event.bytes,
           .object = event.offset,
           .phase = event.number});
      break;
    }
    case PipelineEvent::Kind::kMisses:
      miss(warp, event, now);
      break;
    case PipelineEvent::Kind::kPasses:
      return pass(warp, event, now);
    case PipelineEvent::Kind::kTakes:
      add({.kind = Flight::Kind::kOut,
           .warp = number,
           .start = now,
           .pc = warp.pc,
           .shared = event.shared,
           .bytes = event.bytes});
      break;
    case PipelineEvent::Kind::kWasTaken: {
      const auto open = std::find_if(flights_.begin(), flights_.end(), [&](const Flight& f) {
        return f.kind == Flight::Kind::kOut && f.warp == number && f.end == kNever &&
               f.shared == event.shared;
      });
      if (open != flights_.end()) open->end = now;
      break;
    }
    case PipelineEvent::Kind::kMultiplies:
      multiply(warp, event, now);
      break;
    case PipelineEvent::Kind::kHasMultiplied:
      for (Flight& flight : flights_) {
        const bool of_warp = flight.kind == Flight::Kind::kProduct && flight.warp == number;
        if (of_warp && flight.number <= event.number) flight.end = std::min(flight.end, now);
      }
      break;
  }
  return now;
}

PipelineView::Phase& PipelineView::phase(uint32_t object, uint32_t number) {
  return objects_[object][number];
}

void PipelineView::add(const Flight& flight) {
  if (flights_.size() >= kMostKept) {
    is_cut_ = true;
    return;
  }
  flights_.push_back(flight);
}

// Products of one group that a warpgroup starts one after the other are one flight.
void PipelineView::multiply(const Warp& warp, const PipelineEvent& event, uint32_t now) {
  const auto last = std::find_if(flights_.rbegin(), flights_.rend(), [&](const Flight& f) {
    return f.kind == Flight::Kind::kProduct && f.warp == warp.index;
  });
  if (last != flights_.rend() && last->end == kNever && last->group == event.group) {
    last->number = event.number;
    ++last->count;
    return;
  }
  add({.kind = Flight::Kind::kProduct,
       .warp = static_cast<uint16_t>(warp.index),
       .start = now,
       .pc = warp.pc,
       .number = event.number,
       .group = event.group});
}

void PipelineView::miss(const Warp& warp, const PipelineEvent& event, uint32_t now) {
  std::vector<Spin>& spins = spins_[warp.index];
  for (Spin& spin : spins) {
    PhaseWait& wait = waits_[spin.wait];
    if (wait.object != event.offset || (wait.lanes & event.lanes) == 0) continue;
    wait.lanes |= event.lanes;
    spin.asked = 0;
    return;
  }
  if (waits_.size() >= kMostKept) {
    is_cut_ = true;
    return;
  }
  spins.push_back({waits_.size(), 0});
  waits_.push_back({static_cast<uint16_t>(warp.index), event.lanes, now, kNever, warp.pc,
                    event.offset, event.number});
}

uint32_t PipelineView::pass(const Warp& warp, const PipelineEvent& event, uint32_t now) {
  std::vector<Spin>& spins = spins_[warp.index];
  const auto spin = std::find_if(spins.begin(), spins.end(), [&](const Spin& s) {
    return waits_[s.wait].object == event.offset && (waits_[s.wait].lanes & event.lanes) != 0;
  });
  uint32_t until = now;
  if (event.number != kNoPhase) {
    Phase& of = phase(event.offset, event.number);
    if (of.end == kNever) of.end = of.has_copies ? std::max(of.latest, now) : of.latest;
    until = std::max(until, of.end);
    for (Flight& flight : flights_) {
      const bool belongs = flight.kind == Flight::Kind::kIn && flight.object == event.offset &&
                           flight.phase == event.number;
      if (belongs && flight.end == kNever) flight.end = of.end;
    }
  }
  if (spin != spins.end()) {
    waits_[spin->wait].end = until;
    spins.erase(spin);
  } else if (until > now && waits_.size() < kMostKept) {
    waits_.push_back({static_cast<uint16_t>(warp.index), event.lanes, now, until, warp.pc,
                      event.offset, event.number});
  }
  return until;
}

bool PipelineView::spins(int warp, uint32_t lanes) {
  const auto found = spins_.find(warp);
  if (found == spins_.end()) return false;
  for (auto spin = found->second.begin(); spin != found->second.end(); ++spin) {
    PhaseWait& wait = waits_[spin->wait];
    if ((lanes & ~wait.lanes) != 0) continue;
    if (++spin->asked <= kMostBetween) return true;
    wait.end = wait.start;  // it does something else meanwhile
    found->second.erase(spin);
    return false;
  }
  return false;
}

void PipelineView::finish() {
  for (auto& [object, phases] : objects_) {
    uint32_t start = 0;
    for (auto at = phases.begin(); at != phases.end(); ++at) {
      Phase& of = at->second;
      const bool went_on = std::next(at) != phases.end();
      if (of.start == kNever) of.start = start;
      if (of.end == kNever && went_on) of.end = of.latest;
      if (of.end != kNever) of.end = std::max(of.end, of.start);
      start = of.end == kNever ? of.latest : of.end;
    }
  }
  std::erase_if(waits_, [](const PhaseWait& wait) { return wait.end <= wait.start; });
}

std::vector<PhaseSpan> PipelineView::phases() const {
  std::vector<PhaseSpan> out;
  for (const auto& [object, phases] : objects_) {
    for (const auto& [number, of] : phases) out.push_back({object, number, of.start, of.end});
  }
  return out;
}

}  // namespace warplings::sim

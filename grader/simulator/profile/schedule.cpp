#include "profile/schedule.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace warplings::sim {
namespace {

// A kernel does not start on less of what it asks for: the room of a few threads is none for a
// block.
constexpr double kLeastRate = 1e-3;

}  // namespace

Span Engine::place(double ready, double seconds) {
  double start = ready;
  auto next = busy_.upper_bound(start);
  if (next != busy_.begin()) start = std::max(start, std::prev(next)->second);
  while (next != busy_.end() && next->first < start + seconds) {
    start = std::max(start, next->second);
    ++next;
  }
  if (seconds > 0) busy_[start] = start + seconds;
  return {start, start + seconds};
}

void Engine::forget(double before) {
  std::erase_if(busy_, [&](const auto& interval) { return interval.second < before; });
}

SharedDevice::SharedDevice() { from_[-std::numeric_limits<double>::infinity()] = {}; }

std::map<double, SharedDevice::Use>::iterator SharedDevice::split_at(double time) {
  const auto before = std::prev(from_.upper_bound(time));
  return before->first == time ? before : from_.emplace(time, before->second).first;
}

Span SharedDevice::place(double ready, double seconds, const Demand& demand) {
  if (seconds <= 0) return {ready, ready};
  const Use wants = {demand.resident, demand.issue, demand.memory};
  struct Part {
    double start, end, rate;
  };
  std::vector<Part> parts;
  double time = ready, left = seconds;
  for (auto at = std::prev(from_.upper_bound(ready)); left > 0; ++at) {
    const auto next = std::next(at);
    const double until =
        next == from_.end() ? std::numeric_limits<double>::infinity() : next->first;
    double rate = 1;
    for (size_t i = 0; i < wants.size(); ++i) {
      if (wants[i] > 0) rate = std::min(rate, (1 - at->second[i]) / wants[i]);
    }
    if (rate >= kLeastRate) {
      const double end = std::min(until, time + left / rate);
      parts.push_back({time, end, rate});
      left = end < until ? 0 : left - (end - time) * rate;
    }
    time = until;
  }
  for (const Part& part : parts) {
    const auto end = split_at(part.end);
    for (auto at = split_at(part.start); at != end; ++at) {
      for (size_t i = 0; i < wants.size(); ++i) at->second[i] += part.rate * wants[i];
    }
  }
  return {parts.front().start, parts.back().end};
}

void SharedDevice::forget(double before) {
  const auto kept = std::prev(from_.upper_bound(before));
  if (kept == from_.begin()) return;
  const Use use = kept->second;
  from_.erase(from_.begin(), std::next(kept));
  from_[-std::numeric_limits<double>::infinity()] = use;
}

}  // namespace warplings::sim

// Vector clocks over streams: what a stream, an event or the host knows to be finished.
#ifndef WARPLINGS_SIMULATOR_CHECKS_ORDER_CLOCK_H_
#define WARPLINGS_SIMULATOR_CHECKS_ORDER_CLOCK_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

namespace warplings::sim {

// The item `sequence` (from 1) of the stream with that number.
struct WorkId {
  uint64_t stream = 0;
  uint64_t sequence = 0;
  auto operator<=>(const WorkId&) const = default;
};

// For each stream the number of its last item that is included.
class OrderClock {
  using Entries = std::vector<std::pair<uint64_t, uint64_t>>;  // sorted by stream
  template <class E>
  static auto find(E& entries, uint64_t stream) {
    return std::lower_bound(entries.begin(), entries.end(), stream,
                            [](const auto& entry, uint64_t key) { return entry.first < key; });
  }

 public:
  uint64_t of(uint64_t stream) const {
    const auto at = find(entries_, stream);
    return at != entries_.end() && at->first == stream ? at->second : 0;
  }
  bool includes(const WorkId& id) const { return of(id.stream) >= id.sequence; }
  void raise(const WorkId& id) {
    const auto at = find(entries_, id.stream);
    if (at != entries_.end() && at->first == id.stream) {
      at->second = std::max(at->second, id.sequence);
    } else {
      entries_.insert(at, {id.stream, id.sequence});
    }
  }
  void join(const OrderClock& other) {
    for (const auto& [stream, sequence] : other.entries_) raise({stream, sequence});
  }
  bool includes_all(const OrderClock& other) const {
    return std::all_of(other.entries_.begin(), other.entries_.end(), [&](const auto& entry) {
      return includes({entry.first, entry.second});
    });
  }
  void clear() { entries_.clear(); }

 private:
  Entries entries_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_ORDER_CLOCK_H_

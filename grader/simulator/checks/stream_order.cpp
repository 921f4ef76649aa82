#include "checks/stream_order.h"

#include <algorithm>
#include <utility>

#include "core/machine.h"
#include "exec/launch.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

// Work that has run and that the host never waits for is forgotten from here on, oldest first.
constexpr size_t kMostEntries = 4096;
constexpr size_t kMostHostAccesses = 64;  // remembered for one launch
constexpr uint64_t kCallersStream = 0;    // in which caller_works(); others count from 1

bool host_sees(uint64_t address) {
  const DeviceMemory& memory = DeviceMemory::instance();
  const Allocation* allocation = memory.in_arena(address) ? memory.allocation_at(address) : nullptr;
  return allocation != nullptr && !allocation->freed &&
         (allocation->kind == AllocationKind::kManaged ||
          allocation->kind == AllocationKind::kHostPinned);
}

bool touches_memory(const Work& work) {
  return work.kind == WorkKind::kKernel || work.kind == WorkKind::kGraph || !work.ranges.empty();
}

bool runs_kernels(const Work& work) {
  return work.kind == WorkKind::kKernel || work.kind == WorkKind::kGraph;
}

}  // namespace

StreamOrder& StreamOrder::instance() { return Machine::get<StreamOrder>(); }

OrderEntry* StreamOrder::find(const WorkId& id) {
  const auto at = index_.find(id);
  return at == index_.end() ? nullptr : &*at->second;
}

// What is finished when work that is put into the stream now begins.
OrderClock StreamOrder::clock_of_next(const StreamTraits& stream) {
  StreamEnd& end = streams_[stream.id];
  end.traits = stream;
  OrderClock clock = end.clock;
  clock.join(host_);
  for (const auto& [id, other] : streams_) {
    const bool by_default_stream = stream.is_default
                                       ? other.traits.is_blocking
                                       : stream.is_blocking && other.traits.is_default;
    if (by_default_stream && other.traits.device == stream.device) clock.join(other.clock);
  }
  return clock;
}

OrderEntry& StreamOrder::add(const WorkId& id, const StreamTraits& stream,
                             std::shared_ptr<const Work> work, OrderClock before) {
  if (entries_.size() >= kMostEntries) {
    const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                     [](const OrderEntry& entry) { return entry.has_run; });
    if (oldest != entries_.end()) erase(oldest);
  }
  OrderEntry& entry = entries_.emplace_back();
  entry.id = id;
  entry.stream = stream;
  entry.work = std::move(work);
  entry.before = std::move(before);
  entry.host_at_call = host_;
  index_[id] = std::prev(entries_.end());
  ++entries_of_stream_[id.stream];
  return entry;
}

void StreamOrder::enqueued(const StreamTraits& stream, uint64_t sequence,
                           std::shared_ptr<const Work> work) {
  if (!engine_options().checks) return;
  guard_.close_again();
  OrderClock clock = clock_of_next(stream);
  const WorkId id{stream.id, sequence};
  OrderClock& end = streams_[stream.id].clock;
  end = clock;
  end.raise(id);
  if (work == nullptr) return;
  if (work->kind == WorkKind::kHostFunction) host_functions_[id] = clock;
  if (!touches_memory(*work)) return;
  const OrderEntry& entry = add(id, stream, std::move(work), std::move(clock));
  protect(entry);
  if (OrderEntry* before = kernel_before(entry)) before->is_overlapped = true;
}

// That may still run when this one begins: the launch says so, and the host has not waited.
OrderEntry* StreamOrder::kernel_before(const OrderEntry& entry) {
  if (!entry.work->programmatic || entry.id.sequence < 2) return nullptr;
  OrderEntry* before = find({entry.id.stream, entry.id.sequence - 1});
  const bool overlaps = before != nullptr && before->work->kind == WorkKind::kKernel &&
                        !entry.host_at_call.includes(before->id);
  return overlaps ? before : nullptr;
}

void StreamOrder::caller_works(const std::vector<StreamTraits>& streams,
                               std::vector<MemoryRange> ranges) {
  if (!engine_options().checks || ranges.empty()) return;
  OrderClock clock;
  std::string names;
  for (const StreamTraits& stream : streams) {
    clock.join(clock_of_next(stream));
    names += (names.empty() ? "" : " and ") + stream.name;
  }
  const WorkId id{kCallersStream, ++caller_works_};
  for (const StreamTraits& stream : streams) {
    OrderClock& end = streams_[stream.id].clock;
    end.join(clock);
    end.raise(id);
  }
  auto work = std::make_shared<Work>();
  work->kind = WorkKind::kCaller;
  work->ranges = std::move(ranges);
  StreamTraits traits = streams.front();
  traits.name = names;
  OrderEntry& entry = add(id, traits, work, std::move(clock));
  for (const MemoryRange& range : work->ranges) {
    entry.footprint.add(range.address, range.size, true);
  }
  entry.has_run = true;
  compare(entry);
}

void StreamOrder::protect(const OrderEntry& entry) {
  if (entry.work->blocking) return;
  for (const MemoryRange& range : entry.work->ranges) {
    if (host_sees(range.address)) guard_.add(entry.id, range.address, range.size, !range.write);
  }
  for (const MemoryRange& range : entry.work->host_visible) {
    guard_.add(entry.id, range.address, range.size, false);
  }
  if (!runs_kernels(*entry.work)) return;
  for (const MemoryRange& range : managed_variables_) {
    guard_.add(entry.id, range.address, range.size, false);
  }
}

void StreamOrder::erase(Entries::iterator entry) {
  if (--entries_of_stream_[entry->id.stream] == 0) entries_of_stream_.erase(entry->id.stream);
  index_.erase(entry->id);
  entries_.erase(entry);
}

OrderClock StreamOrder::end_of(uint64_t stream) const {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? OrderClock() : at->second.clock;
}

void StreamOrder::stream_waits(const StreamTraits& stream, const OrderClock& event) {
  StreamEnd& end = streams_[stream.id];
  end.traits = stream;
  end.clock.join(event);
}

void StreamOrder::host_waits(const OrderClock& event) {
  host_.join(event);
  guard_.release(host_);
}

void StreamOrder::host_waits(const StreamTraits& stream) {
  host_.join(end_of(stream.id));
  if (stream.is_default) {
    for (const auto& [id, other] : streams_) {
      if (other.traits.is_blocking && other.traits.device == stream.device) host_.join(other.clock);
    }
  }
  guard_.release(host_);
}

void StreamOrder::host_waits_for_device(int device) {
  for (const auto& [id, other] : streams_) {
    if (other.traits.device == device) host_.join(other.clock);
  }
  guard_.release(host_);
}

void StreamOrder::host_waits_for_start_of(const WorkId& id) {
  if (const OrderEntry* entry = find(id)) host_waits(entry->before);
}

void StreamOrder::host_waited() {
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    if (can_meet_nobody(*entry)) erase(entry);
  }
  forget_what_is_over();
}

// A kernel that was given a pointer may use it or not, and is not looked at.
void StreamOrder::host_gives_back(const MemoryRange& memory, const char* call,
                                  const Position& where) const {
  for (const OrderEntry& entry : entries_) {
    if (entry.work->kind == WorkKind::kCaller || is_ordered_with_host(entry)) continue;
    for (const MemoryRange& range : entry.work->ranges) {
      if (range.address >= memory.address + memory.size) continue;
      if (memory.address >= range.address + range.size) continue;
      return report_given_back(entry, call, where);
    }
  }
}

// With nothing left that could meet something, old clocks order nothing.
void StreamOrder::forget_what_is_over() {
  if (!entries_.empty() || !host_functions_.empty()) return;
  for (const auto& [id, end] : streams_) {
    if (!host_.includes_all(end.clock)) return;
  }
  streams_.clear();
  host_.clear();
}

bool StreamOrder::is_unordered(const OrderEntry& a, const OrderEntry& b) const {
  return a.id != b.id && !a.before.includes(b.id) && !b.before.includes(a.id);
}

bool StreamOrder::needs_footprint(const OrderEntry& entry) const {
  if (entry.is_overlapped) return true;
  if (!entry.host_accesses.empty()) return true;
  if (!host_.includes(entry.id)) {  // work that is enqueued later may meet it, and so may the host
    return streams_.size() > 1 || guard_.is_used();
  }
  if (entries_of_stream_.size() < 2) return false;
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const OrderEntry& other) { return is_unordered(entry, other); });
}

void StreamOrder::starts(const WorkId& id) {
  OrderEntry* entry = find(id);
  running_ = entry;
  overlapped_.clear();
  for (const OrderEntry* last = entry; last != nullptr && !last->has_waited;) {
    OrderEntry* before = kernel_before(*last);
    if (before != nullptr) overlapped_.push_back(before);
    last = before;
  }
  if (entry == nullptr || !needs_footprint(*entry)) return;
  for (const MemoryRange& range : entry->work->ranges) {
    entry->footprint.add(range.address, range.size, range.write);
  }
  // A library call may find operands in device memory.
  const bool finds_more = runs_kernels(*entry->work) || entry->work->kind == WorkKind::kLibrary;
  if (finds_more) Footprint::record_into(&entry->footprint);
}

void StreamOrder::ends(const WorkId& id) {
  Footprint::record_into(nullptr);
  OrderEntry* entry = find(id);
  if (entry == nullptr) return;
  entry->has_run = true;
  compare(*entry);
  learn_from_flags(*entry);
  running_ = nullptr;
  const bool may_meet_the_next = entry->is_overlapped && !entry->has_waited;
  for (OrderEntry* before : std::exchange(overlapped_, {})) {
    if (may_meet_the_next) continue;
    before->is_overlapped = false;
    if (can_meet_nobody(*before)) erase(index_.at(before->id));
  }
  if (can_meet_nobody(*entry)) erase(index_.at(id));
}

void StreamOrder::running_waits() {
  if (running_ != nullptr) running_->has_waited = true;
}

void StreamOrder::dropped(const WorkId& id) {
  host_functions_.erase(id);
  OrderEntry* entry = find(id);
  if (entry == nullptr) return;
  if (OrderEntry* before = kernel_before(*entry)) before->is_overlapped = false;
  erase(index_.at(id));
}

void StreamOrder::host_function_starts(const WorkId& id) {
  const auto known = host_functions_.find(id);
  if (known != host_functions_.end()) {
    host_function_knows_ = std::move(known->second);
    host_functions_.erase(known);
  } else if (const OrderEntry* graph = find(id)) {
    // A node of a graph: counts as ordered with all its other nodes.
    host_function_knows_ = graph->before;
  }
  host_function_knows_.raise(id);
  host_function_ = id;
}

// The function may have told another thread, by means that cannot be seen: the host knows now.
void StreamOrder::host_function_ends() {
  host_function_ = {};
  guard_.close_again();
  host_waits(host_function_knows_);
  host_function_knows_.clear();
}

void StreamOrder::reset() {
  guard_.clear();
  Footprint::record_into(nullptr);
  overlapped_.clear();
  running_ = nullptr;
  streams_.clear();
  host_.clear();
  entries_.clear();
  index_.clear();
  entries_of_stream_.clear();
  host_functions_.clear();
  host_function_ = {};
}

void StreamOrder::compare(OrderEntry& entry) {
  for (const HostAccess& access : std::exchange(entry.host_accesses, {})) {
    if (const auto conflict = entry.footprint.conflict_with_host(access.address, access.write)) {
      report_host_access(entry, access, *conflict);
    }
  }
  if (entries_of_stream_.size() < 2) return;
  bool entry_is_first = false;  // entries_ are in the order of the calls
  for (const OrderEntry& other : entries_) {
    if (other.id == entry.id) entry_is_first = true;
    if (!other.has_run || !is_unordered(entry, other)) continue;
    const OrderEntry& first = entry_is_first ? entry : other;
    const OrderEntry& second = entry_is_first ? other : entry;
    if (const auto conflict = first.footprint.conflict_with(second.footprint)) {
      report_unordered(first, second, *conflict);
    }
  }
}

// A kernel that raised a flag where the host looks: what the host does next may depend on it.
void StreamOrder::learn_from_flags(const OrderEntry& entry) {
  if (host_.includes(entry.id)) return;
  bool raised = false;
  entry.footprint.strong_writes().for_each_page(
      [&](uint64_t address) { raised = raised || host_sees(address); });
  if (!raised) return;
  OrderClock knows = entry.before;
  knows.raise(entry.id);
  host_waits(knows);
}

bool StreamOrder::can_meet_nobody(const OrderEntry& entry) const {
  if (!entry.has_run || entry.is_overlapped || !host_.includes(entry.id)) return false;
  if (entries_of_stream_.size() < 2) return true;
  return std::none_of(entries_.begin(), entries_.end(), [&](const OrderEntry& other) {
    return !other.has_run && is_unordered(entry, other);
  });
}

bool StreamOrder::is_ordered_with_host(const OrderEntry& entry) const {
  if (host_function_.sequence == 0) return host_.includes(entry.id);
  return host_function_knows_.includes(entry.id) || entry.before.includes(host_function_);
}

void StreamOrder::host_touched(uint64_t address, bool write, const Position& where) {
  const HostAccess access{address, write || guard_.lets_host_read(address), where,
                          host_function_.sequence != 0};
  for (OrderEntry& entry : entries_) {
    if (is_ordered_with_host(entry)) continue;
    if (runs_kernels(*entry.work) && !entry.has_run) {
      if (entry.host_accesses.size() < kMostHostAccesses) entry.host_accesses.push_back(access);
      continue;
    }
    for (const MemoryRange& range : entry.work->ranges) {
      if (address - range.address >= range.size || (!range.write && !access.write)) continue;
      report_host_access(entry, access, {address, range.write, access.write});
      break;
    }
    if (!runs_kernels(*entry.work)) continue;
    if (const auto conflict = entry.footprint.conflict_with_host(address, access.write)) {
      report_host_access(entry, access, *conflict);
    }
  }
  guard_.open(address);
}

void StreamOrder::add_managed_variable(uint64_t address, uint64_t size) {
  managed_variables_.push_back({address, size, true});
}

}  // namespace warplings::sim

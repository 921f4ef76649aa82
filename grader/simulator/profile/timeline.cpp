#include "profile/timeline.h"

#include <algorithm>
#include <queue>
#include <utility>

#include "core/machine.h"
#include "profile/timeline_model.h"
#include "profile/view_log.h"
#include "profile/view_recorder.h"

namespace warplings::sim {
namespace {

constexpr size_t kRememberedItems = 1 << 16;

struct CallCost {
  std::string_view name;
  double TimelineModel::*cost;
};
constexpr CallCost kCallCosts[] = {
    {"__cudaLaunchKernel", &TimelineModel::launch},
    {"cudaLaunchKernel", &TimelineModel::launch},
    {"cudaLaunchKernelExC", &TimelineModel::launch},
    {"cudaLaunchCooperativeKernel", &TimelineModel::launch},
    {"cudaLaunchHostFunc", &TimelineModel::copy_call},
    {"cudaStreamAddCallback", &TimelineModel::copy_call},
    {"cudaEventRecord", &TimelineModel::event_call},
    {"cudaEventRecordWithFlags", &TimelineModel::event_call},
    {"cudaStreamWaitEvent", &TimelineModel::event_call},
    {"cudaStreamQuery", &TimelineModel::event_call},
    {"cudaEventQuery", &TimelineModel::event_call},
    {"cudaEventCreate", &TimelineModel::event_call},
    {"cudaEventCreateWithFlags", &TimelineModel::event_call},
    {"cudaMallocAsync", &TimelineModel::copy_call},
    {"cudaMallocFromPoolAsync", &TimelineModel::copy_call},
    {"cudaFreeAsync", &TimelineModel::copy_call},
    {"cudaGraphLaunch", &TimelineModel::graph_launch},
    {"cudaStreamCreate", &TimelineModel::create},
    {"cudaStreamCreateWithFlags", &TimelineModel::create},
    {"cudaStreamCreateWithPriority", &TimelineModel::create},
    {"cudaMalloc", &TimelineModel::allocate},
    {"cudaMallocPitch", &TimelineModel::allocate},
    {"cudaMalloc3D", &TimelineModel::allocate},
    {"cudaMallocManaged", &TimelineModel::allocate},
    {"cudaFree", &TimelineModel::allocate},
    {"cudaMallocHost", &TimelineModel::allocate_host},
    {"cudaHostAlloc", &TimelineModel::allocate_host},
    {"cudaHostRegister", &TimelineModel::allocate_host},
    {"cudaFreeHost", &TimelineModel::allocate_host},
};

double cost_of(std::string_view name) {
  const TimelineModel& model = timeline_model();
  if (name.starts_with("cudaMemcpy") || name.starts_with("cudaMemset")) return model.copy_call;
  for (const CallCost& call : kCallCosts) {
    if (call.name == name) return model.*call.cost;
  }
  return model.call;
}

double copy_rate(const Work& work) {
  const TimelineModel& model = timeline_model();
  switch (work.path) {
    case CopyPath::kToDevice:
      return work.pageable ? model.pageable_rate_to_device : model.pinned_rate;
    case CopyPath::kToHost:
      return work.pageable ? model.pageable_rate_to_host : model.pinned_rate;
    case CopyPath::kPeer:
      return model.peer_rate;
    case CopyPath::kOnHost:
      return model.host_rate;
    case CopyPath::kOnDevice:
      return model.dram_rate / (work.kind == WorkKind::kCopy ? 2 : 1);  // read and written
  }
  return model.host_rate;
}

// Its length is known when it runs.
bool is_launch(const Work& work) {
  return work.kind == WorkKind::kKernel || work.kind == WorkKind::kLibrary;
}

bool runs_on_multiprocessors(const Work& work) {
  if (is_launch(work) || work.kind == WorkKind::kFill) return true;
  return work.kind == WorkKind::kCopy && work.path == CopyPath::kOnDevice;
}

// Lengths that are known before the work runs.
void set_length(TimelineItem* item) {
  const TimelineModel& model = timeline_model();
  const Work& work = *item->work;
  if (work.kind == WorkKind::kCopy || work.kind == WorkKind::kFill) {
    const double moving = static_cast<double>(work.bytes) / copy_rate(work);
    item->seconds = model.copy_latency + moving;
    if (runs_on_multiprocessors(work)) item->demand.memory = moving / item->seconds;
  } else if (work.kind == WorkKind::kHostFunction) {
    item->seconds = model.host_function;
  }
}

}  // namespace

Timeline& Timeline::instance() { return Machine::get<Timeline>(); }

TimelineItem* Timeline::find(uint64_t serial) {
  if (items_.empty() || serial < items_.front().serial || serial > items_.back().serial) {
    return nullptr;
  }
  return &items_[serial - items_.front().serial];
}

void Timeline::host_enters(const char* name, const void* returns_to) {
  call_.call = name;
  call_.returns_to = returns_to;
  host_call(name);
}

void Timeline::host_call(std::string_view name) { host_ += cost_of(name); }

void Timeline::graph_instantiated(size_t nodes) {
  host_ += timeline_model().instantiate_node * static_cast<double>(nodes);
}

// The last item of the stream, the events it waits for, and what the default stream implies.
std::vector<uint64_t> Timeline::dependencies(const StreamTraits& stream) {
  StreamEnd& end = streams_[stream.id];
  end.traits = stream;
  std::vector<uint64_t> after = std::exchange(end.waits, {});
  if (end.last != 0) after.push_back(end.last);
  for (const auto& [id, other] : streams_) {
    const bool implied = stream.is_default ? other.traits.is_blocking
                                           : stream.is_blocking && other.traits.is_default;
    if (implied && other.traits.device == stream.device && other.last != 0) {
      after.push_back(other.last);
    }
  }
  return after;
}

TimelineItem& Timeline::add(const StreamTraits& stream, std::shared_ptr<const Work> work) {
  TimelineItem& item = items_.emplace_back();
  item.serial = next_serial_++;
  item.work = std::move(work);
  item.stream = stream;
  item.issued = host_;
  if (item.work != nullptr) set_length(&item);
  unplaced_.insert(item.serial);
  return item;
}

uint64_t Timeline::enqueued(const StreamTraits& stream, std::shared_ptr<const Work> work) {
  const TimelineModel& model = timeline_model();
  if (work != nullptr && is_launch(*work) && loaded_.emplace(work->name, stream.device).second) {
    host_ += model.first_launch;
  }
  std::vector<uint64_t> after = dependencies(stream);
  TimelineItem& item = add(stream, std::move(work));
  item.after = std::move(after);
  // Pageable memory is staged by the host, during the call, while the first parts travel.
  if (item.work != nullptr && item.work->pageable && !item.work->blocking) {
    host_ += static_cast<double>(item.work->bytes) / copy_rate(*item.work);
  }
  streams_[stream.id].last = item.serial;
  return item.serial;
}

uint64_t Timeline::enqueued_graph(const StreamTraits& stream,
                                  const std::vector<std::shared_ptr<const Work>>& nodes,
                                  const std::vector<std::vector<size_t>>& after) {
  const std::vector<uint64_t> before = dependencies(stream);
  const uint64_t first = next_serial_;
  std::vector<bool> is_last(nodes.size(), true);
  for (size_t i = 0; i < nodes.size(); ++i) {
    TimelineItem& item = add(stream, nodes[i]);
    item.in_graph = true;
    for (const size_t earlier : after[i]) {
      item.after.push_back(first + earlier);
      is_last[earlier] = false;
    }
    if (after[i].empty()) item.after = before;
  }
  // What follows in the stream waits for all that nothing in the graph waits for.
  TimelineItem& join = add(stream, nullptr);
  join.in_graph = true;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (is_last[i]) join.after.push_back(first + i);
  }
  if (nodes.empty()) join.after = before;
  join.has_run = true;
  streams_[stream.id].last = join.serial;
  return first;
}

std::shared_ptr<double> Timeline::event_time(uint64_t serial) {
  TimelineItem* item = find(serial);
  if (item->reached == nullptr) item->reached = std::make_shared<double>(item->end);
  return item->reached;
}

void Timeline::stream_waits(const StreamTraits& stream, uint64_t event) {
  StreamEnd& end = streams_[stream.id];
  end.traits = stream;
  end.waits.push_back(event);
}

void Timeline::starts(uint64_t serial) { running_ = serial; }

void Timeline::kernel_took(const KernelTime& time) {
  if (TimelineItem* item = find(running_)) {
    item->seconds = time.seconds;
    item->demand = time.demand;
    last_time_[item->work->name] = time;
    if (delays_.empty()) return;
    item->seconds += delays_.front();
    delays_.pop_front();
  }
}

void Timeline::ends(uint64_t serial) {
  if (TimelineItem* item = find(serial)) item->has_run = true;
  running_ = 0;
}

// An estimate, as if nobody had to wait for an engine: to place work now would favour what happens
// to run first in the simulator.
double Timeline::running_since() {
  for (const uint64_t serial : unplaced_) {
    if (serial > running_) break;
    TimelineItem& item = *find(serial);
    item.start = ready_time(item);
    item.end = item.start + item.seconds;
  }
  const TimelineItem* item = find(running_);
  return item == nullptr ? host_ : item->start;
}

double Timeline::ready_time(const TimelineItem& item) {
  const TimelineModel& model = timeline_model();
  const bool is_work = item.work != nullptr;
  double ready = item.issued + (is_work ? model.launch_latency : 0);
  for (const uint64_t serial : item.after) {
    const TimelineItem* before = find(serial);
    if (before == nullptr) continue;  // long over
    double gap = 0;
    if (is_work) {
      gap = item.in_graph && before->in_graph ? model.graph_gap : model.kernel_gap;
      if (before->stream.id != item.stream.id) gap += model.stream_gap;
    }
    ready = std::max(ready, before->end + gap);
  }
  return ready;
}

Span Timeline::reserve(Devices& devices, const TimelineItem& item, double ready) {
  Device& device = devices[item.stream.device];
  if (item.work != nullptr && runs_on_multiprocessors(*item.work)) {
    return device.multiprocessors.place(ready, item.seconds, item.demand);
  }
  if (item.work != nullptr && item.work->kind == WorkKind::kCopy &&
      item.work->path != CopyPath::kOnHost) {
    Engine& engine = item.work->path == CopyPath::kToDevice ? device.to_device
                     : item.work->path == CopyPath::kToHost ? device.to_host
                                                            : device.peer;
    return engine.place(ready, item.seconds);
  }
  return {ready, ready + item.seconds};
}

// Only a launch that has not run has no length; it is expected to take what it took the last time.
bool Timeline::has_length(TimelineItem& item) const {
  if (item.has_run || item.work == nullptr || !is_launch(*item.work)) return true;
  const auto last = last_time_.find(item.work->name);
  if (last == last_time_.end()) return false;
  item.seconds = last->second.seconds;
  item.demand = last->second.demand;
  return true;
}

// In the order in which work becomes ready. What is enqueued and has not run yet, because nothing
// has asked for it, takes its place among the others, and is placed for good when it has run.
void Timeline::place_what_has_run() {
  using Candidate = std::pair<double, uint64_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> ready;
  std::map<uint64_t, std::vector<uint64_t>> followers;
  std::map<uint64_t, size_t> missing;
  bool all_have_run = true;
  for (const uint64_t serial : unplaced_) {
    TimelineItem& item = *find(serial);
    if (!has_length(item)) continue;
    all_have_run = all_have_run && item.has_run;
    for (const uint64_t before : item.after) {
      if (unplaced_.contains(before)) {
        followers[before].push_back(serial);
        ++missing[serial];
      }
    }
    if (!missing.contains(serial)) ready.emplace(ready_time(item), serial);
  }
  Devices expected = all_have_run ? Devices{} : devices_;
  while (!ready.empty()) {
    const auto [time, serial] = ready.top();
    ready.pop();
    TimelineItem& item = *find(serial);
    const Span span = reserve(all_have_run ? devices_ : expected, item, time);
    item.start = span.start;
    item.end = span.end;
    if (item.has_run) {
      if (!all_have_run) reserve(devices_, item, span.start);
      item.is_placed = true;
      if (item.reached != nullptr) *item.reached = item.end;
      unplaced_.erase(serial);
    }
    for (const uint64_t follower : followers[serial]) {
      if (--missing[follower] == 0) ready.emplace(ready_time(*find(follower)), follower);
    }
  }
  forget_old();
}

void Timeline::host_reaches(double time) {
  if (time > host_) {
    call_.start = host_;
    call_.end = time;
    host_waits_.push_back(call_);
    host_ = time;
  }
  host_ += timeline_model().wake;
}

void Timeline::host_waits_for(uint64_t serial) {
  place_what_has_run();
  if (const TimelineItem* item = find(serial)) host_reaches(item->end);
}

void Timeline::host_waits_for_last(const StreamTraits& stream) {
  host_waits_for(streams_[stream.id].last);
}

void Timeline::host_waits_for_stream(const StreamTraits& stream) {
  place_what_has_run();
  double end = 0;
  for (const auto& [id, other] : streams_) {
    const bool included = id == stream.id || (stream.is_default && other.traits.is_blocking &&
                                              other.traits.device == stream.device);
    const TimelineItem* item = included ? find(other.last) : nullptr;
    if (item != nullptr) end = std::max(end, item->end);
  }
  host_reaches(end);
}

void Timeline::host_waits_for_device(int device) {
  place_what_has_run();
  double end = 0;
  for (const auto& [id, other] : streams_) {
    const TimelineItem* item = other.traits.device == device ? find(other.last) : nullptr;
    if (item != nullptr) end = std::max(end, item->end);
  }
  host_reaches(end);
}

void Timeline::forget_old() {
  while (items_.size() > kRememberedItems && items_.front().is_placed &&
         items_.front().end <= host_) {
    items_.pop_front();
  }
  if (host_waits_.size() > 2 * kRememberedItems) {
    host_waits_.erase(host_waits_.begin(), host_waits_.begin() + kRememberedItems);
  }
  if (!unplaced_.empty()) return;
  for (auto& [index, device] : devices_) {
    for (Engine* engine : {&device.to_device, &device.to_host, &device.peer}) {
      engine->forget(host_);
    }
    device.multiprocessors.forget(host_);
  }
}

void Timeline::reset() {
  place_what_has_run();
  if (ViewRecorder::instance().is_on()) ViewLog::instance().keep_stretch(*this);
  while (!items_.empty() && items_.front().is_placed && items_.front().end <= host_) {
    items_.pop_front();
  }
  host_waits_.clear();
}

void Timeline::forget_pending() {
  for (TimelineItem& item : items_) {
    if (item.has_run) continue;
    item.seconds = 0;
    item.has_run = true;
  }
  place_what_has_run();
}

}  // namespace warplings::sim

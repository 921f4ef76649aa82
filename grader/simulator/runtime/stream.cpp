#include "runtime/stream.h"

#include <algorithm>
#include <utility>

#include "checks/node_order.h"
#include "checks/stream_order.h"
#include "core/machine.h"
#include "exec/launch.h"
#include "profile/timeline.h"
#include "runtime/api.h"
#include "runtime/device_state.h"
#include "runtime/error_state.h"
#include "runtime/view_file.h"

namespace warplings::sim {
namespace {

// Work runs early when more than this is waiting: dependencies are followed by recursion, and
// captured copies take memory.
constexpr size_t kMaxBacklog = 2000;

StreamTraits traits_of(const StreamState& stream) {
  return {stream.id, stream.device, stream.is_default, stream.is_blocking(), stream.name};
}

void set_serial(WorkItem* item, uint64_t serial) {
  item->serial = serial;
  if (item->reaches == nullptr) return;
  item->reaches->serial = serial;
  item->reaches->reached = Timeline::instance().event_time(serial);
}

std::vector<std::vector<size_t>> edges_of(const std::vector<GraphStep>& steps) {
  std::vector<std::vector<size_t>> after;
  for (const GraphStep& step : steps) after.push_back(step.after);
  return after;
}

void put_on_timeline(const StreamTraits& stream, WorkItem* item) {
  Timeline& timeline = Timeline::instance();
  if (item->steps.empty()) {
    set_serial(item, timeline.enqueued(stream, item->about));
    return;
  }
  std::vector<std::shared_ptr<const Work>> nodes;
  for (const GraphStep& step : item->steps) nodes.push_back(step.work.about);
  uint64_t serial = timeline.enqueued_graph(stream, nodes, edges_of(item->steps));
  for (GraphStep& step : item->steps) set_serial(&step.work, serial++);
}

// A graph launch does what all its nodes do.
std::shared_ptr<Work> with_steps(const WorkItem& item) {
  if (item.steps.empty()) return item.about;
  auto all = std::make_shared<Work>(item.about == nullptr ? Work() : *item.about);
  all->kind = WorkKind::kGraph;
  for (const GraphStep& step : item.steps) {
    if (step.work.about == nullptr) continue;
    const Work& work = *step.work.about;
    all->ranges.insert(all->ranges.end(), work.ranges.begin(), work.ranges.end());
    all->host_visible.insert(all->host_visible.end(), work.host_visible.begin(),
                             work.host_visible.end());
  }
  return all;
}

}  // namespace

Streams& Streams::instance() { return Machine::get<Streams>(); }

const std::shared_ptr<StreamState>& Streams::default_of(int device) {
  std::shared_ptr<StreamState>& state = defaults_[static_cast<size_t>(device)];
  if (state == nullptr) {
    state = make_state(cudaStreamDefault, 0, device);
    state->is_default = true;
    state->name = "the default stream";
  }
  return state;
}

std::shared_ptr<StreamState> Streams::make_state(unsigned flags, int priority, int device) {
  auto state = std::make_shared<StreamState>();
  state->flags = flags;
  state->priority = priority;
  state->device = device;
  state->id = next_id_++;
  all_.push_back(state);
  return state;
}

std::shared_ptr<StreamState> Streams::per_thread_stream() {
  struct Mine {
    const Streams* of = nullptr;
    std::array<std::weak_ptr<StreamState>, kMaxDevices> on_device;
  };
  thread_local Mine mine;
  if (mine.of != this) mine = {this, {}};  // another machine
  std::weak_ptr<StreamState>& known = mine.on_device[static_cast<size_t>(current_device())];
  std::shared_ptr<StreamState> state = known.lock();
  if (state == nullptr) {
    state = make_state(cudaStreamDefault, 0, current_device());
    state->name = "the per-thread default stream";
    known = state;
  }
  return state;
}

std::shared_ptr<StreamState> Streams::find(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return default_of(current_device());
  if (handle == cudaStreamPerThread) return per_thread_stream();
  return handles_.contains(handle) ? handle->state : nullptr;
}

void Streams::caller_works(std::vector<MemoryRange> ranges) {
  std::vector<StreamTraits> streams;
  for (const cudaStream_t handle : handles_) {
    const StreamState& state = *handle->state;
    const bool usable = state.device == current_device() && state.capture == nullptr;
    if (usable) streams.push_back(traits_of(state));
  }
  if (streams.empty()) streams.push_back(traits_of(*default_of(current_device())));
  std::sort(streams.begin(), streams.end(),
            [](const StreamTraits& a, const StreamTraits& b) { return a.id < b.id; });
  StreamOrder::instance().caller_works(streams, std::move(ranges));
}

cudaStream_t Streams::handle_of(uint64_t id) const {
  for (const cudaStream_t handle : handles_) {
    if (handle->state->id == id) return handle;
  }
  return nullptr;
}

Streams::~Streams() {
  for (CUstream_st* stream : handles_) delete stream;
  for (CUevent_st* event : events_) delete event;
}

cudaStream_t Streams::create(unsigned flags, int priority, int device) {
  auto* handle = new CUstream_st{make_state(flags, priority, device)};
  handle->state->name = "stream " + std::to_string(++created_);
  handles_.insert(handle);
  return handle;
}

bool Streams::destroy(cudaStream_t handle) {
  if (handles_.erase(handle) == 0) return false;
  // Work that is still waiting stays: CUDA finishes it too.
  if (handle->state->queue.empty()) std::erase(all_, handle->state);
  delete handle;
  return true;
}

CUevent_st* Streams::find(cudaEvent_t handle) {
  return events_.contains(handle) ? handle : nullptr;
}

cudaEvent_t Streams::create_event(unsigned flags, int device) {
  auto* event = new CUevent_st{flags, device, nullptr};
  events_.insert(event);
  return event;
}

bool Streams::destroy_event(cudaEvent_t handle) {
  if (events_.erase(handle) == 0) return false;
  delete handle;
  return true;
}

void Streams::enqueue(const std::shared_ptr<StreamState>& stream, WorkItem item) {
  start_view();  // a program that only copies has a timeline, too
  for (WorkPoint& point : stream->pending_waits) item.after.push_back(std::move(point));
  stream->pending_waits.clear();
  // The default stream waits for every blocking stream of its device, and they wait for it.
  const std::shared_ptr<StreamState>& first = default_of(stream->device);
  if (stream->is_default) {
    for (const auto& other : all_) {
      if (other->device == stream->device && other->is_blocking() && !other->queue.empty()) {
        item.after.push_back({other, other->enqueued});
      }
    }
  } else if (stream->is_blocking() && !first->queue.empty()) {
    item.after.push_back({first, first->enqueued});
  }
  const StreamTraits traits = traits_of(*stream);
  put_on_timeline(traits, &item);
  const std::shared_ptr<Work> about = with_steps(item);
  stream->queue.push_back(std::move(item));
  ++stream->enqueued;
  StreamOrder::instance().enqueued(traits, stream->enqueued, about);
  stream->last_enqueue = ++enqueue_count_;
  ++backlog_;
  keep_backlog_short();
}

void Streams::keep_backlog_short() {
  if (backlog_ > kMaxBacklog) run_all();
}

void Streams::record(CUevent_st* event, const std::shared_ptr<StreamState>& stream) {
  auto record = std::make_shared<EventRecord>();
  event->record = record;
  enqueue(stream, reach(record));
  stands_for_last(stream, record.get());
}

void Streams::stands_for_last(const std::shared_ptr<StreamState>& stream, EventRecord* record) {
  record->point = {stream, stream->enqueued};
  record->order = StreamOrder::instance().end_of(stream->id);
}

WorkItem Streams::reach(std::shared_ptr<EventRecord> record) {
  WorkItem item;
  item.reaches = record;
  item.run = [record = std::move(record)] {
    record->done = true;
    return cudaSuccess;
  };
  return item;
}

void Streams::wait(const std::shared_ptr<StreamState>& stream, const EventRecord& record) {
  StreamOrder::instance().stream_waits(traits_of(*stream), record.order);
  Timeline::instance().stream_waits(traits_of(*stream), record.serial);
  if (!record.done) stream->pending_waits.push_back(record.point);
}

// Runs the item at the head of the queue; its dependencies have run.
void Streams::finish_next(const std::shared_ptr<StreamState>& stream) {
  WorkItem item = std::move(stream->queue.front());
  stream->queue.pop_front();
  --backlog_;
  StreamOrder& order = StreamOrder::instance();
  const WorkId id{stream->id, stream->completed + 1};
  if (sticky_error(stream->device) != cudaSuccess) {
    order.dropped(id);
  } else {
    order.starts(id);
    if (item.steps.empty()) {
      run_item(item, id, stream->device);
    } else {
      run_steps(item.steps, id, stream->device);
    }
    order.ends(id);
  }
  ++stream->completed;
}

void Streams::run_steps(std::vector<GraphStep>& steps, const WorkId& id, int device) {
  if (!engine_options().checks) {
    for (GraphStep& step : steps) run_item(step.work, id, device);
    return;
  }
  NodeOrder order(edges_of(steps));
  for (size_t i = 0; i < steps.size(); ++i) {
    order.starts(i, steps[i].work.about);
    run_item(steps[i].work, id, device);
    order.ends(i);
  }
}

void Streams::run_item(WorkItem& item, const WorkId& id, int device) {
  if (sticky_error(device) != cudaSuccess) return;
  Timeline::instance().starts(item.serial);
  const bool on_host = item.about != nullptr && item.about->kind == WorkKind::kHostFunction;
  if (on_host) StreamOrder::instance().host_function_starts(id);
  runs_host_function() = on_host;
  const cudaError_t error = item.run();
  runs_host_function() = false;
  if (on_host) StreamOrder::instance().host_function_ends();
  Timeline::instance().ends(item.serial);
  if (error != cudaSuccess) set_sticky_error(device, error);
}

cudaError_t Streams::run_until(const WorkPoint& point) {
  while (point.stream->completed < point.sequence && !point.stream->queue.empty()) {
    const std::vector<WorkPoint> after = std::move(point.stream->queue.front().after);
    for (const WorkPoint& dependency : after) run_until(dependency);
    finish_next(point.stream);
  }
  return sticky_error(point.stream->device);
}

cudaError_t Streams::synchronize(const std::shared_ptr<StreamState>& stream) {
  StreamOrder::instance().host_waits(traits_of(*stream));
  const cudaError_t error = run_stream(stream);
  StreamOrder::instance().host_waited();
  Timeline::instance().host_waits_for_stream(traits_of(*stream));
  return error;
}

cudaError_t Streams::synchronize(const EventRecord& record) {
  StreamOrder::instance().host_waits(record.order);
  const cudaError_t error = run_until(record.point);
  StreamOrder::instance().host_waited();
  Timeline::instance().host_waits_for(record.serial);
  return error;
}

cudaError_t Streams::synchronize_last(const std::shared_ptr<StreamState>& stream) {
  StreamOrder::instance().host_waits(StreamOrder::instance().end_of(stream->id));
  const cudaError_t error = run_until({stream, stream->enqueued});
  StreamOrder::instance().host_waited();
  Timeline::instance().host_waits_for_last(traits_of(*stream));
  return error;
}

cudaError_t Streams::synchronize_before_last(const std::shared_ptr<StreamState>& stream) {
  StreamOrder::instance().host_waits_for_start_of({stream->id, stream->enqueued});
  const cudaError_t error = run_until({stream, stream->enqueued});
  StreamOrder::instance().host_waited();
  Timeline::instance().host_waits_for_last(traits_of(*stream));
  return error;
}

cudaError_t Streams::synchronize_device(int device) {
  StreamOrder::instance().host_waits_for_device(device);
  const cudaError_t error = run_device(device);
  StreamOrder::instance().host_waited();
  Timeline::instance().host_waits_for_device(device);
  return error;
}

cudaError_t Streams::run_stream(const std::shared_ptr<StreamState>& stream) {
  for (const WorkPoint& point : stream->pending_waits) run_until(point);
  // The default stream stands for the blocking ones as well, also when its own queue is empty.
  if (stream->is_default) {
    for (const auto& other : busy(stream->device)) {
      if (other->is_blocking()) run_until({other, other->enqueued});
    }
  }
  return run_until({stream, stream->enqueued});
}

std::vector<std::shared_ptr<StreamState>> Streams::busy(int device) const {
  std::vector<std::shared_ptr<StreamState>> busy;
  for (const auto& stream : all_) {
    if (stream->device == device && !stream->queue.empty()) busy.push_back(stream);
  }
  // A lower number is a higher priority.
  std::sort(busy.begin(), busy.end(), [](const auto& a, const auto& b) {
    return a->priority != b->priority ? a->priority < b->priority
                                      : a->last_enqueue > b->last_enqueue;
  });
  return busy;
}

cudaError_t Streams::run_device(int device) {
  // Host functions may enqueue more work: until nothing is left.
  for (auto waiting = busy(device); !waiting.empty(); waiting = busy(device)) {
    for (const auto& stream : waiting) run_until({stream, stream->enqueued});
  }
  forget_finished();
  return sticky_error(device);
}

void Streams::run_all() {
  while (any_pending()) {
    for (int device = 0; device < kMaxDevices; ++device) run_device(device);
  }
}

// Those of destroyed streams; a default stream is held by defaults_ too.
void Streams::forget_finished() {
  std::erase_if(
      all_, [](const auto& stream) { return stream.use_count() == 1 && stream->queue.empty(); });
}

bool Streams::is_idle(const std::shared_ptr<StreamState>& stream) const {
  if (!stream->queue.empty()) return false;
  if (!stream->is_default) return true;
  return std::none_of(all_.begin(), all_.end(), [&](const auto& other) {
    return other->device == stream->device && other->is_blocking() && !other->queue.empty();
  });
}

bool Streams::any_pending() const {
  return std::any_of(all_.begin(), all_.end(),
                     [](const auto& stream) { return !stream->queue.empty(); });
}

void Streams::drop_pending(int device) {
  for (const auto& stream : all_) {
    if (stream->device != device) continue;
    backlog_ -= stream->queue.size();
    stream->completed = stream->enqueued;
    stream->queue.clear();
    stream->pending_waits.clear();
  }
}

}  // namespace warplings::sim

// Streams and events: queues of work that runs as late as is legal.
//
// Enqueued work waits until something asks for its result: a synchronisation, a query, a blocking
// copy, or a dependency of such work. Between streams without a dependency the one that was given
// work last runs first (of those with the highest priority), so that a program that forgot a
// dependency sees its effect, every time.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_STREAM_H_
#define WARPLINGS_SIMULATOR_RUNTIME_STREAM_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "checks/order_clock.h"
#include "core/work.h"
#include "memory/device_memory.h"
#include "runtime/holdings.h"

namespace warplings::sim {

struct CaptureBranch;  // runtime/capture.h
struct CapturedPoint;
struct EventRecord;
struct GraphStep;
struct StreamState;

// Of streams: a smaller number runs first.
inline constexpr int kLeastPriority = 0, kGreatestPriority = -5;

// "Everything up to item `sequence` of this stream."
struct WorkPoint {
  std::shared_ptr<StreamState> stream;
  uint64_t sequence = 0;
};

struct WorkItem {
  std::function<cudaError_t()> run;
  std::vector<WorkPoint> after;
  uint64_t serial = 0;                   // on the timeline
  std::shared_ptr<EventRecord> reaches;  // an event
  std::shared_ptr<void> keeps;           // what `run` reads, alive as long as the item
  std::shared_ptr<Work> about;           // nullptr: nothing that touches memory
  // A graph launch: its nodes, in the order in which they run. `run` is not used then.
  std::vector<GraphStep> steps;
};

// One node of a graph launch: work, and the earlier steps that it waits for.
struct GraphStep {
  WorkItem work;
  std::vector<size_t> after;  // indices in WorkItem::steps
};

struct StreamState {
  unsigned flags = cudaStreamDefault;
  int priority = 0;
  int device = 0;
  uint64_t id = 0;
  std::string name;  // for messages: "stream 2"
  std::deque<WorkItem> queue;
  uint64_t enqueued = 0, completed = 0;  // sequence numbers; items count from 1
  std::vector<WorkPoint> pending_waits;  // cudaStreamWaitEvent: bind the next item
  uint64_t last_enqueue = 0;             // global order, to find the stream used last
  bool is_default = false;
  std::map<int, cudaLaunchAttributeValue> attributes;  // set by the program, by their id
  std::shared_ptr<CaptureBranch> capture;  // not nullptr: calls make graph nodes instead of work
  bool is_blocking() const { return !is_default && (flags & cudaStreamNonBlocking) == 0; }
};

// One cudaEventRecord.
struct EventRecord {
  std::shared_ptr<CapturedPoint> captured;  // it was recorded in a stream that was being captured
  WorkPoint point;
  OrderClock order;  // what it stands for
  bool done = false;
  uint64_t serial = 0;              // on the timeline
  std::shared_ptr<double> reached;  // when it was, in modelled seconds
};

}  // namespace warplings::sim

struct CUstream_st {
  std::shared_ptr<warplings::sim::StreamState> state;
  warplings::sim::Held held{"stream"};
};

struct CUevent_st {
  unsigned flags = cudaEventDefault;
  int device = 0;
  std::shared_ptr<warplings::sim::EventRecord> record;  // the latest; nullptr: never recorded
  warplings::sim::Held held{"event"};
};

namespace warplings::sim {

class Streams {
 public:
  Streams() = default;
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  static Streams& instance();

  // nullptr if the handle is no live stream. 0, cudaStreamLegacy and cudaStreamPerThread are, of
  // the calling thread's current device.
  std::shared_ptr<StreamState> find(cudaStream_t handle);
  cudaStream_t handle_of(uint64_t id) const;  // nullptr if it is a default stream, or gone
  // StreamOrder::caller_works, in the streams of the program or the default stream.
  void caller_works(std::vector<MemoryRange> ranges);
  uint64_t last_id() const { return next_id_ - 1; }
  cudaStream_t create(unsigned flags, int priority, int device);
  bool destroy(cudaStream_t handle);

  CUevent_st* find(cudaEvent_t handle);
  cudaEvent_t create_event(unsigned flags, int device);
  bool destroy_event(cudaEvent_t handle);

  void enqueue(const std::shared_ptr<StreamState>& stream, WorkItem item);
  // Work that says "the stream got here".
  WorkItem reach(std::shared_ptr<EventRecord> record);
  // The record stands for what the stream was given last.
  void stands_for_last(const std::shared_ptr<StreamState>& stream, EventRecord* record);
  void record(CUevent_st* event, const std::shared_ptr<StreamState>& stream);
  void wait(const std::shared_ptr<StreamState>& stream, const EventRecord& record);

  // Each runs what it needs and returns the device's error state. These are waits of the host:
  // what the program does next is ordered with the work.
  cudaError_t synchronize(const std::shared_ptr<StreamState>& stream);
  cudaError_t synchronize(const EventRecord& record);
  cudaError_t synchronize_last(const std::shared_ptr<StreamState>& stream);  // what came last
  // Runs what came last as well, but the host may only rely on all before it.
  cudaError_t synchronize_before_last(const std::shared_ptr<StreamState>& stream);
  cudaError_t synchronize_device(int device);
  // These run work without that the program could rely on it.
  cudaError_t run_until(const WorkPoint& point);
  cudaError_t run_stream(const std::shared_ptr<StreamState>& stream);
  void run_all();  // of every device
  bool is_idle(const std::shared_ptr<StreamState>& stream) const;
  bool any_pending() const;
  // Throws pending work away (after a fault, or at cudaDeviceReset).
  void drop_pending(int device);

 private:
  void finish_next(const std::shared_ptr<StreamState>& stream);
  cudaError_t run_device(int device);
  void run_steps(std::vector<GraphStep>& steps, const WorkId& id, int device);
  void run_item(WorkItem& item, const WorkId& id, int device);
  void keep_backlog_short();
  // In the order in which work without a dependency runs.
  std::vector<std::shared_ptr<StreamState>> busy(int device) const;
  void forget_finished();

  std::shared_ptr<StreamState> make_state(unsigned flags, int priority, int device);
  std::shared_ptr<StreamState> per_thread_stream();
  const std::shared_ptr<StreamState>& default_of(int device);

  std::array<std::shared_ptr<StreamState>, kMaxDevices> defaults_;
  std::vector<std::shared_ptr<StreamState>> all_;  // destroyed ones stay while they hold work
  std::set<cudaStream_t> handles_;
  std::set<cudaEvent_t> events_;
  uint64_t next_id_ = 1;
  uint64_t created_ = 0;  // by the program
  uint64_t enqueue_count_ = 0;
  size_t backlog_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_STREAM_H_

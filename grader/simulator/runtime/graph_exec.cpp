// Running instances of graphs, and changing what their nodes do.
#include <algorithm>
#include <array>
#include <utility>

#include "memory/device_memory.h"
#include "runtime/graph.h"
#include "runtime/memory_work.h"
#include "runtime/pointer.h"

namespace warplings::sim {
namespace {

// Turns a node into work for one launch; collects what the whole launch has to wait for.
class StepMaker {
 public:
  explicit StepMaker(const std::shared_ptr<StreamState>& stream) : stream_(stream) {}

  WorkItem operator()(const EmptyWork&) { return nothing(); }
  WorkItem operator()(const ChildWork&) { return nothing(); }
  WorkItem operator()(const KernelNodeWork& node) { return work_item(node.launch); }
  WorkItem operator()(const LibraryNodeWork& node) { return work_item(node.work); }
  WorkItem operator()(const CopyWork& node) { return work_item(node.copy, node.origin); }
  WorkItem operator()(const FillWork& node) { return work_item(node.fill, node.origin); }
  WorkItem operator()(const HostWork& host) {
    return host_work(host.function, host.data, host.origin);
  }
  WorkItem operator()(const AllocateWork& node) {
    WorkItem item;
    item.run = [address = address_of(node.params.dptr), device = node.device] {
      allocate_for_graph(address, device);
      return cudaSuccess;
    };
    return item;
  }
  WorkItem operator()(const FreeWork& node) { return free_work(node.pointer, node.origin); }
  WorkItem operator()(const EventRecordWork& node) {
    events_.push_back(node.event);
    records_.push_back(std::make_shared<EventRecord>());
    return Streams::instance().reach(records_.back());
  }
  WorkItem operator()(const EventWaitWork& node) {
    CUevent_st* event = Streams::instance().find(node.event);
    const bool recorded_here =
        std::find(events_.begin(), events_.end(), node.event) != events_.end();
    if (event != nullptr && event->record != nullptr && !event->record->done && !recorded_here) {
      Streams::instance().wait(stream_, *event->record);
    }
    return nothing();
  }

  // The events stand for this launch from now on.
  void publish_records() {
    for (size_t i = 0; i < events_.size(); ++i) {
      CUevent_st* event = Streams::instance().find(events_[i]);
      if (event == nullptr) continue;
      Streams::instance().stands_for_last(stream_, records_[i].get());
      event->record = records_[i];
    }
  }

 private:
  static WorkItem nothing() {
    WorkItem item;
    item.run = [] { return cudaSuccess; };
    return item;
  }

  const std::shared_ptr<StreamState>& stream_;
  std::vector<cudaEvent_t> events_;
  std::vector<std::shared_ptr<EventRecord>> records_;
};

// Memory that an earlier launch allocated and nobody freed.
bool free_left_over(const ApiCall& call, const CUgraphExec_st& exec) {
  bool any = false;
  for (const ExecNode& node : exec.nodes) {
    const auto* allocate = std::get_if<AllocateWork>(&node.work);
    if (allocate == nullptr) continue;
    const uint64_t address = address_of(allocate->params.dptr);
    if (!DeviceMemory::instance().accessible(address, 1)) continue;
    any = true;
    if ((exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) {
      free_now(call, allocate->params.dptr);
    }
  }
  return any;
}

}  // namespace

cudaError_t launch_graph(const ApiCall& call, CUgraphExec_st* exec,
                         const std::shared_ptr<StreamState>& stream) {
  Streams& streams = Streams::instance();
  const bool allocates = std::any_of(
      exec->nodes.begin(), exec->nodes.end(),
      [](const ExecNode& node) { return std::holds_alternative<AllocateWork>(node.work); });
  if (allocates && exec->last_launch != nullptr) {
    // Whether the memory of the last launch is free again is known when that has run, and what
    // frees it, which may be in any stream.
    streams.run_all();
    if (free_left_over(call, *exec) &&
        (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) == 0) {
      call.report("api", "graph-memory-not-freed",
                  call.description() +
                      " launches a graph whose last launch has left memory allocated. Nothing was "
                      "launched. Free it first, or instantiate the graph with "
                      "cudaGraphInstantiateFlagAutoFreeOnLaunch.",
                  true);
      return cudaErrorInvalidValue;
    }
  }
  WorkItem item;
  StepMaker make(stream);
  std::vector<size_t> place(exec->nodes.size());  // of a node among the steps
  for (const size_t index : exec->order) {
    const ExecNode& node = exec->nodes[index];
    GraphStep step;
    step.work = node.enabled ? std::visit(make, node.work) : make(EmptyWork());
    for (const size_t before : node.after) step.after.push_back(place[before]);
    place[index] = item.steps.size();
    item.steps.push_back(std::move(step));
  }
  if (item.steps.empty()) {
    item.run = [] { return cudaSuccess; };
  } else {
    item.about = std::make_shared<Work>();
    item.about->name = call.name();
    item.about->where = call.where();
  }
  if (exec->last_launch != nullptr) streams.wait(stream, *exec->last_launch);
  streams.enqueue(stream, std::move(item));
  exec->last_launch = std::make_shared<EventRecord>();
  streams.stands_for_last(stream, exec->last_launch.get());
  make.publish_records();
  return cudaSuccess;
}

ExecNode* find_exec_node(CUgraphExec_st* exec, cudaGraphNode_t node) {
  const auto found =
      std::find_if(exec->nodes.begin(), exec->nodes.end(), [node](const ExecNode& known) {
        return known.node_id == node->id || known.node_id == node->original_id;
      });
  return found == exec->nodes.end() ? nullptr : &*found;
}

namespace {

bool same_waits(std::vector<size_t> a, std::vector<size_t> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

cudaGraphExecUpdateResult compare(const ExecNode& old_node, const ExecNode& new_node) {
  if (type_of(old_node.work) != type_of(new_node.work)) {
    return cudaGraphExecUpdateErrorNodeTypeChanged;
  }
  if (!same_waits(old_node.after, new_node.after)) return cudaGraphExecUpdateErrorTopologyChanged;
  if (const auto* allocate = std::get_if<AllocateWork>(&old_node.work)) {
    const auto& other = std::get<AllocateWork>(new_node.work);
    if (allocate->params.dptr != other.params.dptr) {
      return cudaGraphExecUpdateErrorParametersChanged;
    }
  }
  return cudaGraphExecUpdateSuccess;
}

cudaGraphNode_t node_with_id(const CUgraph_st& graph, uint64_t id) {
  for (const auto& node : graph.nodes) {
    if (node->id == id) return node.get();
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      if (const cudaGraphNode_t inner = node_with_id(*child->graph, id)) return inner;
    }
  }
  return nullptr;
}

}  // namespace

cudaError_t update_exec(CUgraphExec_st* exec, const CUgraph_st& graph,
                        cudaGraphExecUpdateResultInfo* result) {
  *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  std::vector<ExecNode> nodes = flatten(graph);
  if (nodes.size() != exec->nodes.size()) {
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return cudaErrorGraphExecUpdateFailure;
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    result->result = compare(exec->nodes[i], nodes[i]);
    if (result->result == cudaGraphExecUpdateSuccess) continue;
    result->errorNode = node_with_id(graph, nodes[i].node_id);
    return cudaErrorGraphExecUpdateFailure;
  }
  for (size_t i = 0; i < nodes.size(); ++i) exec->nodes[i].work = std::move(nodes[i].work);
  return cudaSuccess;
}

cudaError_t update_child(CUgraphExec_st* exec, ExecNode* child, const CUgraph_st& graph) {
  std::vector<ExecNode> nodes = flatten(graph);
  const auto own = static_cast<size_t>(child - exec->nodes.data());
  if (nodes.size() != own - child->inner_begin) return cudaErrorGraphExecUpdateFailure;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (type_of(nodes[i].work) != type_of(exec->nodes[child->inner_begin + i].work)) {
      return cudaErrorGraphExecUpdateFailure;
    }
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    exec->nodes[child->inner_begin + i].work = std::move(nodes[i].work);
  }
  return cudaSuccess;
}

}  // namespace warplings::sim

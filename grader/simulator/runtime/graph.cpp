#include "runtime/graph.h"

#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>
#include <utility>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/pointer.h"
#include "runtime/user_object.h"

using warplings::sim::Graphs;

CUgraph_st::CUgraph_st() { Graphs::instance().graphs_.insert(this); }

CUgraph_st::~CUgraph_st() {
  using namespace warplings::sim;
  Graphs& graphs = Graphs::instance();
  graphs.graphs_.erase(this);
  for (CUgraphExec_st* exec : graphs.execs_) {
    if (exec->source == this) exec->source = nullptr;
  }
  for (const auto& node : nodes) {
    graphs.nodes_.erase(node.get());
    if (const auto* allocate = std::get_if<AllocateWork>(&node->work)) {
      DeviceMemory::instance().abandon(address_of(allocate->params.dptr));
    }
  }
  for (const auto& [object, count] : user_objects) release_user_object(object, count);
}

namespace warplings::sim {

cudaGraphNodeType type_of(const NodeWork& work) {
  struct Visitor {
    cudaGraphNodeType operator()(const EmptyWork&) const { return cudaGraphNodeTypeEmpty; }
    cudaGraphNodeType operator()(const KernelNodeWork&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const LibraryNodeWork&) const { return cudaGraphNodeTypeKernel; }
    cudaGraphNodeType operator()(const CopyWork&) const { return cudaGraphNodeTypeMemcpy; }
    cudaGraphNodeType operator()(const FillWork&) const { return cudaGraphNodeTypeMemset; }
    cudaGraphNodeType operator()(const HostWork&) const { return cudaGraphNodeTypeHost; }
    cudaGraphNodeType operator()(const ChildWork&) const { return cudaGraphNodeTypeGraph; }
    cudaGraphNodeType operator()(const EventRecordWork&) const {
      return cudaGraphNodeTypeEventRecord;
    }
    cudaGraphNodeType operator()(const EventWaitWork&) const { return cudaGraphNodeTypeWaitEvent; }
    cudaGraphNodeType operator()(const AllocateWork&) const { return cudaGraphNodeTypeMemAlloc; }
    cudaGraphNodeType operator()(const FreeWork&) const { return cudaGraphNodeTypeMemFree; }
  };
  return std::visit(Visitor(), work);
}

bool has_memory_nodes(const CUgraph_st& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      return has_memory_nodes(*child->graph);
    }
    return std::holds_alternative<AllocateWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  });
}

namespace {

std::set<uint64_t>& graph_allocations() {  // addresses
  struct GraphAllocations {
    std::set<uint64_t> all;
  };
  return Machine::get<GraphAllocations>().all;
}

}  // namespace

GraphMemory& graph_memory(int device) {
  struct AllGraphMemory {
    std::array<GraphMemory, kMaxDevices> of_device;
  };
  return Machine::get<AllGraphMemory>().of_device[static_cast<size_t>(device)];
}

void allocate_for_graph(uint64_t address, int device) {
  DeviceMemory::instance().fulfil(address);
  graph_allocations().insert(address);
  GraphMemory& memory = graph_memory(device);
  memory.used += DeviceMemory::instance().allocation_at(address)->size;
  memory.used_high = std::max(memory.used_high, memory.used);
  memory.reserved = std::max(memory.reserved, memory.used);
  memory.reserved_high = std::max(memory.reserved_high, memory.reserved);
}

void graph_memory_freed(uint64_t address, uint64_t size, int device) {
  if (graph_allocations().erase(address) > 0) graph_memory(device).used -= size;
}

Graphs& Graphs::instance() { return Machine::get<Graphs>(); }

cudaGraph_t Graphs::create() { return new CUgraph_st(); }

void Graphs::destroy(cudaGraph_t graph) { delete graph; }

cudaGraphNode_t Graphs::add(cudaGraph_t graph, const std::vector<GraphEdge>& after, NodeWork work) {
  auto node = std::make_unique<CUgraphNode_st>();
  node->graph = graph;
  node->id = next_node_id_++;
  node->work = std::move(work);
  node->after = after;
  graph->nodes.push_back(std::move(node));
  nodes_.insert(graph->nodes.back().get());
  return graph->nodes.back().get();
}

void Graphs::remove(cudaGraphNode_t node) {
  CUgraph_st& graph = *node->graph;
  for (const auto& other : graph.nodes) {
    std::erase_if(other->after, [node](const GraphEdge& edge) { return edge.from == node; });
  }
  nodes_.erase(node);
  std::erase_if(graph.nodes, [node](const auto& known) { return known.get() == node; });
}

void Graphs::copy_nodes(const CUgraph_st& from, CUgraph_st* to) {
  std::unordered_map<const CUgraphNode_st*, cudaGraphNode_t> copies;
  for (const auto& node : from.nodes) {
    NodeWork work = node->work;
    if (auto* child = std::get_if<ChildWork>(&work)) {
      child->graph = std::shared_ptr<CUgraph_st>(clone(*child->graph));
    }
    const cudaGraphNode_t copy = add(to, {}, std::move(work));
    copy->original_id = node->id;
    copies[node.get()] = copy;
  }
  for (const auto& node : from.nodes) {
    for (const GraphEdge& edge : node->after) {
      copies[node.get()]->after.push_back({copies[edge.from], edge.data});
    }
  }
}

cudaGraph_t Graphs::clone(const CUgraph_st& graph) {
  const cudaGraph_t copy = create();
  copy_nodes(graph, copy);
  for (const auto& [object, count] : graph.user_objects) {
    retain_user_object(object, count);
    copy->user_objects[object] = count;
  }
  return copy;
}

namespace {

void flatten_into(const CUgraph_st& graph, std::vector<ExecNode>* out) {
  std::unordered_map<const CUgraphNode_st*, size_t> index;
  // Nodes may wait for nodes that were added later: edges follow once all have their place.
  std::vector<std::pair<size_t, const CUgraphNode_st*>> placed;
  for (const auto& node : graph.nodes) {
    ExecNode made;
    made.node_id = node->id;
    made.work = node->work;
    made.inner_begin = out->size();
    if (const auto* child = std::get_if<ChildWork>(&node->work)) {
      flatten_into(*child->graph, out);
    }
    index[node.get()] = out->size();
    placed.emplace_back(out->size(), node.get());
    out->push_back(std::move(made));
  }
  for (const auto& [at, node] : placed) {
    std::vector<size_t> after;
    for (const GraphEdge& edge : node->after) after.push_back(index.at(edge.from));
    const size_t begin = (*out)[at].inner_begin;
    // The roots of a child graph wait for what its node waits for, its node for all of them.
    for (size_t i = begin; i < at; ++i) {
      std::vector<size_t>& waits = (*out)[i].after;
      if (waits.empty()) waits = after;
    }
    if (begin < at) {
      after.clear();
      for (size_t i = begin; i < at; ++i) after.push_back(i);
    }
    (*out)[at].after = std::move(after);
  }
}

}  // namespace

std::vector<ExecNode> flatten(const CUgraph_st& graph) {
  std::vector<ExecNode> nodes;
  flatten_into(graph, &nodes);
  return nodes;
}

std::vector<size_t> execution_order(const std::vector<ExecNode>& nodes) {
  std::vector<size_t> waits(nodes.size());
  std::vector<std::vector<size_t>> next(nodes.size());
  std::priority_queue<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i) {
    waits[i] = nodes[i].after.size();
    for (const size_t before : nodes[i].after) next[before].push_back(i);
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (const size_t after : next[i]) {
      if (--waits[after] == 0) ready.push(after);
    }
  }
  return order;
}

cudaError_t Graphs::instantiate(cudaGraph_t graph, unsigned long long flags,
                                cudaGraphExec_t* exec) {
  if (has_memory_nodes(*graph) && graph->instances > 0) return cudaErrorNotSupported;
  auto made = std::make_unique<CUgraphExec_st>();
  made->source = graph;
  made->flags = flags;
  made->nodes = flatten(*graph);
  made->order = execution_order(made->nodes);
  if (made->order.size() < made->nodes.size()) return cudaErrorInvalidValue;
  ++graph->instances;
  *exec = made.release();
  execs_.insert(*exec);
  return cudaSuccess;
}

void Graphs::destroy(cudaGraphExec_t exec) {
  execs_.erase(exec);
  if (exec->source != nullptr) --exec->source->instances;
  delete exec;
}

}  // namespace warplings::sim

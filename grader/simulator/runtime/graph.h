// CUDA graphs: work and the order it needs, built by calls or by capturing streams, run as often as
// the program likes.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_GRAPH_H_
#define WARPLINGS_SIMULATOR_RUNTIME_GRAPH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <variant>
#include <vector>

#include "runtime/copy.h"
#include "runtime/kernel_launch.h"
#include "runtime/library_work.h"
#include "runtime/stream.h"

namespace warplings::sim {

// What a node does.
struct EmptyWork {};
struct KernelNodeWork {
  KernelWork launch;
  std::map<int, cudaLaunchAttributeValue> attributes;  // by cudaLaunchAttributeID
};
struct CopyWork {
  Copy copy;
  ApiCall origin;  // the call that made the node
};
struct FillWork {
  Fill fill;
  ApiCall origin;
};
struct HostWork {
  cudaHostFn_t function = nullptr;
  void* data = nullptr;
  ApiCall origin;
};
struct EventRecordWork {
  cudaEvent_t event = nullptr;
};
struct EventWaitWork {
  cudaEvent_t event = nullptr;
};
struct AllocateWork {
  cudaMemAllocNodeParams params{};
  int device = 0;
};
struct FreeWork {
  void* pointer = nullptr;
  ApiCall origin;
};
struct LibraryNodeWork {
  std::shared_ptr<const LibraryWork> work;
};
struct ChildWork;  // defined below: it holds a graph

}  // namespace warplings::sim

// A graph that has not been instantiated; nodes in the order in which they were added.
struct CUgraph_st {
  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st&) = delete;
  CUgraph_st& operator=(const CUgraph_st&) = delete;

  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::map<cudaUserObject_t, unsigned> user_objects;  // references that the graph holds
  size_t instances = 0;
  warplings::sim::Held held{"graph"};
};

namespace warplings::sim {

struct ChildWork {
  std::shared_ptr<CUgraph_st> graph;  // the node's own copy
};

using NodeWork =
    std::variant<EmptyWork, KernelNodeWork, CopyWork, FillWork, HostWork, ChildWork,
                 EventRecordWork, EventWaitWork, AllocateWork, FreeWork, LibraryNodeWork>;
cudaGraphNodeType type_of(const NodeWork& work);
// Memory nodes tie a graph to its addresses: it cannot be copied, and only one instance may exist.
bool has_memory_nodes(const CUgraph_st& graph);

struct GraphEdge {
  cudaGraphNode_t from = nullptr;
  cudaGraphEdgeData data{};
};

}  // namespace warplings::sim

struct CUgraphNode_st {
  CUgraph_st* graph = nullptr;
  uint64_t id = 0;           // never used twice
  uint64_t original_id = 0;  // of the node that this one was cloned from, 0 if of none
  warplings::sim::NodeWork work;
  std::vector<warplings::sim::GraphEdge> after;  // the nodes that it waits for
  std::vector<void*> arguments;  // into the parameters of a kernel, for the program to read
};

namespace warplings::sim {

// A node of an instance. Nodes of child graphs stand before the child's own node, which joins them.
struct ExecNode {
  uint64_t node_id = 0;  // of the node that it was made from
  NodeWork work;
  std::vector<size_t> after;  // indices of nodes
  bool enabled = true;
  size_t inner_begin = 0;  // of a child node: its nodes are [inner_begin, own index)
};

}  // namespace warplings::sim

struct CUgraphExec_st {
  CUgraph_st* source = nullptr;  // nullptr once the graph was destroyed
  unsigned long long flags = 0;
  std::vector<warplings::sim::ExecNode> nodes;
  std::vector<size_t> order;  // in which they run: indices of `nodes`
  // An instance never runs twice at a time: a launch waits for the one before it.
  std::shared_ptr<warplings::sim::EventRecord> last_launch;
  warplings::sim::Held held{"executable graph"};
};

namespace warplings::sim {

// Every graph, node and instance that exists: handles of the program are looked up here.
class Graphs {
 public:
  static Graphs& instance();

  cudaGraph_t create();
  void destroy(cudaGraph_t graph);
  cudaGraph_t clone(const CUgraph_st& graph);
  bool is_graph(cudaGraph_t graph) const { return graphs_.contains(graph); }
  size_t count() const { return graphs_.size(); }
  bool is_node(cudaGraphNode_t node) const { return nodes_.contains(node); }
  bool is_exec(cudaGraphExec_t exec) const { return execs_.contains(exec); }

  // The dependencies are nodes of the same graph.
  cudaGraphNode_t add(cudaGraph_t graph, const std::vector<GraphEdge>& after, NodeWork work);
  void remove(cudaGraphNode_t node);

  // cudaErrorInvalidValue if the graph has a cycle, or memory nodes and an instance already.
  cudaError_t instantiate(cudaGraph_t graph, unsigned long long flags, cudaGraphExec_t* exec);
  void destroy(cudaGraphExec_t exec);

 private:
  friend struct ::CUgraph_st;
  void copy_nodes(const CUgraph_st& from, CUgraph_st* to);

  std::set<const CUgraph_st*> graphs_;  // also those inside of child nodes
  std::set<const CUgraphNode_st*> nodes_;
  std::set<CUgraphExec_st*> execs_;
  uint64_t next_node_id_ = 1;
};

// The nodes of a graph in the form in which they run, child graphs opened up.
std::vector<ExecNode> flatten(const CUgraph_st& graph);
// An order that respects the dependencies; between independent nodes the one added last runs first,
// so that a missing edge shows. Shorter than `nodes` if there is a cycle.
std::vector<size_t> execution_order(const std::vector<ExecNode>& nodes);

// Gives the instance to the stream as one piece of work.
cudaError_t launch_graph(const ApiCall& call, CUgraphExec_st* exec,
                         const std::shared_ptr<StreamState>& stream);
// Takes the parameters of `graph`, which must have the same form.
cudaError_t update_exec(CUgraphExec_st* exec, const CUgraph_st& graph,
                        cudaGraphExecUpdateResultInfo* result);
// nullptr if the instance has no such node.
ExecNode* find_exec_node(CUgraphExec_st* exec, cudaGraphNode_t node);
// Replaces what the nodes of a child graph do.
cudaError_t update_child(CUgraphExec_st* exec, ExecNode* child, const CUgraph_st& graph);

// Memory that graphs have allocated on a device, in bytes.
struct GraphMemory {
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};
GraphMemory& graph_memory(int device);
void allocate_for_graph(uint64_t address, int device);  // an allocation node runs
// Memory was freed; nothing happens if no graph had allocated it.
void graph_memory_freed(uint64_t address, uint64_t size, int device);

// A text in the DOT language.
bool write_dot(const CUgraph_st& graph, const char* path, unsigned flags);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_GRAPH_H_

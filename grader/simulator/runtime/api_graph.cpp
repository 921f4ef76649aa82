// Graphs as a whole in the CUDA runtime API: creation, nodes and edges, copies, objects they keep.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "runtime/api.h"
#include "runtime/device_model.h"
#include "runtime/graph.h"
#include "runtime/graph_arguments.h"
#include "runtime/user_object.h"

using namespace warplings::sim;

namespace {

bool is_graph(cudaGraph_t graph) { return Graphs::instance().is_graph(graph); }
bool is_node(cudaGraphNode_t node) { return Graphs::instance().is_node(node); }

// A list for the program: with no array only its length, else as many as fit, the rest nullptr.
cudaError_t hand_out(const std::vector<cudaGraphNode_t>& nodes, cudaGraphNode_t* out,
                     size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out != nullptr) {
    for (size_t i = 0; i < *count; ++i) out[i] = i < nodes.size() ? nodes[i] : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return cudaSuccess;
}

struct EdgeList {
  std::vector<cudaGraphNode_t> from, to;
  std::vector<cudaGraphEdgeData> data;
};

// Every edge of the graph for which `wanted` holds.
EdgeList edges_of(const CUgraph_st& graph,
                  const std::function<bool(cudaGraphNode_t, cudaGraphNode_t)>& wanted) {
  EdgeList list;
  for (const auto& node : graph.nodes) {
    for (const GraphEdge& edge : node->after) {
      if (!wanted(edge.from, node.get())) continue;
      list.from.push_back(edge.from);
      list.to.push_back(node.get());
      list.data.push_back(edge.data);
    }
  }
  return list;
}

// The query without an array for edge data is refused where data would be lost.
bool would_lose_data(const EdgeList& list, const cudaGraphNode_t* nodes,
                     const cudaGraphEdgeData* data) {
  return nodes != nullptr && data == nullptr &&
         std::any_of(list.data.begin(), list.data.end(), [](const cudaGraphEdgeData& edge) {
           return edge.from_port != 0 || edge.to_port != 0 || edge.type != 0;
         });
}

void hand_out_data(const EdgeList& list, cudaGraphEdgeData* data, size_t count) {
  if (data != nullptr) std::copy_n(list.data.begin(), std::min(count, list.data.size()), data);
}

cudaError_t one_end_of(cudaGraphNode_t node, bool dependencies, cudaGraphNode_t* nodes,
                       cudaGraphEdgeData* data, size_t* count) {
  if (!is_node(node) || count == nullptr) return cudaErrorInvalidValue;
  const EdgeList list = edges_of(*node->graph, [&](cudaGraphNode_t from, cudaGraphNode_t to) {
    return node == (dependencies ? to : from);
  });
  if (would_lose_data(list, nodes, data)) return cudaErrorLossyQuery;
  hand_out_data(list, data, *count);
  return hand_out(dependencies ? list.from : list.to, nodes, count);
}

std::vector<GraphEdge>::iterator find_edge(cudaGraphNode_t from, cudaGraphNode_t to) {
  return std::find_if(to->after.begin(), to->after.end(),
                      [from](const GraphEdge& edge) { return edge.from == from; });
}

// All edges are looked at before the first one changes.
cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         const cudaGraphEdgeData* data, size_t count, bool add) {
  if (!is_graph(graph) || (count > 0 && (from == nullptr || to == nullptr))) {
    return cudaErrorInvalidValue;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_node(from[i]) || !is_node(to[i]) || from[i] == to[i] || from[i]->graph != graph ||
        to[i]->graph != graph || (find_edge(from[i], to[i]) != to[i]->after.end()) == add) {
      return cudaErrorInvalidValue;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (add) {
      to[i]->after.push_back({from[i], data == nullptr ? cudaGraphEdgeData{} : data[i]});
    } else {
      to[i]->after.erase(find_edge(from[i], to[i]));
    }
  }
  return cudaSuccess;
}

GraphMemory* memory_of(int device) {
  return device < 0 || device >= device_count() ? nullptr : &graph_memory(device);
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return WARPLINGS_API {
    if (graph == nullptr || flags != 0) return cudaErrorInvalidValue;
    *graph = Graphs::instance().create();
    return cudaSuccess;
  };
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return WARPLINGS_API {
    if (!is_graph(graph)) return cudaErrorInvalidValue;
    Graphs::instance().destroy(graph);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return WARPLINGS_API {
    if (clone == nullptr || !is_graph(original)) return cudaErrorInvalidValue;
    if (has_memory_nodes(*original)) return cudaErrorNotSupported;
    *clone = Graphs::instance().clone(*original);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return WARPLINGS_API {
    if (found == nullptr || !is_node(original) || !is_graph(clone)) return cudaErrorInvalidValue;
    for (const auto& node : clone->nodes) {
      if (node->original_id != original->id) continue;
      *found = node.get();
      return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  };
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return WARPLINGS_API {
    if (!is_node(node) || type == nullptr) return cudaErrorInvalidValue;
    *type = type_of(node->work);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return WARPLINGS_API {
    if (!is_graph(graph)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph->nodes) all.push_back(node.get());
    return hand_out(all, nodes, count);
  };
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return WARPLINGS_API {
    if (!is_graph(graph)) return cudaErrorInvalidValue;
    std::vector<cudaGraphNode_t> roots;
    for (const auto& node : graph->nodes) {
      if (node->after.empty()) roots.push_back(node.get());
    }
    return hand_out(roots, nodes, count);
  };
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return WARPLINGS_API {
    if (!is_graph(graph) || count == nullptr || (from == nullptr) != (to == nullptr)) {
      return cudaErrorInvalidValue;
    }
    const EdgeList list = edges_of(*graph, [](cudaGraphNode_t, cudaGraphNode_t) { return true; });
    if (would_lose_data(list, from, data)) return cudaErrorLossyQuery;
    hand_out_data(list, data, *count);
    size_t as_many = *count;
    hand_out(list.from, from, &as_many);
    return hand_out(list.to, to, count);
  };
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  return WARPLINGS_API { return one_end_of(node, true, nodes, data, count); };
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  return WARPLINGS_API { return one_end_of(node, false, nodes, data, count); };
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return WARPLINGS_API { return change_edges(graph, from, to, data, count, true); };
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  return WARPLINGS_API { return change_edges(graph, from, to, data, count, false); };
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return WARPLINGS_API {
    if (!is_node(node)) return cudaErrorInvalidValue;
    if (has_memory_nodes(*node->graph)) return cudaErrorNotSupported;
    Graphs::instance().remove(node);
    return cudaSuccess;
  };
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return WARPLINGS_API {
    if (!is_graph(graph) || path == nullptr) return cudaErrorInvalidValue;
    return write_dot(*graph, path, flags) ? cudaSuccess : cudaErrorOperatingSystem;
  };
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return WARPLINGS_API {
    if (object == nullptr || destroy == nullptr || references == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    *object = create_user_object(pointer, destroy, references);
    return cudaSuccess;
  };
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return WARPLINGS_API {
    return retain_user_object(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  };
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return WARPLINGS_API {
    return release_user_object(object, count) ? cudaSuccess : cudaErrorInvalidValue;
  };
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return WARPLINGS_API {
    if (!is_graph(graph) || count == 0) return cudaErrorInvalidValue;
    // "Move" hands over references that the program holds already.
    const bool moves = (flags & cudaGraphUserObjectMove) != 0;
    if (!retain_user_object(object, moves ? 0 : count)) return cudaErrorInvalidValue;
    graph->user_objects[object] += count;
    return cudaSuccess;
  };
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return WARPLINGS_API {
    if (!is_graph(graph)) return cudaErrorInvalidValue;
    const auto held = graph->user_objects.find(object);
    if (held == graph->user_objects.end() || held->second < count) return cudaErrorInvalidValue;
    held->second -= count;
    if (held->second == 0) graph->user_objects.erase(held);
    release_user_object(object, count);
    return cudaSuccess;
  };
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return WARPLINGS_API {
    const GraphMemory* memory = memory_of(device);
    if (memory == nullptr) return cudaErrorInvalidDevice;
    auto* const bytes = static_cast<uint64_t*>(value);
    switch (attribute) {
      case cudaGraphMemAttrUsedMemCurrent:
        *bytes = memory->used;
        return cudaSuccess;
      case cudaGraphMemAttrUsedMemHigh:
        *bytes = memory->used_high;
        return cudaSuccess;
      case cudaGraphMemAttrReservedMemCurrent:
        *bytes = memory->reserved;
        return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh:
        *bytes = memory->reserved_high;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  };
}

// Only the high-water marks can be set, and only to zero: "since now".
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return WARPLINGS_API {
    GraphMemory* memory = memory_of(device);
    if (memory == nullptr) return cudaErrorInvalidDevice;
    if (*static_cast<const uint64_t*>(value) != 0) return cudaErrorInvalidValue;
    switch (attribute) {
      case cudaGraphMemAttrUsedMemHigh:
        memory->used_high = memory->used;
        return cudaSuccess;
      case cudaGraphMemAttrReservedMemHigh:
        memory->reserved_high = memory->reserved;
        return cudaSuccess;
      default:
        return cudaErrorInvalidValue;
    }
  };
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return WARPLINGS_API {
    GraphMemory* memory = memory_of(device);
    if (memory == nullptr) return cudaErrorInvalidDevice;
    memory->reserved = memory->used;
    return cudaSuccess;
  };
}

}  // extern "C"

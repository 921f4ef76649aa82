// A graph as text in the DOT language, for cudaGraphDebugDotPrint.
#include <fstream>
#include <string>

#include "runtime/graph.h"

namespace warplings::sim {
namespace {

std::string size_text(const Dim3& size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " + std::to_string(size.z);
}

// Name and, if asked for, the parameters; lines end with the two characters \n.
struct Label {
  bool details;

  std::string operator()(const EmptyWork&) const { return "empty"; }
  std::string operator()(const KernelNodeWork& node) const {
    const KernelWork& launch = node.launch;
    std::string text = "kernel " + launch.kernel->demangled;
    if (!details) return text;
    text += "\\n" + size_text(launch.config.grid) + " blocks of " + size_text(launch.config.block);
    if (launch.config.dynamic_shared > 0) {
      text += "\\n" + std::to_string(launch.config.dynamic_shared) + " bytes of shared memory";
    }
    return text;
  }
  std::string operator()(const LibraryNodeWork& node) const { return node.work->name; }
  std::string operator()(const CopyWork& node) const {
    return "memcpy" + bytes(node.copy.box.bytes());
  }
  std::string operator()(const FillWork& node) const {
    return "memset" + bytes(node.fill.box.bytes());
  }
  std::string operator()(const HostWork&) const { return "host function"; }
  std::string operator()(const ChildWork&) const { return "child graph"; }
  std::string operator()(const EventRecordWork&) const { return "event record"; }
  std::string operator()(const EventWaitWork&) const { return "event wait"; }
  std::string operator()(const AllocateWork& node) const {
    return "allocate" + bytes(node.params.bytesize);
  }
  std::string operator()(const FreeWork&) const { return "free"; }

  std::string bytes(size_t count) const {
    return details ? "\\n" + std::to_string(count) + " bytes" : "";
  }
};

// Nodes are numbered in the order in which they were added, those of children behind a dot.
void write_nodes(const CUgraph_st& graph, const std::string& prefix, bool details,
                 const std::string& indent, std::ofstream& out) {
  std::map<const CUgraphNode_st*, std::string> names;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const CUgraphNode_st& node = *graph.nodes[i];
    const std::string name = prefix + std::to_string(i);
    names[&node] = name;
    out << indent << '"' << name << "\" [shape=box, label=\"" << name << ": "
        << std::visit(Label{details}, node.work) << "\"];\n";
    if (const auto* child = std::get_if<ChildWork>(&node.work)) {
      out << indent << "subgraph \"cluster_" << name << "\" {\n";
      write_nodes(*child->graph, name + ".", details, indent + "  ", out);
      out << indent << "}\n";
    }
  }
  for (const auto& node : graph.nodes) {
    for (const GraphEdge& edge : node->after) {
      out << indent << '"' << names[edge.from] << "\" -> \"" << names[node.get()] << "\";\n";
    }
  }
}

}  // namespace

bool write_dot(const CUgraph_st& graph, const char* path, unsigned flags) {
  std::ofstream out(path);
  out << "digraph graph_ {\n";
  write_nodes(graph, "", flags != 0, "  ", out);
  out << "}\n";
  return out.good();
}

}  // namespace warplings::sim

#include "checks/node_order.h"

namespace warplings::sim {

NodeOrder::NodeOrder(const std::vector<std::vector<size_t>>& after)
    : before_(after.size()), is_alone_(after.size(), true), nodes_(after.size()) {
  for (size_t i = 0; i < after.size(); ++i) {
    before_[i].resize(i / 64 + 1);
    for (const size_t waits_for : after[i]) {
      before_[i][waits_for / 64] |= uint64_t{1} << (waits_for % 64);
      for (size_t w = 0; w < before_[waits_for].size(); ++w) before_[i][w] |= before_[waits_for][w];
    }
    for (size_t earlier = 0; earlier < i; ++earlier) {
      if (!is_after(i, earlier)) is_alone_[i] = is_alone_[earlier] = false;
    }
  }
}

bool NodeOrder::is_after(size_t later, size_t earlier) const {
  return ((before_[later][earlier / 64] >> (earlier % 64)) & 1) != 0;
}

void NodeOrder::starts(size_t node, const std::shared_ptr<const Work>& work) {
  if (is_alone_[node] || work == nullptr) return;
  nodes_[node].work = work;
  nodes_[node].footprint = std::make_unique<Footprint>();
  for (const MemoryRange& range : work->ranges) {
    nodes_[node].footprint->add(range.address, range.size, range.write);
  }
  of_graph_ = Footprint::recording();
  Footprint::record_into(nodes_[node].footprint.get());
}

void NodeOrder::ends(size_t node) {
  const Footprint* footprint = nodes_[node].footprint.get();
  if (footprint == nullptr) return;
  Footprint::record_into(of_graph_);
  if (of_graph_ != nullptr) of_graph_->add(*footprint);
  for (size_t earlier = 0; earlier < node; ++earlier) {
    if (nodes_[earlier].footprint == nullptr || is_after(node, earlier)) continue;
    // Of two such nodes the one that was added last runs first.
    if (const auto conflict = footprint->conflict_with(*nodes_[earlier].footprint)) {
      report_unordered_nodes(*nodes_[node].work, *nodes_[earlier].work, *conflict);
    }
  }
}

}  // namespace warplings::sim

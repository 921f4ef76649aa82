// Streamcheck inside of a graph: nodes of one launch that touch the same bytes, one of them
// writing, and that no path of edges orders.
#ifndef WARPLINGS_SIMULATOR_CHECKS_NODE_ORDER_H_
#define WARPLINGS_SIMULATOR_CHECKS_NODE_ORDER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/work.h"
#include "memory/footprint.h"

namespace warplings::sim {

// One launch of a graph. Its nodes run one after the other, in an order that respects the edges.
class NodeOrder {
 public:
  // `after[i]`: the nodes that node i waits for, all of them smaller than i.
  explicit NodeOrder(const std::vector<std::vector<size_t>>& after);

  void starts(size_t node, const std::shared_ptr<const Work>& work);
  void ends(size_t node);  // what it touched is added to what the launch as a whole touches

 private:
  struct Node {
    std::shared_ptr<const Work> work;
    std::unique_ptr<Footprint> footprint;  // nullptr: it has not run, or is ordered with all others
  };
  bool is_after(size_t later, size_t earlier) const;

  std::vector<std::vector<uint64_t>> before_;  // a bit for each node that has ended by then
  std::vector<bool> is_alone_;                 // ordered with all others
  std::vector<Node> nodes_;
  Footprint* of_graph_ = nullptr;
};

// In words (checks/explain_order.cpp).
void report_unordered_nodes(const Work& first, const Work& second, const Conflict& conflict);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_NODE_ORDER_H_

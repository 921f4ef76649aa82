#include "checks/knowledge.h"

#include <algorithm>
#include <utility>

namespace warplings::sim {

// The count is not atomic: launches run on one thread at a time.
struct ClockMap::Node {
  uint32_t owners = 1;
  bool is_leaf;
  union {
    Node* child[32];
    uint32_t clock[32];
  };

  explicit Node(bool leaf) : is_leaf(leaf), child{} {}
};

namespace {

using Node = ClockMap::Node;

constexpr int kBits = 5;  // of the key, per level
constexpr uint64_t kMask = 31;

uint64_t index_at(uint64_t key, int level) { return (key >> (kBits * level)) & kMask; }

Node* share(Node* node) {
  if (node != nullptr) ++node->owners;
  return node;
}

void release(Node* node) {
  if (node == nullptr || --node->owners > 0) return;
  if (!node->is_leaf) {
    for (Node* child : node->child) release(child);
  }
  delete node;
}

// A node that only the caller owns, with the same content.
Node* unshared(Node* node) {
  if (node->owners == 1) return node;
  --node->owners;
  Node* copy = new Node(node->is_leaf);
  if (node->is_leaf) {
    std::copy(node->clock, node->clock + 32, copy->clock);
  } else {
    for (int i = 0; i < 32; ++i) copy->child[i] = share(node->child[i]);
  }
  return copy;
}

Node* join_leaves(Node* a, Node* b) {
  bool a_has_all = true, b_has_all = true;
  for (int i = 0; i < 32; ++i) {
    a_has_all = a_has_all && a->clock[i] >= b->clock[i];
    b_has_all = b_has_all && b->clock[i] >= a->clock[i];
  }
  if (a_has_all) return a;
  if (b_has_all) {
    release(a);
    return share(b);
  }
  a = unshared(a);
  for (int i = 0; i < 32; ++i) a->clock[i] = std::max(a->clock[i], b->clock[i]);
  return a;
}

// Takes `a` and returns the join; the result is one of the two where that is possible.
Node* join_nodes(Node* a, Node* b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return share(b);
  if (a->is_leaf) return join_leaves(a, b);
  bool same_as_b = true;
  for (int i = 0; i < 32; ++i) {
    Node* joined = join_nodes(share(a->child[i]), b->child[i]);
    if (joined == a->child[i]) {
      release(joined);
    } else {
      a = unshared(a);
      release(a->child[i]);
      a->child[i] = joined;
    }
    same_as_b = same_as_b && a->child[i] == b->child[i];
  }
  if (!same_as_b) return a;
  release(a);
  return share(b);
}

}  // namespace

ClockMap::ClockMap(const ClockMap& other) : root_(share(other.root_)), height_(other.height_) {}

ClockMap::ClockMap(ClockMap&& other) noexcept
    : root_(std::exchange(other.root_, nullptr)), height_(other.height_) {}

ClockMap& ClockMap::operator=(ClockMap other) noexcept {
  std::swap(root_, other.root_);
  std::swap(height_, other.height_);
  return *this;
}

ClockMap::~ClockMap() { release(root_); }

uint32_t ClockMap::look_up(uint64_t key) const {
  if ((key >> (kBits * (height_ + 1))) != 0) return 0;
  const Node* node = root_;
  for (int level = height_; level > 0 && node != nullptr; --level) {
    node = node->child[index_at(key, level)];
  }
  return node == nullptr ? 0 : node->clock[key & kMask];
}

void ClockMap::grow_to(uint64_t key) {
  if (root_ == nullptr) {
    height_ = 0;
    while ((key >> (kBits * (height_ + 1))) != 0) ++height_;
    root_ = new Node(height_ == 0);
  }
  while ((key >> (kBits * (height_ + 1))) != 0) {
    Node* above = new Node(false);
    above->child[0] = root_;
    root_ = above;
    ++height_;
  }
}

ClockMap::Node* ClockMap::leaf_of(uint64_t key) {
  grow_to(key);
  root_ = unshared(root_);
  Node* node = root_;
  for (int level = height_; level > 0; --level) {
    Node*& child = node->child[index_at(key, level)];
    child = child == nullptr ? new Node(level == 1) : unshared(child);
    node = child;
  }
  return node;
}

void ClockMap::raise(uint64_t key, uint32_t clock) {
  if (clock == 0 || at(key) >= clock) return;
  leaf_of(key)->clock[key & kMask] = clock;
}

void ClockMap::raise_all(uint64_t first, const uint32_t clocks[32]) {
  if (std::all_of(clocks, clocks + 32, [](uint32_t clock) { return clock == 0; })) return;
  Node* leaf = leaf_of(first);
  for (int i = 0; i < 32; ++i) leaf->clock[i] = std::max(leaf->clock[i], clocks[i]);
}

void ClockMap::join(const ClockMap& other) {
  if (other.root_ == nullptr || other.root_ == root_) return;
  if (root_ == nullptr) {
    *this = other;
    return;
  }
  ClockMap wider = other;
  const auto raise_height = [](ClockMap& map, int height) {
    while (map.height_ < height) {
      Node* above = new Node(false);
      above->child[0] = map.root_;
      map.root_ = above;
      ++map.height_;
    }
  };
  raise_height(*this, wider.height_);
  raise_height(wider, height_);
  root_ = join_nodes(root_, wider.root_);
}

}  // namespace warplings::sim

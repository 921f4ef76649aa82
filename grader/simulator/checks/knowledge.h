// What somebody knows to have happened: for whole blocks and for single threads, the clock up to
// which all their accesses lie in the past.
//
// Held in trees that share their parts: a lock or a ticket that goes through the hands of thousands
// of threads carries the past of all of them, and handing it on costs what has changed.
#ifndef WARPLINGS_SIMULATOR_CHECKS_KNOWLEDGE_H_
#define WARPLINGS_SIMULATOR_CHECKS_KNOWLEDGE_H_

#include <cstdint>

namespace warplings::sim {

// Key -> clock, 0 where nothing is known; only grows. Copies share their nodes.
class ClockMap {
 public:
  ClockMap() = default;
  ClockMap(const ClockMap& other);
  ClockMap(ClockMap&& other) noexcept;
  ClockMap& operator=(ClockMap other) noexcept;
  ~ClockMap();

  bool empty() const { return root_ == nullptr; }
  uint32_t at(uint64_t key) const { return root_ == nullptr ? 0 : look_up(key); }
  void raise(uint64_t key, uint32_t clock);
  // 32 neighbours at once; `first` is a multiple of 32.
  void raise_all(uint64_t first, const uint32_t clocks[32]);
  void join(const ClockMap& other);
  bool same(const ClockMap& other) const { return root_ == other.root_; }

  struct Node;  // 32 children or 32 clocks

 private:
  uint32_t look_up(uint64_t key) const;
  void grow_to(uint64_t key);
  Node* leaf_of(uint64_t key);

  Node* root_ = nullptr;
  int height_ = 0;  // of the root above the leaves
};

class Knowledge {
 public:
  bool empty() const { return blocks_.empty() && threads_.empty(); }
  bool same(const Knowledge& other) const {
    return blocks_.same(other.blocks_) && threads_.same(other.threads_);
  }
  // Has everything that this thread did up to `clock` happened?
  bool covers(uint32_t block, uint32_t thread, uint32_t clock) const {
    return blocks_.at(block) >= clock || threads_.at(key(block, thread)) >= clock;
  }
  void join(const Knowledge& other) {
    blocks_.join(other.blocks_);
    threads_.join(other.threads_);
  }
  void add_block(uint32_t block, uint32_t clock) { blocks_.raise(block, clock); }
  void add_thread(uint32_t block, uint32_t thread, uint32_t clock) {
    threads_.raise(key(block, thread), clock);
  }
  void add_warp(uint32_t block, uint32_t warp, const uint32_t clocks[32]) {
    threads_.raise_all(key(block, warp * 32), clocks);
  }

 private:
  static uint64_t key(uint32_t block, uint32_t thread) { return uint64_t{block} * 2048 + thread; }

  ClockMap blocks_;
  ClockMap threads_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CHECKS_KNOWLEDGE_H_

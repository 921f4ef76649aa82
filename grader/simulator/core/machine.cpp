#include "core/machine.h"

#include <cstdio>
#include <cstdlib>

namespace warplings::sim {

Machine::~Machine() {
  const Use use(*this);  // parts reach each other through the current machine
  while (!made_.empty()) {
    const Made last = made_.back();
    made_.pop_back();
    last.destroy(parts_[last.slot].exchange(nullptr));
  }
}

const Options& Machine::options() {
  const std::lock_guard lock(mutex_);
  if (!options_) options_ = options_of_environment();
  return *options_;
}

Machine& Machine::make_first() {
  static auto* const machine = new Machine();
  first_.store(machine, std::memory_order_release);
  return *machine;
}

size_t Machine::new_slot() {
  static constinit std::atomic<size_t> next{0};
  const size_t slot = next++;
  if (slot >= kMostParts) {
    std::fprintf(stderr, "warplings simulator: more than %zu kinds of parts of a machine\n",
                 kMostParts);
    std::abort();
  }
  return slot;
}

void* Machine::make(size_t slot, void* (*create)(), void (*destroy_part)(void*)) {
  const std::lock_guard lock(mutex_);
  void* part = parts_[slot].load(std::memory_order_acquire);
  if (part != nullptr) return part;  // another thread was faster
  part = create();
  parts_[slot].store(part, std::memory_order_release);
  made_.push_back({slot, destroy_part});
  return part;
}

}  // namespace warplings::sim

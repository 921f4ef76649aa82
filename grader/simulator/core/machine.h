// One simulated machine: its devices, memory, streams, findings and options.
//
// A program has one machine, the current one of all its threads; it is made when something asks for
// it, because programs register their code before the simulator's own objects are constructed, and
// it is never destroyed, because they go on calling while they end. Tests make others, which are
// the current ones of the threads that use them.
//
// A part of a machine is any type that can be constructed without arguments:
// `Machine::get<Streams>()` is the one of the current machine, made when it is first asked for. So
// each folder keeps what it needs with the machine, and core/ knows none of it.
#ifndef WARPLINGS_SIMULATOR_CORE_MACHINE_H_
#define WARPLINGS_SIMULATOR_CORE_MACHINE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/options.h"

namespace warplings::sim {

class Machine {
 public:
  Machine() = default;  // with the options of the environment, read when something asks for one
  explicit Machine(Options options) : options_(std::move(options)) {}
  ~Machine();  // its parts, the last one made first
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static Machine& current() {
    if (used_ != nullptr) return *used_;
    Machine* const machine = first_.load(std::memory_order_acquire);
    return machine != nullptr ? *machine : make_first();
  }

  // The part of the current machine. Any thread may ask.
  template <class T>
  static T& get() {
    return current().part<T>();
  }
  template <class T>
  T& part() {
    static const size_t slot = new_slot();
    void* part = parts_[slot].load(std::memory_order_acquire);
    if (part == nullptr)
      part = make(
          slot, [] { return static_cast<void*>(new T()); }, destroy<T>);
    return *static_cast<T*>(part);
  }

  const Options& options();

  // While it lives, `machine` is the current one of this thread.
  class Use {
   public:
    explicit Use(Machine& machine) : before_(used_) { used_ = &machine; }
    ~Use() { used_ = before_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Machine* const before_;
  };

 private:
  static constexpr size_t kMostParts = 96;
  struct Made {
    size_t slot;
    void (*destroy)(void*);
  };

  template <class T>
  static void destroy(void* part) {
    delete static_cast<T*>(part);
  }
  static Machine& make_first();
  static size_t new_slot();
  void* make(size_t slot, void* (*create)(), void (*destroy_part)(void*));

  inline static constinit std::atomic<Machine*> first_{nullptr};
  inline static constinit thread_local Machine* used_ = nullptr;

  std::optional<Options> options_;
  std::array<std::atomic<void*>, kMostParts> parts_{};
  std::recursive_mutex mutex_;  // a part may ask for others while it is made
  std::vector<Made> made_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_MACHINE_H_

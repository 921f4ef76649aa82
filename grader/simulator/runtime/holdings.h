// What the program holds: things that it made and has not given back, and modes that it may set.
// The kit compares two of these lists; the simulator itself never reads one.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_HOLDINGS_H_
#define WARPLINGS_SIMULATOR_RUNTIME_HOLDINGS_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace warplings::sim {

struct Holding {
  std::string what;              // "stream", "cuBLAS handle"; "math mode of a cuBLAS handle"
  const void* object = nullptr;  // nullptr: `value` counts things; else a mode of this object
  int64_t value = 0;
};

class Holdings {
 public:
  static Holdings& instance();  // of the current machine

  void change(const std::string& what, int64_t by);
  void set_mode(const std::string& what, const void* object, int64_t value);
  void forget_modes(const void* object);
  // With memory and the state of the runtime, which are counted where they live.
  std::vector<Holding> list() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int64_t> counts_;
  std::map<std::pair<std::string, const void*>, int64_t> modes_;
};

// A member of what a program makes: counted for as long as it exists. A copy is not the program's.
class Held {
 public:
  explicit Held(const char* what) : what_(what) { Holdings::instance().change(what_, 1); }
  ~Held() {
    if (what_ != nullptr) Holdings::instance().change(what_, -1);
  }
  Held(const Held&) : what_(nullptr) {}
  Held& operator=(const Held&) { return *this; }  // NOLINT(bugprone-unhandled-self-assignment)

 private:
  const char* what_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_HOLDINGS_H_

// Calls that fail because somebody asked for it (wsim_fail_call): how a test sees whether a program
// looks at the status of each call that it makes.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_

#include <cstdint>
#include <string>

#include "core/finding.h"

namespace warplings::sim {

// State of wsim_fail_call; the lock of the runtime protects it.
class CallFailure {
 public:
  static CallFailure& instance();  // of the current machine

  // The k-th call of a function whose name begins with one of `names`, from a source file whose
  // name ends with `files`; 0: none.
  void ask_for(uint64_t k, std::string names, std::string files);
  bool is_asked_for() const { return asked_ != 0; }
  // Counts a call that could fail. True once, for the one that has to.
  bool is_due(const char* name, const Position& where);
  // "cudaMalloc at copy.cu:12", "" before it has happened.
  const std::string& description() const { return description_; }

 private:
  uint64_t asked_ = 0, seen_ = 0;
  std::string names_, files_, description_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_

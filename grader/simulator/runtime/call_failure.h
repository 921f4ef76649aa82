// Calls that fail because somebody asked for it (wsim_fail_call): how a test sees whether a program
// looks at the status of each call that it makes.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>

#include "core/finding.h"

namespace warplings::sim {

// State of wsim_fail_call; the lock of the runtime protects it.
class CallFailure {
 public:
  static CallFailure& instance();  // of the current machine

  // The k-th call of a function whose name begins with one of `names`, from a source file whose
  // name ends with `files`; 0: none. A call at one place counts a few times: a loop of a thousand
  // steps makes the same call again and again.
  void ask_for(uint64_t k, std::string names, std::string files);
  bool is_asked_for() const { return asked_ != 0; }
  // Counts a call that could fail. True once, for the one that has to.
  bool is_due(const char* name, const Position& where);
  uint64_t seen() const { return seen_; }  // calls that could have failed since ask_for()
  // "cudaMalloc at copy.cu:12", "" before it has happened.
  const std::string& description() const { return description_; }
  // What it returned, if it is a call of the runtime.
  void returns(cudaError_t error) { error_ = error; }
  cudaError_t error() const { return error_; }

 private:
  uint64_t asked_ = 0, seen_ = 0;
  std::map<std::string, int> times_;  // of a call at its place
  std::string names_, files_, description_;
  cudaError_t error_ = cudaSuccess;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_CALL_FAILURE_H_

// What every exported function of the CUDA runtime goes through: the lock, the call count, the
// error state, and the line of the program that made the call.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_API_H_
#define WARPLINGS_SIMULATOR_RUNTIME_API_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "core/finding.h"
#include "runtime/host_lines.h"

namespace warplings::sim {

// One mutex for the runtime: programs call it from several threads, and work of any stream may run
// inside any call. Recursive, because host functions run inside it.
std::recursive_mutex& api_mutex();

void count_api_call(const char* name);
uint64_t api_calls(const std::string& name);
uint64_t all_api_calls();  // since the start; never reset
void reset_api_calls();

// One call in progress.
class ApiCall {
 public:
  ApiCall(const char* name, const void* return_address)
      : name_(name), return_address_(return_address) {}

  const char* name() const { return name_; }
  // The line of the program; looked up when asked for.
  Position where() const { return host_call_position(return_address_); }
  // "cudaMemcpy at copy.cu:12", or the name alone.
  std::string description() const;
  void report(const char* check, const char* kind, const std::string& message,
              bool is_note = false) const;

 private:
  const char* name_;
  const void* return_address_;
};

// Stream capture forbids some calls (runtime/capture.h).
bool any_capture();
bool is_unsafe_during_capture(const char* name);
cudaError_t check_unsafe_call(const ApiCall& call);

// While a host function runs, every call is refused and reported: on a GPU it may be refused or may
// wait for the stream that waits for the host function.
bool& runs_host_function();
cudaError_t refuse_in_host_function(const ApiCall& call);

enum class OnFault { kRefuse, kWork };  // what a call does on a device that faulted

// True for the call that somebody wants to fail (runtime/call_failure.h).
bool has_to_fail(const ApiCall& call);
cudaError_t usual_error(const char* name);

// What an exported function does once nothing stands against it: `run` is given `body`. No
// template, so that the way to it is compiled once and not for each of some 300 functions.
struct ApiBody {
  cudaError_t (*run)(const void* body, const ApiCall& call);
  const void* body;
};
cudaError_t run_body(const char* name, const void* return_address, OnFault on_fault, ApiBody body);

template <class Body>
cudaError_t run_api(const char* name, const void* return_address, OnFault on_fault,
                    const Body& body) {
  const auto run = [](const void* erased, const ApiCall& call) -> cudaError_t {
    return (*static_cast<const Body*>(erased))(call);
  };
  return run_body(name, return_address, on_fault, {run, &body});
}

}  // namespace warplings::sim

// Bodies of exported functions: `return WARPLINGS_API(call) { ... };`
#define WARPLINGS_API_BODY(on_fault)                                 \
  ::warplings::sim::ApiRunner{__func__, __builtin_return_address(0), \
                              ::warplings::sim::OnFault::on_fault}   \
      << [&]([[maybe_unused]] const ::warplings::sim::ApiCall& call) -> cudaError_t
#define WARPLINGS_API WARPLINGS_API_BODY(kRefuse)
// For calls that do not touch the device: they work after a fault too.
#define WARPLINGS_API_ALWAYS WARPLINGS_API_BODY(kWork)

namespace warplings::sim {

struct ApiRunner {
  const char* name;
  const void* return_address;
  OnFault on_fault;
  template <class Body>
  cudaError_t operator<<(const Body& body) const {
    return run_api(name, return_address, on_fault, body);
  }
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_API_H_

#include "runtime/api.h"

#include <cstring>
#include <map>
#include <new>
#include <string_view>
#include <utility>

#include "core/machine.h"
#include "profile/timeline.h"
#include "runtime/error_state.h"

namespace warplings::sim {
namespace {

struct Calls {
  std::recursive_mutex mutex;
  std::map<std::string_view, uint64_t> counts;
  uint64_t all = 0;
  bool runs_host_function = false;
};
Calls& calls() { return Machine::get<Calls>(); }

}  // namespace

std::recursive_mutex& api_mutex() { return calls().mutex; }

// `name` is a literal: __func__ of the exported function.
void count_api_call(const char* name) {
  ++calls().counts[name];
  ++calls().all;
}

uint64_t all_api_calls() { return calls().all; }

uint64_t api_calls(const std::string& name) {
  const auto found = calls().counts.find(name);
  return found == calls().counts.end() ? 0 : found->second;
}

void reset_api_calls() { calls().counts.clear(); }

bool& runs_host_function() { return calls().runs_host_function; }

cudaError_t refuse_in_host_function(const ApiCall& call) {
  call.report("api", "call-in-host-function",
              "A host function called " + call.description() +
                  ". While it runs its stream stands still, so a call that waits for that stream "
                  "would wait forever: a host function must not call CUDA. Let it set a flag, and "
                  "make the call where the flag is read.");
  return cudaErrorNotPermitted;
}

std::string ApiCall::description() const {
  const Position position = where();
  return position.known() ? std::string(name_) + " at " + position.short_name() : name_;
}

void ApiCall::report(const char* check, const char* kind, const std::string& message,
                     bool is_note) const {
  Finding finding;
  finding.check = check;
  finding.kind = kind;
  finding.message = message;
  finding.where = where();
  finding.is_note = is_note;
  FindingLog::instance().report(std::move(finding));
}

cudaError_t run_body(const char* name, const void* return_address, OnFault on_fault, ApiBody body) {
  std::lock_guard lock(api_mutex());
  count_api_call(name);
  Timeline::instance().host_enters(name, return_address);
  const ApiCall call(name, return_address);
  if (runs_host_function()) return refuse_in_host_function(call);
  cudaError_t error = on_fault == OnFault::kRefuse ? sticky_error() : cudaSuccess;
  if (error == cudaSuccess && any_capture() && is_unsafe_during_capture(name)) {
    error = check_unsafe_call(call);
  }
  const bool is_made_to_fail = error == cudaSuccess && has_to_fail(call);
  // What a library refuses is in its own status, and leaves no error of the runtime behind.
  const bool is_refusal = is_made_to_fail && std::strstr(name, "cuda") == nullptr;
  if (is_made_to_fail) {
    error = usual_error(name);
  } else if (error == cudaSuccess) {
    try {
      error = body.run(body.body, call);
    } catch (const std::bad_alloc&) {
      error = cudaErrorMemoryAllocation;
    }
  }
  if (error != cudaSuccess && !is_refusal) {
    last_error() = error;
    last_failed_call() = {name, return_address};
  }
  return error;
}

}  // namespace warplings::sim

#include "runtime/call_failure.h"

#include <string_view>
#include <utility>

#include "core/machine.h"
#include "runtime/api.h"
#include "runtime/call_configuration.h"

namespace warplings::sim {
namespace {

constexpr int kMostTimes = 4;  // that a call at one place is made to fail

bool contains_one_of(std::string_view name, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

// Releases have no other way to go on; questions, and modes of a live handle, have an answer in any
// case. What ends a capture or begins a group would leave open what nobody can close.
bool can_fail(std::string_view name) {
  return !contains_one_of(
      name, {"Free",         "Destroy",    "Unregister",    "Release",     "Abort",
             "Finalize",     "LastError",  "AsyncError",    "Query",       "Version",
             "Property",     "EndCapture", "IsCapturing",   "CaptureInfo", "cudaGetDevice",
             "Mode",         "GetStream",  "cudaSetDevice", "DeviceReset", "PopCallConfiguration",
             "cudaRegister", "GroupStart"});
}

// Whether it begins with one of `names`, which blanks separate; "" begins every name.
bool begins_with_one_of(std::string_view name, std::string_view names) {
  for (;;) {
    const size_t blank = names.find(' ');
    if (name.starts_with(names.substr(0, blank))) return true;
    if (blank == names.npos) return false;
    names.remove_prefix(blank + 1);
  }
}

bool is_launch(std::string_view name) { return name.find("LaunchKernel") != name.npos; }

}  // namespace

CallFailure& CallFailure::instance() { return Machine::get<CallFailure>(); }

void CallFailure::ask_for(uint64_t k, std::string names, std::string files) {
  asked_ = k;
  seen_ = 0;
  times_.clear();
  names_ = std::move(names);
  files_ = std::move(files);
  description_.clear();
  error_ = cudaSuccess;
}

bool CallFailure::is_due(const char* name, const Position& where) {
  const std::string_view function = is_launch(name) ? "cudaLaunchKernel" : name;
  if (!begins_with_one_of(function, names_) || !can_fail(name)) return false;
  if (!where.known() || !where.file.ends_with(files_)) return false;
  std::string call = (is_launch(name) ? "the launch" : name) + (" at " + where.short_name());
  if (++times_[call] > kMostTimes || ++seen_ != asked_) return false;
  description_ = std::move(call);
  return true;
}

bool has_to_fail(const ApiCall& call) {
  CallFailure& failure = CallFailure::instance();
  if (!failure.is_asked_for()) return false;
  // <<<>>> reaches the runtime from code that nvcc writes.
  Position where = is_launch(call.name()) ? pending_launch_position() : Position();
  if (!where.known()) where = call.where();
  const bool due = failure.is_due(call.name(), where);
  if (due) failure.returns(usual_error(call.name()));
  if (due) take_launch_position(&where);
  return due;
}

// An error that this function of the runtime returns when something goes wrong.
cudaError_t usual_error(const char* name) {
  if (contains_one_of(name, {"Malloc", "Alloc", "Create", "Instantiate"})) {
    return cudaErrorMemoryAllocation;
  }
  if (contains_one_of(name, {"Launch"})) return cudaErrorLaunchOutOfResources;
  if (contains_one_of(name, {"Synchronize"})) return cudaErrorLaunchFailure;
  return cudaErrorInvalidValue;
}

}  // namespace warplings::sim

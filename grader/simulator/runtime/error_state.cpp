#include "runtime/error_state.h"

#include <algorithm>
#include <array>

#include "core/machine.h"
#include "memory/device_memory.h"
#include "runtime/device_state.h"

namespace warplings::sim {
namespace {

std::array<cudaError_t, kMaxDevices>& sticky() {
  struct StickyErrors {
    std::array<cudaError_t, kMaxDevices> of_device{};  // cudaSuccess
  };
  return Machine::get<StickyErrors>().of_device;
}

}  // namespace

cudaError_t sticky_error() { return sticky_error(current_device()); }

cudaError_t sticky_error(int device) { return sticky()[static_cast<size_t>(device)]; }

bool any_sticky_error() {
  return std::any_of(sticky().begin(), sticky().end(),
                     [](cudaError_t error) { return error != cudaSuccess; });
}

void set_sticky_error(int device, cudaError_t error) {
  cudaError_t& kept = sticky()[static_cast<size_t>(device)];
  if (kept == cudaSuccess) kept = error;
}

void clear_sticky_error(int device) { sticky()[static_cast<size_t>(device)] = cudaSuccess; }

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

FailedCall& last_failed_call() {
  thread_local FailedCall call;
  return call;
}

}  // namespace warplings::sim

// The entry points that nvcc's generated code calls: registration before main, and the first half
// of a `<<<...>>>` launch. Declared here because no header of the toolkit does so for host
// compilers.
#include <cuda_runtime_api.h>

#include <utility>
#include <vector>

#include "runtime/api.h"
#include "runtime/call_configuration.h"
#include "runtime/error_state.h"
#include "runtime/exec_mode.h"
#include "runtime/registry.h"

using namespace warplings::sim;

namespace {

struct CallConfiguration {
  dim3 grid, block;
  size_t shared;
  void* stream;
  const void* return_address;
};

std::vector<CallConfiguration>& configurations() {
  thread_local std::vector<CallConfiguration> stack;
  return stack;
}

const void*& popped_address() {
  thread_local const void* address = nullptr;
  return address;
}

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

}  // namespace

namespace warplings::sim {

bool take_launch_position(Position* position) {
  const void* address = std::exchange(popped_address(), nullptr);
  if (address == nullptr) return false;
  *position = host_call_position(address);
  return true;
}

Position pending_launch_position() {
  return popped_address() == nullptr ? Position() : host_call_position(popped_address());
}

}  // namespace warplings::sim

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  std::lock_guard lock(api_mutex());
  start_exec_mode();
  return reinterpret_cast<void**>(Registry::instance().add_binary(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  std::lock_guard lock(api_mutex());
  if (handle != nullptr) binary_of(handle)->unregistered = true;
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  std::lock_guard lock(api_mutex());
  Registry::instance().add_kernel(binary_of(handle), host_function, name);
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* name, int,
                       size_t size, int constant, int) {
  std::lock_guard lock(api_mutex());
  RegisteredVariable variable;
  variable.name = name;
  variable.size = size;
  variable.constant = constant != 0;
  Registry::instance().add_variable(binary_of(handle), host_variable, variable);
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int,
                              size_t size, int constant, int) {
  std::lock_guard lock(api_mutex());
  RegisteredVariable variable;
  variable.name = name;
  variable.size = size;
  variable.constant = constant != 0;
  variable.managed_pointer = host_pointer;
  Registry::instance().add_variable(binary_of(handle), host_pointer, variable);
}

// Called before the program first touches a managed variable, and at start in some builds. Loads
// the module only where that matters.
char __cudaInitModule(void** handle) {
  std::lock_guard lock(api_mutex());
  FatBinary* binary = binary_of(handle);
  if (!binary->managed.empty()) Registry::instance().load(binary);
  return 1;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  std::lock_guard lock(api_mutex());
  *kernel = reinterpret_cast<cudaKernel_t>(Registry::instance().kernel_at(host_function));
  return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void* stream) {
  configurations().push_back({grid, block, shared, stream, __builtin_return_address(0)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return last_error() = cudaErrorMissingConfiguration;
  const CallConfiguration configuration = configurations().back();
  configurations().pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<void**>(stream) = configuration.stream;
  popped_address() = configuration.return_address;
  return cudaSuccess;
}

}  // extern "C"

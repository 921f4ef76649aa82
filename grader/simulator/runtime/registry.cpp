#include "runtime/registry.h"

#include <cstring>
#include <exception>
#include <string>
#include <utility>

#include "checks/finding.h"
#include "memory/device_memory.h"
#include "ptx/module.h"
#include "runtime/fat_binary.h"

namespace warplings::sim {
namespace {

void report_problem(const char* kind, const std::string& message) {
  Finding finding;
  finding.check = "launch";
  finding.kind = kind;
  finding.message = message;
  FindingLog::instance().report(std::move(finding));
}

bool has_hidden_effects(const std::string& ptx) {
  for (const char* word : {"vprintf", "%clock", "%globaltimer", "malloc", "nanosleep"}) {
    if (ptx.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Registry& Registry::instance() {
  static Registry* const registry = new Registry();
  return *registry;
}

FatBinary* Registry::add_binary(const void* wrapper) {
  binaries_.push_back(std::make_unique<FatBinary>());
  FatBinary* binary = binaries_.back().get();
  binary->wrapper = wrapper;
  return binary;
}

void Registry::add_kernel(FatBinary* binary, const void* host_function, const char* name) {
  auto kernel = std::make_unique<RegisteredKernel>();
  kernel->binary = binary;
  kernel->name = name;
  kernels_[host_function] = std::move(kernel);
}

void Registry::add_variable(FatBinary* binary, const void* host_variable,
                            const RegisteredVariable& variable) {
  auto& stored = variables_[host_variable];
  stored = std::make_unique<RegisteredVariable>(variable);
  stored->binary = binary;
  if (variable.managed_pointer != nullptr) binary->managed.push_back(stored.get());
}

RegisteredKernel* Registry::kernel_at(const void* host_function) {
  const auto found = kernels_.find(host_function);
  if (found == kernels_.end() || found->second->binary->unregistered) return nullptr;
  return found->second.get();
}

bool Registry::is_kernel(const RegisteredKernel* kernel) const {
  for (const auto& [function, known] : kernels_) {
    if (known.get() == kernel) return true;
  }
  return false;
}

void Registry::load_modules(FatBinary* binary) {
  FatBinaryContents contents = read_fat_binary(binary->wrapper);
  if (contents.ptx.empty()) {
    binary->problem = contents.problem;
    binary->error = cudaErrorNoKernelImageForDevice;
    report_problem("no-ptx", contents.problem);
    return;
  }
  for (std::string& text : contents.ptx) {
    try {
      const bool impure = has_hidden_effects(text);
      LoadedModule* module = load_module(ptx::parse(std::move(text), "device code"));
      binary->modules.push_back(module);
      if (impure) impure_.insert(module);
    } catch (const std::exception& error) {
      binary->problem = error.what();
      binary->error = cudaErrorInvalidPtx;
      report_problem("bad-ptx",
                     std::string("The simulator cannot read the program's PTX: ") + error.what());
    }
  }
}

cudaError_t Registry::load(FatBinary* binary) {
  if (!binary->loaded) {
    binary->loaded = true;
    load_modules(binary);
    remember_initial_values();
    publish_managed(binary);
  }
  return binary->modules.empty() ? binary->error : cudaSuccess;
}

// The host reaches a managed variable through a pointer that nvcc made for it.
void Registry::publish_managed(FatBinary* binary) {
  for (RegisteredVariable* variable : binary->managed) {
    uint64_t address = 0, size = 0;
    for (LoadedModule* module : binary->modules) {
      if (!find_variable(module, variable->name, &address, &size)) continue;
      DeviceMemory::instance().make_host_visible(address);
      *variable->managed_pointer = reinterpret_cast<void*>(address);
    }
  }
}

void Registry::remember_initial_values() {
  DeviceMemory& memory = DeviceMemory::instance();
  for (const Allocation& variable : memory.module_variables()) {
    auto [entry, is_new] = initial_values_.try_emplace(variable.start);
    if (!is_new) continue;
    entry->second.assign(reinterpret_cast<const char*>(memory.view(variable.start)), variable.size);
  }
}

void Registry::restore_variables() {
  DeviceMemory& memory = DeviceMemory::instance();
  for (const auto& [address, bytes] : initial_values_) {
    std::memcpy(memory.view(address), bytes.data(), bytes.size());
  }
}

cudaError_t Registry::resolve(RegisteredKernel* kernel) {
  if (kernel->kernel != nullptr) return cudaSuccess;
  if (const cudaError_t error = load(kernel->binary); error != cudaSuccess) return error;
  for (LoadedModule* module : kernel->binary->modules) {
    kernel->kernel = find_kernel(module, kernel->name);
    if (kernel->kernel != nullptr) return cudaSuccess;
  }
  return kernel->binary->error != cudaSuccess ? kernel->binary->error
                                              : cudaErrorInvalidDeviceFunction;
}

cudaError_t Registry::resolve(const void* symbol, uint64_t* address, uint64_t* size) {
  const auto found = variables_.find(symbol);
  if (found != variables_.end()) {
    RegisteredVariable* variable = found->second.get();
    if (const cudaError_t error = load(variable->binary); error != cudaSuccess) return error;
    for (LoadedModule* module : variable->binary->modules) {
      if (find_variable(module, variable->name, address, size)) return cudaSuccess;
    }
    // A variable that no kernel uses is dropped by nvcc, as on a GPU.
    return cudaErrorInvalidSymbol;
  }
  // The name of a managed variable means the variable itself in host code: its device address.
  const Allocation* allocation =
      DeviceMemory::instance().allocation_at(reinterpret_cast<uint64_t>(symbol));
  if (allocation == nullptr || allocation->kind != AllocationKind::kModule) {
    return cudaErrorInvalidSymbol;
  }
  *address = reinterpret_cast<uint64_t>(symbol);
  *size = allocation->end() - *address;
  return cudaSuccess;
}

}  // namespace warplings::sim

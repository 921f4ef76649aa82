#include "runtime/registry.h"

#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "checks/stream_order.h"
#include "core/finding.h"
#include "core/machine.h"
#include "decode/program.h"
#include "memory/device_memory.h"
#include "ptx/link.h"
#include "ptx/module.h"
#include "ptx/select_kernels.h"
#include "runtime/device_state.h"
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

// The first device that loads the module has its managed variables; the others share them.
const LoadedModule* loaded_before(const FatBinary& binary, size_t index) {
  for (const std::vector<LoadedModule*>& modules : binary.modules) {
    if (index < modules.size()) return modules[index];
  }
  return nullptr;
}

}  // namespace

Registry& Registry::instance() { return Machine::get<Registry>(); }

FatBinary* Registry::add_binary(const void* wrapper) {
  binaries_.push_back(std::make_unique<FatBinary>());
  FatBinary* binary = binaries_.back().get();
  binary->wrapper = wrapper;
  return binary;
}

FatBinary* Registry::add_code(const void* code) {
  uint32_t first = 0;
  std::memcpy(&first, code, sizeof first);
  const bool is_text = std::strncmp(static_cast<const char*>(code), "//", 2) == 0 ||
                       std::strstr(static_cast<const char*>(code), ".version") != nullptr;
  std::shared_ptr<const void> made;
  const void* wrapper = nullptr;
  if (first == kFatBinaryWrapperMagic) {
    wrapper = code;
  } else if (first == kFatBinaryMagic) {
    made = wrap_fat_binary(code);
    wrapper = made.get();
  } else if (!is_text) {
    return nullptr;
  }
  FatBinary* const binary = add_binary(wrapper);
  binary->loaded_at_run_time = true;
  binary->own_wrapper = std::move(made);
  if (wrapper == nullptr) binary->text = static_cast<const char*>(code);
  return binary;
}

bool Registry::is_loaded_code(const FatBinary* binary) const {
  for (const auto& known : binaries_) {
    if (known.get() == binary) return binary->loaded_at_run_time && !binary->unregistered;
  }
  return false;
}

RegisteredKernel* Registry::kernel_named(FatBinary* binary, const std::string& name) {
  for (const auto& [key, known] : kernels_) {
    if (known->binary == binary && known->name == name) return known.get();
  }
  for (LoadedModule* module : binary->modules[static_cast<size_t>(current_device())]) {
    if (find_kernel(module, name) == nullptr) continue;
    auto kernel = std::make_unique<RegisteredKernel>();
    kernel->binary = binary;
    kernel->name = name;
    RegisteredKernel* const made = kernel.get();
    kernels_[made] = std::move(kernel);  // no host function stands for it
    return made;
  }
  return nullptr;
}

std::vector<RegisteredKernel*> Registry::kernels_in(FatBinary* binary) {
  std::vector<RegisteredKernel*> all;
  for (LoadedModule* module : binary->modules[static_cast<size_t>(current_device())]) {
    for (const Kernel* kernel : kernels_of(module)) {
      all.push_back(kernel_named(binary, kernel->name));
    }
  }
  return all;
}

bool Registry::variable_named(FatBinary* binary, const std::string& name, uint64_t* address,
                              uint64_t* size) {
  for (LoadedModule* module : binary->modules[static_cast<size_t>(current_device())]) {
    if (find_variable(module, name, address, size)) return true;
  }
  return false;
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

RegisteredKernel* Registry::kernel_of(const void* function_or_handle) {
  if (RegisteredKernel* kernel = kernel_at(function_or_handle)) return kernel;
  for (const auto& [function, known] : kernels_) {
    if (known.get() == function_or_handle) return known.get();
  }
  return nullptr;
}

namespace {

// Kernels reach them without an argument.
void watch_managed_variables(const LoadedModule& module) {
  for (const ptx::Variable& variable : module.source->variables) {
    if (!variable.is_managed) continue;
    const DecodedVariable& placed = module.variables.at(variable.name);
    StreamOrder::instance().add_managed_variable(placed.address, placed.size);
  }
}

}  // namespace

void Registry::load_modules(FatBinary* binary, int device) {
  FatBinaryContents contents;
  if (binary->text.empty()) {
    contents = read_fat_binary(binary->wrapper);
  } else {
    contents.ptx.push_back(binary->text);
  }
  if (contents.ptx.empty()) {
    binary->problem = contents.problem;
    binary->error = cudaErrorNoKernelImageForDevice;
    report_problem("no-ptx", contents.problem);
    return;
  }
  if (contents.linked) {
    load_linked(binary, device, std::move(contents.ptx));
    return;
  }
  for (std::string& text : contents.ptx) {
    try {
      if (unwanted_ != nullptr) {
        const auto unwanted = [&](std::string_view name) {
          return unwanted_(std::string(name).c_str()) != 0;
        };
        text = ptx::leave_out_constants(ptx::select_kernels(text, std::not_fn(unwanted)), unwanted);
      }
      const bool impure = has_hidden_effects(text);
      keep(binary, device, ptx::parse(std::move(text), "device code"), impure);
    } catch (const std::exception& error) {
      refuse(binary, error);
    }
  }
}

// Translation units of nvcc -rdc=true are one program: what one defines the others may use.
void Registry::load_linked(FatBinary* binary, int device, std::vector<std::string> texts) {
  try {
    bool impure = false;
    std::vector<std::unique_ptr<ptx::Module>> units;
    for (std::string& text : texts) {
      impure |= has_hidden_effects(text);
      units.push_back(ptx::parse(std::move(text), "device code"));
    }
    keep(binary, device, ptx::link(std::move(units)), impure);
  } catch (const std::exception& error) {
    refuse(binary, error);
  }
}

void Registry::keep(FatBinary* binary, int device, std::unique_ptr<ptx::Module> code, bool impure) {
  std::vector<LoadedModule*>& modules = binary->modules[static_cast<size_t>(device)];
  const LoadedModule* const first = loaded_before(*binary, modules.size());
  LoadedModule* const module = load_module(std::move(code), device, first);
  if (first == nullptr) watch_managed_variables(*module);
  modules.push_back(module);
  if (impure) impure_.insert(module);
}

void Registry::refuse(FatBinary* binary, const std::exception& error) {
  binary->problem = error.what();
  binary->error = cudaErrorInvalidPtx;
  report_problem("bad-ptx",
                 std::string("The simulator cannot read the program's PTX: ") + error.what());
}

cudaError_t Registry::load(FatBinary* binary) {
  const int device = current_device();
  const auto index = static_cast<size_t>(device);
  if (!binary->loaded[index]) {
    binary->loaded[index] = true;
    load_modules(binary, device);
    remember_initial_values();
    publish_managed(binary, device);
  }
  return binary->modules[index].empty() ? binary->error : cudaSuccess;
}

// The host reaches a managed variable through a pointer that nvcc made for it.
void Registry::publish_managed(FatBinary* binary, int device) {
  for (RegisteredVariable* variable : binary->managed) {
    uint64_t address = 0, size = 0;
    for (LoadedModule* module : binary->modules[static_cast<size_t>(device)]) {
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

void Registry::restore_variables(int device) {
  DeviceMemory& memory = DeviceMemory::instance();
  for (const auto& [address, bytes] : initial_values_) {
    if (device_of(address) != device) continue;
    std::memcpy(memory.view(address), bytes.data(), bytes.size());
  }
}

cudaError_t Registry::resolve(RegisteredKernel* registered, const Kernel** kernel) {
  const auto device = static_cast<size_t>(current_device());
  const Kernel*& known = registered->kernels[device];
  if (known == nullptr) {
    FatBinary& binary = *registered->binary;
    if (const cudaError_t error = load(&binary); error != cudaSuccess) return error;
    for (LoadedModule* module : binary.modules[device]) {
      if (known == nullptr) known = find_kernel(module, registered->name);
    }
    if (known == nullptr) {
      return binary.error != cudaSuccess ? binary.error : cudaErrorInvalidDeviceFunction;
    }
  }
  *kernel = known;
  return cudaSuccess;
}

cudaError_t Registry::resolve(const void* symbol, uint64_t* address, uint64_t* size) {
  const auto found = variables_.find(symbol);
  if (found != variables_.end()) {
    RegisteredVariable* variable = found->second.get();
    if (const cudaError_t error = load(variable->binary); error != cudaSuccess) return error;
    for (LoadedModule* module : variable->binary->modules[static_cast<size_t>(current_device())]) {
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

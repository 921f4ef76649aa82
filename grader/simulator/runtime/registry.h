// What the program registered before main: fat binaries, kernels, device variables. Device code is
// parsed and loaded when something of it is first used.
//
// All of this is construct-on-first-use and never destroyed: registration runs before any other
// global object of the simulator, and unregistration after.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_REGISTRY_H_
#define WARPLINGS_SIMULATOR_RUNTIME_REGISTRY_H_

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exec/launch.h"
#include "memory/device_memory.h"

namespace warplings::sim {

struct FatBinary;

// A __global__ function of the program.
struct RegisteredKernel {
  FatBinary* binary = nullptr;
  std::string name;  // mangled
  // By device; set when it was first used there.
  std::array<const Kernel*, kMaxDevices> kernels{};
  // Set by cudaFuncSetAttribute, for the device that is current then.
  std::array<std::optional<int>, kMaxDevices> max_dynamic_shared{};
  int carveout = -1;            // not set
  bool large_clusters = false;  // of more than 8 blocks
};

// A __device__, __constant__ or __managed__ variable.
struct RegisteredVariable {
  FatBinary* binary = nullptr;
  std::string name;
  size_t size = 0;
  bool constant = false;
  void** managed_pointer = nullptr;  // the program's pointer to a managed variable, else nullptr
};

struct FatBinary {
  std::string text;                         // PTX that was loaded as such; then there is no wrapper
  std::shared_ptr<const void> own_wrapper;  // of a fat binary that came without one
  bool loaded_at_run_time = false;
  void* handle = nullptr;  // &handle is what registration calls pass around
  const void* wrapper = nullptr;
  bool unregistered = false;
  // By device: each has its own image of the module variables.
  std::array<bool, kMaxDevices> loaded{};
  std::array<std::vector<LoadedModule*>, kMaxDevices> modules;
  std::string problem;  // why nothing could be loaded
  cudaError_t error = cudaSuccess;
  std::vector<RegisteredVariable*> managed;
};

class Registry {
 public:
  static Registry& instance();

  FatBinary* add_binary(const void* wrapper);
  void add_kernel(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(FatBinary* binary, const void* host_variable,
                    const RegisteredVariable& variable);

  // nullptr if the address is not that of a registered kernel.
  RegisteredKernel* kernel_at(const void* host_function);
  // The same, also for a handle of cudaGetKernel or cudaGetFuncBySymbol.
  RegisteredKernel* kernel_of(const void* function_or_handle);

  // Code that the program loads while it runs: PTX text, or a fat binary with or without wrapper.
  // nullptr if it is none of these.
  FatBinary* add_code(const void* code);
  bool is_loaded_code(const FatBinary* binary) const;  // by add_code, and not unloaded
  RegisteredKernel* kernel_named(FatBinary* binary, const std::string& name);  // nullptr: absent
  std::vector<RegisteredKernel*> kernels_in(FatBinary* binary);
  bool variable_named(FatBinary* binary, const std::string& name, uint64_t* address,
                      uint64_t* size);

  // Kernels whose mangled name `unwanted` accepts are left out of modules that are loaded from now
  // on.
  void leave_out_kernels(int (*unwanted)(const char* name)) { unwanted_ = unwanted; }
  // Loads what is needed for the current device. cudaSuccess, or why not (a finding says more).
  cudaError_t load(FatBinary* binary);
  cudaError_t resolve(RegisteredKernel* registered, const Kernel** kernel);
  cudaError_t resolve(const void* symbol, uint64_t* address, uint64_t* size);

  // False if kernels of the module may do what memory does not show: print, read a clock, allocate.
  bool is_repeatable(const LoadedModule* module) const { return !impure_.contains(module); }

  // cudaDeviceReset: module variables get their initial values back.
  void restore_variables(int device);

 private:
  void load_modules(FatBinary* binary, int device);
  void load_linked(FatBinary* binary, int device, std::vector<std::string> texts);
  void keep(FatBinary* binary, int device, std::unique_ptr<ptx::Module> code, bool impure);
  static void refuse(FatBinary* binary, const std::exception& error);
  void publish_managed(FatBinary* binary, int device);
  void remember_initial_values();

  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::unordered_map<const void*, std::unique_ptr<RegisteredKernel>> kernels_;
  std::unordered_map<const void*, std::unique_ptr<RegisteredVariable>> variables_;
  std::unordered_set<const LoadedModule*> impure_;
  int (*unwanted_)(const char* name) = nullptr;
  std::unordered_map<uint64_t, std::string> initial_values_;  // bytes, by device address
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_REGISTRY_H_

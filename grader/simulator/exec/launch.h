// The engine as the runtime sees it: load a module, look up a kernel, launch it.
#ifndef WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_
#define WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"
#include "ptx/module.h"

namespace warplings::sim {

class LaunchObserver;

// Decodes `module` and places its variables in the memory of `device`. Throws ptx::ParseError on
// PTX that cannot be decoded. Instructions that are not supported fail when they are reached, not
// here. `first`: the same module on the device that loaded it first, whose managed variables all
// share.
LoadedModule* load_module(std::unique_ptr<ptx::Module> module, int device = 0,
                          const LoadedModule* first = nullptr);

// nullptr if there is no such entry.
const Kernel* find_kernel(LoadedModule* module, const std::string& mangled_name);
// A kernel that code of `from` names: its own, or one of another file of the program.
const Kernel* find_linked_kernel(const LoadedModule& from, const std::string& mangled_name);
std::vector<const Kernel*> kernels_of(LoadedModule* module);

// Device address and size of a module variable (__device__, __constant__, __managed__); false if
// absent.
bool find_variable(LoadedModule* module, const std::string& name, uint64_t* address,
                   uint64_t* size);

uint64_t constant_bytes(const LoadedModule* module);  // of its __constant__ variables

// Runs the kernel to its end. `params` is the parameter buffer, kernel.param_bytes long. The
// configuration has been validated by the runtime (launch limits are its business).
LaunchStatus run_kernel(const Kernel& kernel, const LaunchConfig& config, const uint8_t* params);

// What the current machine does at a launch: at first what its options say (core/options.h).
struct EngineOptions {
  EngineOptions();
  bool checks, counters;
  bool absent_lanes_are_notes;         // shuffles from lanes that do not take part
  LaunchObserver* observer = nullptr;  // needs the counters
  std::optional<Schedule> order;
  uint64_t max_warp_instructions;
};
EngineOptions& engine_options();
// The order of blocks was asked for and is kReversed: the warps of a block have their turns from
// the last to the first, too, and so have the lanes of an atomic. In a repeat that only looks for
// races they have not: what the checks say of a program does not change.
bool last_comes_first();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_

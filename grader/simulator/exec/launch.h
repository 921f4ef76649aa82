// The engine as the runtime sees it: load a module, look up a kernel, launch it.
#ifndef WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_
#define WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checks/finding.h"
#include "ptx/module.h"

namespace warplings::sim {

class LaunchObserver;
class LoadedModule;  // decoded code and its variables in device memory

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return static_cast<uint64_t>(x) * y * z; }
};

// A kernel entry of a loaded module.
struct Kernel {
  std::string name;       // mangled
  std::string demangled;  // without parameters
  LoadedModule* module = nullptr;
  int function = -1;  // index in the decoded module
  // Offset and size of each parameter in the parameter buffer, in order (cudaLaunchKernel copies
  // args[i] there).
  struct Param {
    uint32_t offset, size;
  };
  std::vector<Param> params;
  uint32_t param_bytes = 0;
  uint32_t static_shared = 0;        // bytes
  uint32_t local_bytes = 0;          // per thread
  int max_threads_per_block = 1024;  // from .maxntid or the device
  int registers = 0;                 // as ptxas would report where known, else an estimate
};

struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamic_shared = 0;
  bool cooperative = false;
  int device = 0;
  int depth = 0;                    // grids that it was launched from: 0 for a launch of the host
  uint64_t resident_blocks = 2048;  // that the device holds at a time
  Position where;                   // host line of the launch
};

enum class LaunchStatus {
  kOk,
  kIllegalAddress,  // cudaErrorIllegalAddress
  kMisaligned,      // cudaErrorMisalignedAddress
  kAssert,          // cudaErrorAssert
  kTrap,            // cudaErrorLaunchFailure
  kTimeout,         // cudaErrorLaunchTimeout: instruction budget spent, or deadlock
  kUnsupported,     // an instruction that the simulator does not know: the finding says which
};

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

// The order in which the blocks of a launch begin and take turns.
enum class Schedule : uint8_t { kForward, kReversed, kRoundRobin };

struct EngineOptions {
  bool checks = true;  // memcheck is always on; this is initcheck, race, sync
  bool counters = true;
  bool absent_lanes_are_notes = false;           // shuffles from lanes that do not take part
  LaunchObserver* observer = nullptr;            // needs the counters
  std::optional<Schedule> order;                 // this one only; unset: as checks/ needs them
  uint64_t max_warp_instructions = 150'000'000;  // per launch; far more under grade exec
};
EngineOptions& engine_options();  // read at each launch; GRADE_SIM_* variables set it once

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_LAUNCH_H_

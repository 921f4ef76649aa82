// A kernel, the configuration of a launch, and how it ended.
#ifndef WARPLINGS_SIMULATOR_CORE_KERNEL_H_
#define WARPLINGS_SIMULATOR_CORE_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/position.h"

namespace warplings::sim {

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
  Dim3 cluster{0, 0, 0};             // blocks of a cluster that the code names (.reqnctapercluster)
  int registers = 0;                 // as ptxas would report where known, else an estimate
};

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster{0, 0, 0};  // blocks of a cluster; zeros: none, each block is one of its own
  size_t dynamic_shared = 0;
  bool cooperative = false;
  bool programmatic = false;  // may begin before the kernel before it in its stream has ended
  int device = 0;
  int depth = 0;                    // grids that it was launched from: 0 for a launch of the host
  uint64_t resident_blocks = 2048;  // that the device holds at a time
  Position where;                   // host line of the launch
};

// The order in which the blocks of a launch begin and take turns.
// kFew: reversed, and at most half of the blocks of a launch run at a time, as where other work has
// the rest of the card. Not those of a cooperative launch, which are promised to run together.
enum class Schedule : uint8_t { kForward, kReversed, kRoundRobin, kFew };

enum class LaunchStatus {
  kOk,
  kIllegalAddress,  // cudaErrorIllegalAddress
  kMisaligned,      // cudaErrorMisalignedAddress
  kAssert,          // cudaErrorAssert
  kTrap,            // cudaErrorLaunchFailure
  kTimeout,         // cudaErrorLaunchTimeout: instruction budget spent, or deadlock
  kUnsupported,     // an instruction that the simulator does not know: the finding says which
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_KERNEL_H_

// Functions that every kernel may call and no module defines.
#ifndef WARPLINGS_SIMULATOR_DECODE_BUILTINS_H_
#define WARPLINGS_SIMULATOR_DECODE_BUILTINS_H_

#include <cstdint>
#include <string>

namespace warplings::sim {

class Warp;
struct CallSite;

// From kDeviceRuntime on: exec/device_runtime.cpp.
enum Builtin { kVprintf, kAssertFail, kMalloc, kFree, kDeviceRuntime };

// Index of vprintf, __assertfail, malloc, free or a function of the device runtime; -1 for any
// other name.
int builtin_index(const std::string& name);

// Runs the built-in function for the lanes of `mask`.
void call_builtin(Warp& warp, const CallSite& site, uint32_t mask);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_BUILTINS_H_

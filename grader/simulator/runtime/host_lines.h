// Source lines of host code: where in the program a runtime function was called.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_HOST_LINES_H_
#define WARPLINGS_SIMULATOR_RUNTIME_HOST_LINES_H_

#include <vector>

#include "core/finding.h"

namespace warplings::sim {

// The line of the call that returns to `return_address`. Where that is a wrapper in the toolkit's
// own headers (the typed cudaMalloc of cuda_runtime.h) or in the standard library's, the line of
// the program that called the wrapper. Unknown for code without debug information. Cached.
Position host_call_position(const void* return_address);

// The first known line of the program at or above an instruction that faulted. May be called in a
// handler of the synchronous signal, on its alternate stack.
Position host_fault_position(const void* instruction);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_HOST_LINES_H_

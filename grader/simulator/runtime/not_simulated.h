// A call of a runtime function that the simulator does not have.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_NOT_SIMULATED_H_
#define WARPLINGS_SIMULATOR_RUNTIME_NOT_SIMULATED_H_

namespace warplings::sim {

// Reports it, and records cudaErrorNotSupported as the last error.
void report_not_simulated(const char* name, const void* return_address);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_NOT_SIMULATED_H_

// Host code that touches device memory: the program's view of it is protected, so the access
// faults.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_HOST_FAULT_H_
#define WARPLINGS_SIMULATOR_RUNTIME_HOST_FAULT_H_

namespace warplings::sim {

// Installs the handler, once per process, and an alternate signal stack for the calling thread.
void catch_host_access();

// Called after the finding is recorded and before the process ends (wsim_set_fatal_hook).
void set_fatal_hook(void (*hook)());

// Status of a process that a finding ended, or in which a check found something (grade exec).
constexpr int kFindingStatus = 99;

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_HOST_FAULT_H_

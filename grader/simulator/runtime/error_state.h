// The error that the runtime remembers: per thread the last one, per process the one that sticks.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_

#include <cuda_runtime_api.h>

namespace warplings::sim {

// A kernel that faults spoils the device: every call that uses it fails from then on.
cudaError_t sticky_error();
void set_sticky_error(cudaError_t error);  // the first one stays
void clear_sticky_error();                 // cudaDeviceReset

// What cudaGetLastError and cudaPeekAtLastError see, of the calling thread.
cudaError_t& last_error();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_

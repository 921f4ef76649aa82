// The error that the runtime remembers: per thread the last one, per device the one that sticks.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_

#include <cuda_runtime_api.h>

namespace warplings::sim {

// A kernel that faults spoils its device: every call that uses it fails from then on. Without an
// argument: the current device of the calling thread.
cudaError_t sticky_error();
cudaError_t sticky_error(int device);
bool any_sticky_error();                               // on any device
void set_sticky_error(int device, cudaError_t error);  // the first one stays
void clear_sticky_error(int device);                   // cudaDeviceReset

// What cudaGetLastError and cudaPeekAtLastError see, of the calling thread.
cudaError_t& last_error();
// The call that gave the calling thread its last error, if there was one: "cudaMemcpy", and where
// it returns to.
struct FailedCall {
  const char* name = "";
  const void* return_address = nullptr;
};
FailedCall& last_failed_call();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_ERROR_STATE_H_

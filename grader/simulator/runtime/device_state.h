// Which of the simulated devices a thread uses, and which one an allocation belongs to.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_

#include <cstdint>

namespace warplings::sim {

int& current_device();  // of the calling thread

void remember_device_of(uint64_t address);  // an allocation of the current device
int device_of(uint64_t address);            // of the allocation that holds the address

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_

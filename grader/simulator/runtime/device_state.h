// Which of the simulated devices a thread uses, and which of them may reach each other's memory.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_

#include <cstdint>

namespace warplings::sim {

int& current_device();  // of the calling thread

// Makes a device current for as long as the object lives.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(current_device()) { current_device() = device; }
  ~DeviceScope() { current_device() = before_; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_;
};

void note_limits();  // for Holdings: what cudaDeviceSetLimit may change

int device_of(uint64_t address);  // of the allocation that holds the address; 0 if none does

// Of wsim_script_unreachable.
bool can_reach(int device, int peer);
void make_unreachable(int device, int peer);  // a negative device: all reach all

// Peer access: may kernels of `device` touch memory of `peer`? False if it already was so.
bool enable_peer_access(int device, int peer);
bool disable_peer_access(int device, int peer);
void apply_peer_access(int owner);   // to new memory of `owner`
void reset_peer_access(int device);  // cudaDeviceReset: all that it was given
}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_DEVICE_STATE_H_

#include "runtime/device_state.h"

#include <array>

#include "core/machine.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

uint32_t bit(int device) { return 1u << device; }

// peers()[owner]: devices, other than the owner, that were given access.
std::array<uint32_t, kMaxDevices>& peers() {
  struct Peers {
    std::array<uint32_t, kMaxDevices> masks{};
  };
  return Machine::get<Peers>().masks;
}

// unreachable()[owner]: devices that cannot be given access.
std::array<uint32_t, kMaxDevices>& unreachable() {
  struct Unreachable {
    std::array<uint32_t, kMaxDevices> masks{};
  };
  return Machine::get<Unreachable>().masks;
}

void update_access(int owner) {
  const uint32_t devices = peers()[static_cast<size_t>(owner)] | bit(owner);
  DeviceMemory::instance().set_access_of_device(owner, devices);
}

}  // namespace

int& current_device() {
  thread_local int device = 0;
  return device;
}

int device_of(uint64_t address) {
  const Allocation* allocation = DeviceMemory::instance().allocation_at(address);
  return allocation == nullptr ? 0 : allocation->device;
}

bool can_reach(int device, int peer) {
  return (unreachable()[static_cast<size_t>(peer)] & bit(device)) == 0;
}

void make_unreachable(int device, int peer) {
  if (device < 0) {
    unreachable().fill(0);
  } else {
    unreachable()[static_cast<size_t>(peer)] |= bit(device);
  }
}

bool enable_peer_access(int device, int peer) {
  uint32_t& mask = peers()[static_cast<size_t>(peer)];
  if ((mask & bit(device)) != 0) return false;
  mask |= bit(device);
  update_access(peer);
  return true;
}

bool disable_peer_access(int device, int peer) {
  uint32_t& mask = peers()[static_cast<size_t>(peer)];
  if ((mask & bit(device)) == 0) return false;
  mask &= ~bit(device);
  update_access(peer);
  return true;
}

void reset_peer_access(int device) {
  for (int peer = 0; peer < kMaxDevices; ++peer) disable_peer_access(device, peer);
}

void apply_peer_access(int owner) {
  if (peers()[static_cast<size_t>(owner)] != 0) update_access(owner);
}

}  // namespace warplings::sim

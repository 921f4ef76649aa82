#include "kit/speed/arrays.h"

#include <cuda_bf16.h>

#include <cstring>

#include "kit/context.h"
#include "kit/speed/device.h"

namespace kit::internal {
namespace {

constexpr size_t kRedZone = 4096;  // bytes on each side; keeps the payload aligned to 256

unsigned char zone_byte(uint64_t salt, size_t i) {
  return static_cast<unsigned char>(mix64(salt + i) >> 56);
}

std::vector<unsigned char> zone_pattern(uint64_t salt) {
  std::vector<unsigned char> zone(kRedZone);
  for (size_t i = 0; i < kRedZone; ++i) zone[i] = zone_byte(salt, i);
  return zone;
}

}  // namespace

SpeedArray::~SpeedArray() {
  for (unsigned char* payload : at_) release(payload);
  cudaFree(mirror_);
}

unsigned char* SpeedArray::allocate_one() const {
  const size_t whole = bytes() + 2 * kRedZone;
  void* memory = nullptr;
  if (on_host()) {
    report_at_work("allocating " + name_ + " on the host");
    memory = memory_.allocate(whole);
  } else if (cudaMalloc(&memory, whole) != cudaSuccess) {
    memory = nullptr;
  }
  if (memory == nullptr) return nullptr;
  const std::vector<unsigned char> zone = zone_pattern(salt_);
  unsigned char* payload = static_cast<unsigned char*>(memory) + kRedZone;
  cudaMemcpy(payload - kRedZone, zone.data(), kRedZone, cudaMemcpyDefault);
  cudaMemcpy(payload + bytes(), zone.data(), kRedZone, cudaMemcpyDefault);
  if (!on_host()) {
    wsim_name_allocation(memory, name_.c_str());
    wsim_mark_red_zone(payload - kRedZone, kRedZone);
    wsim_mark_red_zone(payload + bytes(), kRedZone);
  }
  return payload;
}

void SpeedArray::release(unsigned char* payload) const {
  if (on_host()) {
    memory_.release(payload - kRedZone);
    return;
  }
  wsim_clear_red_zone(payload - kRedZone, kRedZone);
  wsim_clear_red_zone(payload + bytes(), kRedZone);
  cudaFree(payload - kRedZone);
}

bool SpeedArray::allocate(size_t sets, uint64_t salt) {
  const OnDevice scope(device_);
  uses_device(device_);
  salt_ = salt;
  if (on_host() && cudaMalloc(&mirror_, bytes()) != cudaSuccess) mirror_ = nullptr;
  bool has_room = !on_host() || mirror_ != nullptr;
  for (size_t i = 0; i < sets && has_room; ++i) {
    unsigned char* payload = allocate_one();
    has_room = payload != nullptr;
    if (has_room) at_.push_back(payload);
  }
  if (!has_room) cudaGetLastError();
  return has_room;
}

void SpeedArray::prepare(size_t set, uint64_t key) {
  const OnDevice scope(device_);
  set_ = set;
  key_ = mix64(key ^ salt_);
  if (n_ == 0) return;
  if (role_ != Role::kOutput) {
    fill(element_, on_host() ? mirror_ : current(), n_, values_, key_);
    if (on_host()) cudaMemcpy(current(), mirror_, bytes(), cudaMemcpyDeviceToHost);
  } else if (on_host()) {
    std::memset(current(), 0xFF, bytes());
  } else {
    cudaMemsetAsync(current(), 0xFF, bytes());
    wsim_mark_unwritten(current(), bytes());
  }
}

std::vector<double> SpeedArray::read(const std::vector<size_t>& positions) const {
  if (!on_host()) {
    const OnDevice scope(device_);
    return gather(element_, current(), positions);
  }
  std::vector<double> found;
  with_type(element_, [&](auto* type) {
    using T = std::remove_pointer_t<decltype(type)>;
    for (const size_t i : positions) {
      found.push_back(static_cast<double>(static_cast<const T*>(current())[i]));
    }
  });
  return found;
}

uint64_t SpeedArray::count_changes() const {
  if (on_host()) cudaMemcpy(mirror_, current(), bytes(), cudaMemcpyHostToDevice);
  return count_changed(element_, on_host() ? mirror_ : current(), n_, values_, key_);
}

std::string SpeedArray::check_red_zones() const {
  unsigned char* payload = at_[set_];
  const std::vector<unsigned char> zone = zone_pattern(salt_);
  std::vector<unsigned char> now(kRedZone);
  for (unsigned char* side : {payload - kRedZone, payload + bytes()}) {
    if (!on_host()) wsim_clear_red_zone(side, kRedZone);
    cudaMemcpy(now.data(), side, kRedZone, cudaMemcpyDefault);
    if (!on_host()) wsim_mark_red_zone(side, kRedZone);
    if (now != zone) {
      return "A timed call wrote past the " + std::string(side < payload ? "start" : "end") +
             " of " + name_ + ".";
    }
  }
  return "";
}

std::string SpeedArray::check() const {
  const OnDevice scope(device_);
  if (role_ == Role::kInput && n_ > 0) {
    const uint64_t changed = count_changes();
    if (changed > 0) {
      return "A timed call changed " + std::to_string(changed) + " of the " + std::to_string(n_) +
             " elements of " + name_ + ", which is an input.";
    }
  }
  return check_red_zones();
}

}  // namespace kit::internal

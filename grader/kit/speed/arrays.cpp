#include "kit/speed/arrays.h"

#include <cstring>

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
  for (unsigned char* payload : at_) {
    wsim_clear_red_zone(payload - kRedZone, kRedZone);
    wsim_clear_red_zone(payload + bytes(), kRedZone);
    cudaFree(payload - kRedZone);
  }
}

bool SpeedArray::allocate(size_t sets, uint64_t salt) {
  salt_ = salt;
  const std::vector<unsigned char> zone = zone_pattern(salt);
  for (size_t i = 0; i < sets; ++i) {
    void* memory = nullptr;
    if (cudaMalloc(&memory, bytes() + 2 * kRedZone) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    unsigned char* payload = static_cast<unsigned char*>(memory) + kRedZone;
    at_.push_back(payload);
    wsim_name_allocation(memory, name_.c_str());
    cudaMemcpy(payload - kRedZone, zone.data(), kRedZone, cudaMemcpyHostToDevice);
    cudaMemcpy(payload + bytes(), zone.data(), kRedZone, cudaMemcpyHostToDevice);
    wsim_mark_red_zone(payload - kRedZone, kRedZone);
    wsim_mark_red_zone(payload + bytes(), kRedZone);
  }
  return true;
}

void SpeedArray::prepare(size_t set, uint64_t key) {
  set_ = set;
  key_ = mix64(key ^ salt_);
  if (n_ == 0) return;
  if (role_ == Role::kOutput) {
    cudaMemsetAsync(current(), 0xFF, bytes());
    wsim_mark_unwritten(current(), bytes());
  } else {
    fill(element_, current(), n_, values_, key_);
  }
}

std::string SpeedArray::check_red_zones() const {
  unsigned char* payload = at_[set_];
  const std::vector<unsigned char> zone = zone_pattern(salt_);
  std::vector<unsigned char> now(kRedZone);
  for (unsigned char* side : {payload - kRedZone, payload + bytes()}) {
    wsim_clear_red_zone(side, kRedZone);
    cudaMemcpy(now.data(), side, kRedZone, cudaMemcpyDeviceToHost);
    wsim_mark_red_zone(side, kRedZone);
    if (now != zone) {
      return "A timed call wrote past the " + std::string(side < payload ? "start" : "end") +
             " of " + name_ + ".";
    }
  }
  return "";
}

std::string SpeedArray::check() const {
  if (role_ == Role::kInput) {
    const uint64_t changed = count_changed(element_, current(), n_, values_, key_);
    if (changed > 0) {
      return "A timed call changed " + std::to_string(changed) + " of the " + std::to_string(n_) +
             " elements of " + name_ + ", which is an input.";
    }
  }
  return check_red_zones();
}

}  // namespace kit::internal

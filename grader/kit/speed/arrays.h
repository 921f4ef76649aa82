// Arrays of the timed work: the same array several times over ("sets"), so that calls in a row do
// not find their data in the cache, each between red zones.
#ifndef WARPLINGS_KIT_SPEED_ARRAYS_H_
#define WARPLINGS_KIT_SPEED_ARRAYS_H_

#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/speed/element.h"
#include "kit/speed/speed.h"
#include "kit/speed/values.h"

namespace kit::internal {

class SpeedArray {
 public:
  // `memory` of a host array; empty: it lies on the device.
  SpeedArray(Role role, Element element, size_t n, std::string name, Values values,
             HostMemory memory)
      : role_(role),
        element_(element),
        n_(n),
        name_(std::move(name)),
        values_(values),
        memory_(std::move(memory)),
        device_(current_device()) {}
  ~SpeedArray();
  SpeedArray(const SpeedArray&) = delete;
  SpeedArray& operator=(const SpeedArray&) = delete;

  size_t size() const { return n_; }
  size_t bytes() const { return n_ * size_of(element_); }
  const std::string& name() const { return name_; }
  bool is_input() const { return role_ == Role::kInput; }
  bool on_host() const { return memory_.allocate != nullptr; }
  Element element() const { return element_; }

  // Memory for `sets` copies; false if there is not enough.
  bool allocate(size_t sets, uint64_t salt);
  // Makes `set` the current one and writes what a call must find: values of the content `key`, or
  // poison. Asynchronous on a GPU.
  void prepare(size_t set, uint64_t key);
  void* current() const { return at_.empty() ? nullptr : at_[set_]; }
  double initial(size_t i) const { return value_at(values_, key_, i); }

  // The elements of the current set at these positions.
  std::vector<double> read(const std::vector<size_t>& positions) const;
  // "" or what is wrong with the current set after a call: a changed input, a touched red zone.
  std::string check() const;

 private:
  unsigned char* allocate_one() const;  // zone, payload, zone; nullptr: no memory
  void release(unsigned char* payload) const;
  uint64_t count_changes() const;
  std::string check_red_zones() const;

  Role role_;
  Element element_;
  size_t n_;
  std::string name_;
  Values values_;
  HostMemory memory_;
  int device_;                      // on which it lies, or its mirror
  std::vector<unsigned char*> at_;  // payload of each set
  void* mirror_ = nullptr;          // of a host array: device memory in which values are made
  size_t set_ = 0;
  uint64_t key_ = 0;
  uint64_t salt_ = 0;  // differs from array to array
};

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_ARRAYS_H_

// What the speed tests of several devices share: an array on each.
#ifndef CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_SUPPORT_H_
#define CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_SUPPORT_H_

#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/speed/speed.h"

class SpeedArrays {
 public:
  // make(d, called) is the array of device d, which is the current one.
  template <class Make>
  SpeedArrays(int devices, const std::string& name, const Make& make) {
    for (int d = 0; d < devices; ++d) {
      const kit::OnDevice scope(d);
      arrays_.push_back(make(d, (name + "[" + std::to_string(d) + "]").c_str()));
    }
  }
  kit::SpeedBuffer<float>& operator[](int d) { return arrays_[d]; }
  std::vector<kit::SpeedBuffer<float>>::const_iterator begin() const { return arrays_.begin(); }
  std::vector<kit::SpeedBuffer<float>>::const_iterator end() const { return arrays_.end(); }
  // Where they are now: a timed call may get other memory than the one before.
  std::vector<float*> pointers() const {
    std::vector<float*> all;
    for (const auto& array : arrays_) all.push_back(array.get());
    return all;
  }

 private:
  std::vector<kit::SpeedBuffer<float>> arrays_;
};

#endif  // CHAPTERS_10_NCCL_04_RING_ALL_REDUCE_SUPPORT_H_

// Speed of a launcher, graded against bars that hold on every card: each is a ratio, measured in
// the same process at the same moment.
//
//   TEST(Saxpy, IsFast) {
//     const int n = kit::work_scale(1 << 20, 1 << 27);
//     kit::Speed speed;
//     const auto x = speed.input<float>(n, "x");
//     const auto y = speed.inout<float>(n, "y");
//     speed.bytes(12.0 * n).flops(2.0 * n).slice(64);
//     speed.launch([&] { launch_saxpy(2.0f, x.get(), y.get(), n, 256, 1 << 20); });
//     speed.expect(y, [&](size_t i) { return 2.0 * x.at(i) + y.before(i); },
//     kit::Tolerance::units(2)); speed.against(kit::copy_rate(), kit::Bars(0.45, 0.90, 1.00));
//     speed.grade();
//   }
//
// On a GPU every timed call gets new inputs, poisoned outputs and an L2 that holds none of them;
// calls of the graded code and of what it is compared with alternate; the results of some timed
// calls are checked. In the simulator the work runs once, on a smaller shape, and the modelled cost
// on a slice of the card takes the place of the clock. One passed bar is enough for a level.
#ifndef WARPLINGS_KIT_SPEED_SPEED_H_
#define WARPLINGS_KIT_SPEED_SPEED_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "kit/kit.h"
#include "kit/libraries/libraries.h"
#include "kit/speed/element.h"
#include "kit/speed/judge.h"
#include "kit/speed/values.h"

namespace kit {

namespace internal {

class SpeedArray;   // one array of the work: device memory of every set
class Measurement;  // what Speed has been told, and the measuring

void* current_address(const SpeedArray& array);
double initial_value(const SpeedArray& array, size_t i);

}  // namespace internal

// A handle to an array of the work; get() is the memory of the call that is being made.
template <class T>
class SpeedBuffer {
 public:
  T* get() const { return static_cast<T*>(internal::current_address(*array_)); }
  // What an input, or an inout before the call, holds at position i. For expectations.
  T at(size_t i) const { return static_cast<T>(internal::initial_value(*array_, i)); }
  T before(size_t i) const { return at(i); }

 private:
  friend class Speed;
  explicit SpeedBuffer(internal::SpeedArray* array) : array_(array) {}
  internal::SpeedArray* array_;  // owned by the Speed
};

// What a result must be: a value, and what its rounding errors are proportional to (for tolerances
// in units; |value| unless given).
struct Expected {
  double value, scale;
  Expected(double value_) : value(value_), scale(value_ < 0 ? -value_ : value_) {}  // NOLINT
  Expected(double value_, double scale_) : value(value_), scale(scale_) {}
};

// Where the host arrays of a measurement lie. `allocate` returns nullptr when it fails.
struct HostMemory {
  std::function<void*(size_t bytes)> allocate;
  std::function<void(void* memory)> release;
};
HostMemory pinned_memory();    // cudaMallocHost
HostMemory pageable_memory();  // malloc

// What the graded code is compared with.
struct Baseline {
  enum class Kind { kStage, kLibrary, kLimit, kCopyRate, kReadRate, kFmaRate };
  Kind kind;
  std::string name;
  std::function<void()> launch;  // stage, library and limit, on the same arrays
  bool gpu_only = false;
  std::string missing;  // why this machine cannot make the comparison; "" if it can
  // The model is known to be wrong about this comparison, or has no time for it: the simulator does
  // not judge it.
  Baseline on_gpu_only() const {
    Baseline copy = *this;
    copy.gpu_only = true;
    return copy;
  }
};
// An earlier kernel of the course, shipped with the exercise.
Baseline stage(const std::string& name, std::function<void()> launch);
// A call of a library of kit/libraries/libraries.h; it has no modelled time, so it counts on a GPU
// only, and only where the library is installed.
Baseline library(const std::string& name, const Library& library, std::function<void()> launch);
// Part of the work, which no way of doing all of it can beat: the copies alone of a pipeline, one
// copy over the host link. Ratios to it are shares, like those to a rate.
Baseline limit(const std::string& name, std::function<void()> launch);
// Measured limits of the card: bytes per second of a device-to-device copy (read plus write), of
// reading, and single-precision operations per second (an FMA is two).
Baseline copy_rate();
Baseline read_rate();
Baseline fma_rate();

class Speed {
 public:
  explicit Speed(Site site = Site::here());
  ~Speed();
  Speed(const Speed&) = delete;
  Speed& operator=(const Speed&) = delete;

  // Arrays of the work, n elements each, on the device that is current now. An input must not be
  // changed; an output is filled with 0xFF bytes before every call; an inout starts with new values
  // before every call.
  template <class T>
  SpeedBuffer<T> input(size_t n, const char* name, Values values = {}) {
    return SpeedBuffer<T>(add(Role::kInput, internal::element_of<T>(), n, name, values));
  }
  template <class T>
  SpeedBuffer<T> output(size_t n, const char* name) {
    return SpeedBuffer<T>(add(Role::kOutput, internal::element_of<T>(), n, name, {}));
  }
  template <class T>
  SpeedBuffer<T> inout(size_t n, const char* name, Values values = {}) {
    return SpeedBuffer<T>(add(Role::kInOut, internal::element_of<T>(), n, name, values));
  }

  // The same in host memory, for work that copies by itself: whole_call() must be said.
  template <class T>
  SpeedBuffer<T> host_input(size_t n, const char* name, const HostMemory& memory,
                            Values values = {}) {
    return SpeedBuffer<T>(add(Role::kInput, internal::element_of<T>(), n, name, values, memory));
  }
  template <class T>
  SpeedBuffer<T> host_output(size_t n, const char* name, const HostMemory& memory) {
    return SpeedBuffer<T>(add(Role::kOutput, internal::element_of<T>(), n, name, {}, memory));
  }

  // Bytes that must cross the memory bus, and operations that must be done, by any correct kernel.
  // Ratios to rates are taken of these; less time than the data sheet allows for them is
  // impossible.
  Speed& bytes(double least);
  Speed& flops(double least);
  // The same for operations that tensor cores may do. They are no multiple of the FMA rate.
  Speed& tensor_flops(double least);
  // The simulated shape is this many times smaller than the one on the GPU; the modelled card is
  // divided by the same number.
  Speed& slice(double k);
  // The call itself is the work (streams, copies, host code): timed by the clock on the wall from
  // before the call until the device is idle, on the modelled timeline in the simulator, where the
  // card is whole then: copies and launches cannot be sliced.
  Speed& whole_call();

  // The graded work. It must launch on the default stream, unless whole_call() was said.
  Speed& launch(std::function<void()> work);

  // Results of timed calls are checked at the ends and at random positions.
  template <class T>
  Speed& expect(const SpeedBuffer<T>& out, std::function<Expected(size_t)> expected,
                const Tolerance& tolerance) {
    return expect_array(out.array_, std::move(expected), tolerance);
  }

  Speed& against(const Baseline& baseline, const Bars& bars);

  // Measures and judges. False and a failure of the test if the work is wrong or misses every pass
  // bar. An inconclusive measurement is no failure and no pass.
  bool grade();

 private:
  using Role = internal::Role;
  internal::SpeedArray* add(Role role, internal::Element element, size_t n, const char* name,
                            Values values, const HostMemory& memory = {});
  Speed& expect_array(internal::SpeedArray* array, std::function<Expected(size_t)> expected,
                      const Tolerance& tolerance);
  std::unique_ptr<internal::Measurement> measurement_;
};

}  // namespace kit

#endif  // WARPLINGS_KIT_SPEED_SPEED_H_

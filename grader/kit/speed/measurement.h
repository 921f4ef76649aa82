// One measurement: what Speed was told, and how it is carried out on a GPU or in the simulator.
#ifndef WARPLINGS_KIT_SPEED_MEASUREMENT_H_
#define WARPLINGS_KIT_SPEED_MEASUREMENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kit/speed/arrays.h"
#include "kit/speed/judge.h"
#include "kit/speed/speed.h"

namespace kit::internal {

struct Bar {
  Baseline baseline;
  Bars bars;
};

struct Expectation {
  const SpeedArray* array;
  std::function<Expected(size_t)> expected;
  Tolerance tolerance;
};

// What is timed: the graded work first, then a baseline each.
struct Contender {
  std::string name;
  std::function<void()> launch;
  double amount = 1;            // of what the rate counts: bytes or operations per call
  std::vector<double> seconds;  // one per round
};

// What came out, before it is judged.
struct Timings {
  std::string problem;       // a wrong result, a CUDA error: the work has failed
  std::string inconclusive;  // the machine is not fit to measure on
  std::vector<Contender> contenders;
  bool impossible = false;
  double least_seconds = 0;  // by the data sheet
  std::string device;        // "NVIDIA H200", "modelled (H200)"
};

class Measurement {
 public:
  explicit Measurement(Site site_) : site(site_) {}

  Site site;
  std::vector<std::unique_ptr<SpeedArray>> arrays;
  std::vector<Bar> bars;
  std::vector<Expectation> expectations;
  std::function<void()> launch;
  double bytes = 0, flops = 0, slice = 1;
  bool on_tensor_cores = false;  // the operations
  bool whole_call = false;

  bool grade();

  // Device memory for `sets` copies of all arrays; "" or what went wrong.
  std::string allocate(size_t sets);
  size_t bytes_per_set() const;
  // New contents for a call.
  void prepare(size_t set, uint64_t key) const;
  // After a call: results, inputs, red zones. "" or what is wrong. `salt` picks the positions.
  std::string check_results(uint64_t salt) const;
  // The bars that count here.
  std::vector<const Bar*> counted_bars() const;
  // The comparisons that cannot be made here, with the reasons; "" if there is none.
  std::string left_out() const;
  // What the rate of a bar counts per call of the graded work; 1 for stages and libraries.
  double amount_for(const Baseline& baseline) const;

 private:
  SpeedRatio ratio_to(const Bar& bar, const std::vector<double>& yours,
                      const Contender& other) const;
  Judgement judgement_of(const Timings& timings, const std::vector<SpeedRatio>& ratios,
                         const std::vector<double>& yours) const;
  bool report(const Timings& timings);
};

// The two ways to measure: measure_gpu.cpp, measure_simulated.cpp. One of them is linked.
Timings measure(Measurement& measurement);

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_MEASUREMENT_H_

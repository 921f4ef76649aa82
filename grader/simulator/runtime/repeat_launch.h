// Launches that are repeated without any change in between, as benchmarks do: executed until one of
// them leaves device memory exactly as it found it. From then on the simulator, which is
// deterministic, would do the same again, so only the counters move.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_REPEAT_LAUNCH_H_
#define WARPLINGS_SIMULATOR_RUNTIME_REPEAT_LAUNCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "exec/launch.h"
#include "profile/counters.h"

namespace warplings::sim {

class RepeatedLaunches {
 public:
  static RepeatedLaunches& instance();

  LaunchStatus run(const Kernel& kernel, const LaunchConfig& config,
                   const std::vector<uint8_t>& params);

 private:
  bool same_as_last(const Kernel& kernel, const LaunchConfig& config,
                    const std::vector<uint8_t>& params) const;
  bool worth_trying(const Kernel& kernel) const;
  LaunchStatus run_and_compare(const Kernel& kernel, const LaunchConfig& config,
                               const std::vector<uint8_t>& params);
  void count_again(const Kernel& kernel, const LaunchConfig& config) const;

  // The launch before this one.
  const Kernel* kernel_ = nullptr;
  LaunchConfig config_;
  std::vector<uint8_t> params_;
  uint64_t version_after_ = 0;  // of device memory
  bool changes_nothing_ = false;
  std::vector<PcCounters> counted_;          // by one such launch
  std::map<uint64_t, std::string> visible_;  // memory that the host can write, by address
  std::map<const Kernel*, int> failures_;    // repeats that did change memory
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_REPEAT_LAUNCH_H_

// What `grade profile` and the comparison with a GPU read: for every kernel its largest launch,
// with counters per source line and the modelled cost, as JSON
// (grader/cli/schema/profile.schema.json).
//
// GRADE_SIM_PROFILE names the file; it is written when the program exits. GRADE_SIM_SLICE divides
// the card (MODEL.md); unset, each launch gets as many multiprocessors as its blocks fill.
#ifndef WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_
#define WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/cost.h"
#include "profile/counters.h"
#include "profile/recorder.h"

namespace warplings::sim {

class ProfileLog {
 public:
  static ProfileLog& instance();

  // Reads the environment; called before the first launch.
  static void start();
  bool is_on() const { return !path_.empty(); }

  void add(const Kernel& kernel, const LaunchConfig& config,
           const std::vector<PcCounters>& counters, const LaunchCost& cost);
  std::string json() const;

 private:
  struct Entry {
    const Kernel* kernel = nullptr;
    uint64_t launches = 0;
    uint64_t instructions = 0;  // of the largest launch
    LaunchConfig config;
    std::vector<PcCounters> counters;
    std::unordered_map<uint32_t, LaneDistance> distances;
    LaunchCost cost;
  };
  void write() const;
  static std::string entry_json(const Entry& entry);

  std::string path_;
  std::map<std::string, Entry> kernels_;  // by demangled name
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_

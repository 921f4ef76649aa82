// What `grade profile` and the comparison with a GPU read: for every kernel its largest launch
// (of those that run most of its code), with counters per source line and the modelled cost, as
// JSON (grader/cli/schema/profile.schema.json).
//
// GRADE_SIM_PROFILE names the file; it is written when the program exits. GRADE_SIM_SLICE divides
// the card (MODEL.md); unset, each launch gets as many multiprocessors as its blocks fill.
#ifndef WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_
#define WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "profile/cost.h"
#include "profile/counters.h"
#include "profile/recorder.h"
#include "profile/view_recorder.h"

namespace warplings::sim {

class ProfileLog {
 public:
  static ProfileLog& instance();

  // Reads the environment; called before the first launch.
  static void start();
  bool is_on() const { return is_on_; }

  void add(const Kernel& kernel, const LaunchConfig& config,
           const std::vector<PcCounters>& counters, const LaunchCost& cost);
  std::string json() const;

 private:
  struct Entry {
    const Kernel* kernel = nullptr;
    uint64_t launches = 0;
    uint64_t instructions = 0;  // of the launch that is shown
    uint64_t code = 0;          // different ones of these
    LaunchConfig config;
    std::vector<PcCounters> counters;
    std::unordered_map<uint32_t, LaneDistance> distances;
    LaunchCost cost;
    std::shared_ptr<const LaunchView> view;  // nullptr: nobody looks at it
  };
  static bool is_more_telling(const Entry& known, uint64_t instructions, uint64_t code);
  void write() const;
  static std::string entry_json(const Entry& entry);

  bool is_on_ = false;
  std::string path_;                      // "": nobody reads it but grade view
  std::map<std::string, Entry> kernels_;  // by mangled name: that shown may be short
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_PROFILE_LOG_H_

// Which launches run again with their blocks in other orders.
//
// Where locks, flags or tickets order accesses, what a launch does depends on which block comes
// first. Such a launch is run again from the memory it found, with its blocks in reverse and then
// in small turns; what the checks find is added to the report, everything else is thrown away.
#ifndef WARPLINGS_SIMULATOR_EXEC_SCHEDULE_H_
#define WARPLINGS_SIMULATOR_EXEC_SCHEDULE_H_

#include <cstdint>
#include <map>

#include "exec/launch.h"

namespace warplings::sim {

// Whether a launch is worth running in other orders: its blocks may order each other, it is small,
// it allocates nothing, and the kernel has not had its turns yet.
class RepeatPolicy {
 public:
  static RepeatPolicy& instance();
  bool wants_image(const Kernel& kernel, const LaunchConfig& config) const;
  // Decides after the first run and counts it.
  bool wants_repeats(const Kernel& kernel, uint64_t warp_instructions);

 private:
  std::map<const Kernel*, int> repeated_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_SCHEDULE_H_

// How long a launch takes on the modelled device when it has it for itself, and how much of the
// device it needs: what the timeline takes from the cost model.
#ifndef WARPLINGS_SIMULATOR_PROFILE_KERNEL_TIME_H_
#define WARPLINGS_SIMULATOR_PROFILE_KERNEL_TIME_H_

#include "exec/launch.h"
#include "profile/schedule.h"

namespace warplings::sim {

struct LaunchCost;

struct KernelTime {
  double seconds = 0;
  Demand demand;
};

// `cost` is the time of the work itself (profile/cost.h); starting and ending an empty kernel comes
// on top.
KernelTime modelled_kernel_time(const LaunchConfig& config, const LaunchCost& cost);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_KERNEL_TIME_H_

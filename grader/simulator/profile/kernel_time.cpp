#include "profile/kernel_time.h"

#include <algorithm>

#include "profile/cost.h"
#include "profile/timeline_model.h"

namespace warplings::sim {

KernelTime modelled_kernel_time(const LaunchConfig& config, const LaunchCost& cost) {
  const double card = gpu_model().multiprocessors / cost.slice;
  const auto busy = [&](Limiter limiter) { return cost.busy[static_cast<int>(limiter)]; };
  // The multiprocessors are as busy as their busiest part.
  double pipes = 0;
  for (const Limiter limiter : {Limiter::kIssue, Limiter::kFp32, Limiter::kInteger, Limiter::kFp64,
                                Limiter::kSpecial, Limiter::kTensor, Limiter::kL1}) {
    pipes = std::max(pipes, busy(limiter));
  }
  KernelTime time;
  time.seconds = timeline_model().kernel_least + cost.seconds;
  // While it starts and ends the kernel needs room but no bandwidth.
  const double working = cost.seconds / time.seconds;
  const double room = std::max(1.0, card * cost.occupancy.blocks);
  time.demand.resident = std::min(1.0, static_cast<double>(config.grid.count()) / room);
  time.demand.issue = std::min(1.0, working * pipes * cost.multiprocessors_used / card);
  time.demand.memory = std::min(1.0, working * std::max(busy(Limiter::kL2), busy(Limiter::kDram)));
  return time;
}

}  // namespace warplings::sim

// How a kernel dies: the finding has been reported, the launch unwinds.
#ifndef WARPLINGS_SIMULATOR_EXEC_FAULT_H_
#define WARPLINGS_SIMULATOR_EXEC_FAULT_H_

#include "exec/launch.h"

namespace warplings::sim {

struct LaunchFault {
  LaunchStatus status;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_FAULT_H_

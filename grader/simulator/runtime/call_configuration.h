// Between `<<<...>>>` and the call of the kernel's host function nvcc's code parks the
// configuration in the runtime; the place where it was parked is the line of the launch.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_CALL_CONFIGURATION_H_
#define WARPLINGS_SIMULATOR_RUNTIME_CALL_CONFIGURATION_H_

#include "core/finding.h"

namespace warplings::sim {

// The line of the configuration that this thread popped last and has not launched yet; false if
// none.
bool take_launch_position(Position* position);
// The same line, which stays there. Unknown if there is none.
Position pending_launch_position();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_CALL_CONFIGURATION_H_

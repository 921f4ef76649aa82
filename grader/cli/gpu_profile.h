// grade profile on a GPU: times by events, counters by Nsight Compute.
#ifndef WARPLINGS_CLI_GPU_PROFILE_H_
#define WARPLINGS_CLI_GPU_PROFILE_H_

#include "cli/app.h"

namespace grade {

// Times the speed tests of the exercise, then shows the hardware's counters of its other tests
// beside the simulator's, or why there are none. Exit status of the command.
int profile_on_gpu(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_GPU_PROFILE_H_

// What %clock, %clock64 and %globaltimer show.
//
// A warp's clock counts, for each instruction that it executes, what it would wait for the result
// if the next one needed it (latencies of core/gpu_model.h; a load of global memory counts as
// a hit in L2). Only modules that read a clock pay for the counting.
#ifndef WARPLINGS_SIMULATOR_EXEC_CLOCK_H_
#define WARPLINGS_SIMULATOR_EXEC_CLOCK_H_

#include <cstdint>
#include <vector>

#include "decode/program.h"

namespace warplings::sim {

// Of the launch that runs.
struct LaunchClock {
  double start = 0;      // modelled seconds
  uint64_t longest = 0;  // cycles: the highest that a warp has read or slept until
  static LaunchClock& instance();
};

// Cycles of each instruction; nullptr if the module reads no clock and never sleeps.
const uint16_t* cycles_of(const LoadedModule* module);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_EXEC_CLOCK_H_

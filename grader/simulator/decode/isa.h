// Which build of the lane loops this machine runs.
#ifndef WARPLINGS_SIMULATOR_DECODE_ISA_H_
#define WARPLINGS_SIMULATOR_DECODE_ISA_H_

#include "decode/lane_build.h"

namespace warplings::sim {

// The best that the program has and the processor runs. GRADE_SIM_ISA=baseline|avx2|avx512 asks for
// another of those; one that is not among them changes nothing.
const LaneBuild& lanes();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_ISA_H_

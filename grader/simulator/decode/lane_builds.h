// The builds of the lane loops that a program has.
#ifndef WARPLINGS_SIMULATOR_DECODE_LANE_BUILDS_H_
#define WARPLINGS_SIMULATOR_DECODE_LANE_BUILDS_H_

#include <span>

namespace warplings::sim {

struct LaneBuild;  // decode/lane_build.h

// The one with the fewest instructions first.
std::span<const LaneBuild* const> lane_builds();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_LANE_BUILDS_H_

// The special registers of a warp, and where they lie.
#ifndef WARPLINGS_SIMULATOR_DECODE_SPECIAL_H_
#define WARPLINGS_SIMULATOR_DECODE_SPECIAL_H_

#include <cstdint>

#include "core/instruction.h"

namespace warplings::sim {

// Offsets in the special area of a warp: values that the hardware keeps in special registers.
enum SpecialOffset : uint32_t {
  kTidX = 0 * kSlot,
  kTidY = 1 * kSlot,
  kTidZ = 2 * kSlot,
  kLaneId = 3 * kSlot,
  kNtidX = 4 * kSlot,
  kNtidY = 5 * kSlot,
  kNtidZ = 6 * kSlot,
  kCtaidX = 7 * kSlot,
  kCtaidY = 8 * kSlot,
  kCtaidZ = 9 * kSlot,
  kNctaidX = 10 * kSlot,
  kNctaidY = 11 * kSlot,
  kNctaidZ = 12 * kSlot,
  kWarpId = 13 * kSlot,
  kNWarpId = 14 * kSlot,
  kSmId = 15 * kSlot,
  kNSmId = 16 * kSlot,
  kLanemaskEq = 17 * kSlot,
  kLanemaskLe = 18 * kSlot,
  kLanemaskLt = 19 * kSlot,
  kLanemaskGe = 20 * kSlot,
  kLanemaskGt = 21 * kSlot,
  kDynamicShared = 22 * kSlot,
  kTotalShared = 23 * kSlot,
  kGridId = 24 * kSlot /* 64 bit: two slots */,
  kZero = 26 * kSlot,
  kEnvReg1 = 27 * kSlot,  // address of the workspace of a cooperative grid: high half
  kEnvReg2 = 28 * kSlot,  // and low half
  kAllShared = 29 * kSlot,
  kClusteridX = 30 * kSlot,
  kClusteridY = 31 * kSlot,
  kClusteridZ = 32 * kSlot,
  kNclusteridX = 33 * kSlot,
  kNclusteridY = 34 * kSlot,
  kNclusteridZ = 35 * kSlot,
  kClusterCtaidX = 36 * kSlot,
  kClusterCtaidY = 37 * kSlot,
  kClusterCtaidZ = 38 * kSlot,
  kClusterNctaidX = 39 * kSlot,
  kClusterNctaidY = 40 * kSlot,
  kClusterNctaidZ = 41 * kSlot,
  kClusterCtarank = 42 * kSlot,
  kClusterNctarank = 43 * kSlot,
  kIsExplicitCluster = 44 * kSlot,
  kSpecialBytes = 45 * kSlot,
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_SPECIAL_H_

// Compiled for each kind of program: WARPLINGS_LANE_BUILDS is the list of what it is linked with,
// for example BUILD(baseline) BUILD(avx2).
#include "decode/lane_builds.h"

namespace warplings::sim {

#define BUILD(isa)              \
  namespace isa {               \
  extern const LaneBuild build; \
  }
WARPLINGS_LANE_BUILDS
#undef BUILD

std::span<const LaneBuild* const> lane_builds() {
#define BUILD(isa) &isa::build,
  static constexpr const LaneBuild* kBuilds[] = {WARPLINGS_LANE_BUILDS};
#undef BUILD
  return kBuilds;
}

}  // namespace warplings::sim

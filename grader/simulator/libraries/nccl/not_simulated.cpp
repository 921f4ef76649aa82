// The functions of not_simulated.def: each reports itself and returns ncclInvalidUsage. The header
// is left out on purpose: its prototypes would clash, and arguments that nobody reads need no
// declaration.
#include "common/not_simulated.h"

#define WARPLINGS_STATUS 5  // ncclInvalidUsage

extern "C" {
#include "nccl/not_simulated.def"
}

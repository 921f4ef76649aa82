// The functions of not_simulated.def: each reports itself and returns CURAND_STATUS_TYPE_ERROR. The
// header is left out on purpose: its prototypes would clash, and arguments that nobody reads need
// no declaration.
#include "common/not_simulated.h"

#define WARPLINGS_STATUS 103  // CURAND_STATUS_TYPE_ERROR

extern "C" {
#include "curand/not_simulated.def"
}

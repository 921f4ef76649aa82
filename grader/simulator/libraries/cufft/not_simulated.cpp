// The functions of not_simulated.def: each reports itself and returns CUFFT_NOT_SUPPORTED. The
// header is left out on purpose: its prototypes would clash, and arguments that nobody reads need
// no declaration.
#include "common/not_simulated.h"

#define WARPLINGS_STATUS 16  // CUFFT_NOT_SUPPORTED

extern "C" {
#include "cufft/not_simulated.def"
}

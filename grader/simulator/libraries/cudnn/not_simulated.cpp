// The functions of not_simulated.def: each reports itself and returns CUDNN_STATUS_NOT_SUPPORTED.
// The header is left out on purpose: its prototypes would clash, and arguments that nobody reads
// need no declaration.
#include "common/not_simulated.h"

#define WARPLINGS_STATUS 3000  // CUDNN_STATUS_NOT_SUPPORTED

extern "C" {
#include "cudnn/not_simulated.def"
}

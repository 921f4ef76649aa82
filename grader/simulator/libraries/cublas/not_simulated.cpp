// The functions of not_simulated.def: each reports itself and returns CUBLAS_STATUS_NOT_SUPPORTED.
// The header is left out on purpose: its prototypes would clash, and arguments that nobody reads
// need no declaration.
#include "common/not_simulated.h"

#define WARPLINGS_STATUS 15  // CUBLAS_STATUS_NOT_SUPPORTED

extern "C" {
#include "cublas/not_simulated.def"
}

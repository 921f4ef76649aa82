// The functions of not_simulated.def. The toolkit's header is left out on purpose: its prototypes
// would clash, and arguments that nobody reads need no declaration.
#include "runtime/not_simulated.h"

namespace {

constexpr int kErrorNotSupported = 801;

}  // namespace

extern "C" {

#define NOT_SIMULATED(name)                                                        \
  int name() {                                                                     \
    ::warplings::sim::report_not_simulated(__func__, __builtin_return_address(0)); \
    return kErrorNotSupported;                                                     \
  }
#include "runtime/not_simulated.def"
#undef NOT_SIMULATED

}  // extern "C"

// Functions that a library does not have: NOT_SIMULATED(NAME), and TWINS(NAME) for NAME and
// NAME_64. WARPLINGS_STATUS is what they return.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NOT_SIMULATED_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NOT_SIMULATED_H_

#include "common/call.h"

#define NOT_SIMULATED(name)                                                       \
  int name() {                                                                    \
    ::warplings::libraries::Call(#name, __builtin_return_address(0)).not_there(); \
    return WARPLINGS_STATUS;                                                      \
  }
#define TWINS(name)   \
  NOT_SIMULATED(name) \
  NOT_SIMULATED(name##_64)

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_COMMON_NOT_SIMULATED_H_

// Class "who_did_the_work": outputs come from kernels or libraries, and from many threads.
#ifndef WARPLINGS_KIT_WHO_DID_THE_WORK_H_
#define WARPLINGS_KIT_WHO_DID_THE_WORK_H_

#include <string>

#include "kit/kit.h"

namespace kit {

// Looks at the work since the counters were reset, which is that of `run`: "" or the message of the
// class.
std::string who_did_the_work(const Run& run);

}  // namespace kit

#endif  // WARPLINGS_KIT_WHO_DID_THE_WORK_H_

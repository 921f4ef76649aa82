// Functions of an exercise that are for the CPU: a machine without a GPU can call them, too.
//
//   kit::expect_host_code("midpoints_cpu", [&] { midpoints_cpu(x.data(), midpoints.data(), n); });
#ifndef WARPLINGS_KIT_HOST_CODE_H_
#define WARPLINGS_KIT_HOST_CODE_H_

#include <warplings/sim.h>

#include <cstdint>
#include <functional>
#include <string>

#include "kit/kit.h"

namespace kit {

// Runs `body`, which calls the function and nothing of the kit that needs a device. Fails if it
// launches a kernel or makes a call of CUDA that a machine without a GPU refuses. A GPU does not
// tell.
inline bool expect_host_code(const std::string& function, const std::function<void()>& body,
                             Site site = Site::here()) {
  wsim_fail_call(UINT64_MAX, "", "");  // counts, and lets none fail
  body();
  const uint64_t calls = wsim_calls_that_could_fail();
  wsim_fail_call(0, "", "");
  if (calls == 0) return true;
  return fail(function +
                  " calls CUDA or launches a kernel. It is for the CPU, and a machine without a "
                  "GPU can call it, where that would fail. Let the CPU compute all of it.",
              site);
}

}  // namespace kit

#endif  // WARPLINGS_KIT_HOST_CODE_H_

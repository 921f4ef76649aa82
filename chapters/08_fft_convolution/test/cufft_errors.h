// What becomes of a code that cuFFT returns, where a function has no status of its own to return.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_TEST_CUFFT_ERRORS_H_
#define CHAPTERS_08_FFT_CONVOLUTION_TEST_CUFFT_ERRORS_H_

#include <warplings/sim.h>

#include <cstdint>
#include <functional>
#include <string>

#include "kit/kit.h"

namespace kit {

// Runs `call` while the first call of cuFFT in it fails, then the second one, and so on, each time
// with `after` behind it. Fails where the name of that call is not written to stderr. A GPU has no
// calls that fail when they are asked to.
inline void expect_cufft_errors_on_stderr(const std::string& function,
                                          const std::function<void()>& call,
                                          const std::function<void()>& after,
                                          Site site = Site::here()) {
  if (!simulated()) return;
  std::string failed = "none yet";
  for (uint64_t k = 1; !failed.empty(); ++k) {
    testing::internal::CaptureStderr();
    wsim_fail_call(k, "cufft", ".cu");
    call();
    failed = wsim_failed_call();
    wsim_fail_call(0, "", "");
    const std::string said = testing::internal::GetCapturedStderr();
    cudaDeviceSynchronize();
    after();
    cudaGetLastError();
    wsim_clear_findings();  // of work that lacks what the call should have made
    const std::string name = failed.substr(0, failed.find(' '));
    if (failed.empty() || said.find(name) != std::string::npos) continue;
    fail(failed + " was made to fail, and " + function +
             (said.find("cufft") == std::string::npos
                  ? " wrote nothing of it to stderr."
                  : " wrote to stderr: \"" + said + "\". That is not the name of this call.") +
             " It returns no status, so a code that is dropped is lost: check() takes every code "
             "and the name of its call.",
         site);
    return;
  }
}

}  // namespace kit

#endif  // CHAPTERS_08_FFT_CONVOLUTION_TEST_CUFFT_ERRORS_H_

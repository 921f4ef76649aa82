// cuFFT. A plan for each shape, made at its first call.
#include <cufft.h>

#include <map>
#include <string>
#include <utility>

#include "kit/libraries/entry_points.h"

namespace {

const char* text(const char* call, cufftResult result) {
  if (result == CUFFT_SUCCESS) return nullptr;
  static std::string message;
  message = std::string(call) + " returned " + std::to_string(static_cast<int>(result));
  return message.c_str();
}

}  // namespace

const char* warplings_cufft_forward(const float2* x, float2* y, int n, int batch) {
  static std::map<std::pair<int, int>, cufftHandle> plans;  // by n and batch
  const auto shape = std::make_pair(n, batch);
  if (plans.count(shape) == 0) {
    cufftHandle fresh = 0;
    if (const char* failed = text("cufftPlan1d", cufftPlan1d(&fresh, n, CUFFT_C2C, batch))) {
      return failed;
    }
    plans[shape] = fresh;
  }
  // Out of place, a transform leaves its input as it is; the interface lacks the const.
  return text("cufftExecC2C", cufftExecC2C(plans[shape], const_cast<float2*>(x), y, CUFFT_FORWARD));
}

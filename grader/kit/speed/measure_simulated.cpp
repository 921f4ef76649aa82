// In the simulator the work runs with all checks on: what a timed call gets wrong must be found
// without a GPU as well. Twice, with new contents at the same addresses, so that an answer that was
// remembered is a wrong one.
#include <cuda_runtime_api.h>

#include "kit/context.h"
#include "kit/speed/measurement.h"

namespace kit::internal {

Timings measure(Measurement& m) {
  Timings result;
  result.device = "the simulator";
  result.problem = m.allocate(1);
  if (!result.problem.empty()) return result;
  for (const uint64_t key : {seed(), ~seed()}) {
    m.prepare(0, key);
    cudaDeviceSynchronize();
    const Run timed = run("the timed call", m.launch, m.site);
    if (!timed.ok()) return result;  // reported by run()
    if (timed.launches().empty()) {
      result.problem = "No kernel was launched.";
      return result;
    }
    result.problem = m.check_results(key);
    if (!result.problem.empty()) return result;
  }
  result.contenders.push_back({"yours", m.launch, 1, {}});
  return result;
}

}  // namespace kit::internal

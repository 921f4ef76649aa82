// In the simulator the work runs once, with all checks on: what a timed call gets wrong must be
// found without a GPU as well.
#include "kit/context.h"
#include "kit/speed/measurement.h"

namespace kit::internal {

Timings measure(Measurement& m) {
  Timings result;
  result.device = "the simulator";
  result.problem = m.allocate(1);
  if (!result.problem.empty()) return result;
  m.prepare(0, seed());
  const Run timed = run("the timed call", m.launch, m.site);
  if (!timed.ok()) return result;  // reported by run()
  if (timed.launches().empty()) {
    result.problem = "No kernel was launched.";
    return result;
  }
  result.contenders.push_back({"yours", m.launch, 1, {}});
  result.problem = m.check_results(seed());
  return result;
}

}  // namespace kit::internal

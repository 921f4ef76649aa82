// Notes of the simulator, for exercises that are about one. A note is worth knowing and fails
// nothing, because there is code that means it; where a note is what the learner has to mend, the
// test asks for it behind the launches:
//
//   kit::run([&] {
//     launch_deposits(...);
//     kit::expect_no_note("missing-acquire-fence");
//   });
#ifndef WARPLINGS_KIT_NOTES_H_
#define WARPLINGS_KIT_NOTES_H_

#include <cuda_runtime_api.h>

#include <string>

#include "kit/kit.h"

namespace kit {

// Waits for the device. Fails if the launches of this kit::run left a note of that kind (`kind` as
// in warplings/sim.h). Always true on a GPU.
inline bool expect_no_note(const std::string& kind, Site site = Site::here()) {
  cudaDeviceSynchronize();
  for (int i = 0; i < wsim_finding_count(); ++i) {
    wsim_finding finding;
    if (wsim_get_finding(i, &finding) != 0) break;
    if (finding.is_note != 0 && kind == finding.kind) return fail(finding.message, site);
  }
  return true;
}

}  // namespace kit

#endif  // WARPLINGS_KIT_NOTES_H_

// Whose kernels a step is made of, and what part of its time they have.
#ifndef WARPLINGS_KIT_PARTS_H_
#define WARPLINGS_KIT_PARTS_H_

#include <functional>
#include <string>
#include <vector>

namespace kit {

// Seconds that `launch` takes on the device: modelled in the simulator, on one of `slice` parts of
// the card, and by events on a GPU, where it runs often.
double device_seconds(const std::function<void()>& launch, double slice);

// What of a step passes in the launchers of one exercise, by its id.
struct StepPart {
  std::string exercise;
  double seconds;
};

// Tells the grader, which knows whose kernels each part ran ("links" of course.json). The verdict
// names them with their shares of the time; it fails a learner's program in which kernels of the
// learner's own have less than the share `own`.
void report_parts(const std::vector<StepPart>& parts, double own);

}  // namespace kit

#endif  // WARPLINGS_KIT_PARTS_H_

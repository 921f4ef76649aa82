// Whose kernels a learner's program is linked with, of the earlier exercises that it uses ("links"
// of course.json).
#ifndef WARPLINGS_CLI_LINKED_KERNELS_H_
#define WARPLINGS_CLI_LINKED_KERNELS_H_

#include <string>
#include <vector>

#include "cli/exercise_run.h"
#include "course/manifest.h"

namespace grade {

// The learner's own where that exercise is passed (.progress) and its file is not the starter
// again, the solution's otherwise. In the order of "links".
std::vector<LinkedKernel> linked_kernels(const Paths& paths, const course::Exercise& exercise);

// "31 %" of 0.31.
std::string percent(double share);

// What to do about it where less than `needed` (0 to 1) of the time passes in kernels of the
// learner; "" where it is enough, or where nothing is linked for a learner.
std::string too_few_own_kernels(const std::vector<LinkedKernel>& kernels, double needed);

// Tells CMake: own_kernels.txt in the build folder lists the exercises whose own kernels are to be
// linked, of all that any exercise uses. A list that is right already stays as it is, because a
// newer file makes Ninja configure again. Throws course::Error.
void note_own_kernels(const Paths& paths, Device device);

}  // namespace grade
#endif  // WARPLINGS_CLI_LINKED_KERNELS_H_

// How much of an exercise its learner writes: lines of code between TODO markers, as a share of all
// lines of code of the solution's file. What lies in support files is in neither.
#ifndef WARPLINGS_CLI_GATES_FADING_TABLE_H_
#define WARPLINGS_CLI_GATES_FADING_TABLE_H_

#include <string>

#include "course/manifest.h"

namespace grade {

struct Written {
  int by_learner = 0, all = 0;  // lines of code: neither empty, nor a comment, nor a directive
  double percent() const { return all == 0 ? 0 : 100.0 * by_learner / all; }
};
// Throws course::Error.
Written written_of(const std::string& solution, const std::string& file);

// A row per chapter: the share, its target, the share of its last three exercises that are no
// bonus.
std::string fading_table(const course::Course& course);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_FADING_TABLE_H_

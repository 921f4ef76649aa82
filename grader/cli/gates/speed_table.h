// What a GPU gave for the speed exercises of a chapter, as a table for its page.
#ifndef WARPLINGS_CLI_GATES_SPEED_TABLE_H_
#define WARPLINGS_CLI_GATES_SPEED_TABLE_H_

#include <string>

#include "course/json.h"

namespace grade {

// `run`: what grader/tests/gpu/run.py wrote. One row for every thing that a solution of `chapter`
// was compared with; "" if the run has none.
std::string speed_table(const course::Json& run, const std::string& chapter);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_SPEED_TABLE_H_

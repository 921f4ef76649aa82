// Which TODO a line of a learner's file belongs to.
#ifndef WARPLINGS_CLI_TODO_PLACE_H_
#define WARPLINGS_CLI_TODO_PLACE_H_

#include <string>

#include "course/starter.h"

namespace grade {

// The TODO between whose given lines `line` (from 1) of the learner's text stands. Where it stands
// in given lines, the TODO above: what is wrong there is noticed below. 0 if there is none.
int todo_at_line(const course::MarkedSource& source, const std::string& learner, int line);

// The TODO whose place `line` stands in, as something that the learner wrote; 0 in given lines.
int todo_written_at(const course::MarkedSource& source, const std::string& learner, int line);

}  // namespace grade
#endif  // WARPLINGS_CLI_TODO_PLACE_H_

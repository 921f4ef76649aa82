// How much is new in a solution, next to the solution that it goes on from.
#ifndef WARPLINGS_CLI_GATES_CHANGED_LINES_H_
#define WARPLINGS_CLI_GATES_CHANGED_LINES_H_

#include <string>

namespace grade {

// Lines of code of `after` that a shortest edit of `before` adds. Both are texts of solutions;
// `file` is named in errors. Comments, empty lines, indentation, markers and starter-only lines do
// not count. Throws course::Error.
int changed_lines(const std::string& before, const std::string& after, const std::string& file);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_CHANGED_LINES_H_

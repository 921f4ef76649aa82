// Names of files with a number in them, which stay behind when an exercise gets another number.
#ifndef WARPLINGS_CLI_GATES_FILE_NAMES_H_
#define WARPLINGS_CLI_GATES_FILE_NAMES_H_

#include <string>
#include <vector>

#include "cli/gates/gate.h"

namespace grade {

// Mentions of files of exercises that are not there ("09_scale.h", "09_..._support.h"), and headers
// whose include guard is not their own name, below chapters/ and solutions/.
std::vector<std::string> name_problems(const GateContext& context);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_FILE_NAMES_H_

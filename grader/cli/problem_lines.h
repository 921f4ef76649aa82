// `--problems`: what a verdict says of places, one line each, as compilers print them.
#ifndef WARPLINGS_CLI_PROBLEM_LINES_H_
#define WARPLINGS_CLI_PROBLEM_LINES_H_

#include <string>

#include "cli/exercise_run.h"

namespace grade {

// "FILE:LINE: error|warning|note: message" for every message of the compiler, finding and failed
// test, each once; FILE from the root of the course. A failed test that no finding explains stands
// at its TODO in `source`, the learner's text, whose path is `file`.
std::string problem_lines(const Result& result, const std::string& file, const std::string& source);

}  // namespace grade
#endif  // WARPLINGS_CLI_PROBLEM_LINES_H_

// What nvcc, g++ and the linker said, without the build tool's own lines.
#ifndef WARPLINGS_CLI_COMPILER_OUTPUT_H_
#define WARPLINGS_CLI_COMPILER_OUTPUT_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/exercise_run.h"

namespace grade {

// Errors before warnings, messages about `learner_file` before all others; otherwise in the order
// in which they came. Paths under `root` become relative to it.
std::vector<Diagnostic> parse_compiler_output(const std::string& log,
                                              const std::filesystem::path& root,
                                              const std::filesystem::path& learner_file);

// "CUB" if a source includes headers that take long to compile, and so on; "" if none.
std::string slow_headers(const std::string& source);

}  // namespace grade
#endif  // WARPLINGS_CLI_COMPILER_OUTPUT_H_

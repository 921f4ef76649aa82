// Asking other programs: git, nvcc, nvidia-smi.
#ifndef WARPLINGS_CLI_TOOL_H_
#define WARPLINGS_CLI_TOOL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "cli/process/child.h"

namespace grade {

// Runs a tool that should answer soon, in `directory`. Ends with Ctrl-C.
ChildResult ask(const std::vector<std::string>& argv, const std::filesystem::path& directory = {},
                double seconds = 30);
// First line of stdout, trimmed; "" if the tool failed.
std::string first_line(const ChildResult& result);

}  // namespace grade
#endif  // WARPLINGS_CLI_TOOL_H_

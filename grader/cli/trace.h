// What the simulator's text debugger writes, for ./grade trace and ./grade view --text.
#ifndef WARPLINGS_CLI_TRACE_H_
#define WARPLINGS_CLI_TRACE_H_

#include <filesystem>
#include <string>

#include "cli/app.h"

namespace grade {

// Tells the simulator which block, warp, thread and lines to follow. The file that it will write.
// Throws UsageError for what is no block or line.
std::filesystem::path start_trace(App& app, const Options& options);

// Its text at that width, at most that many steps, with a word about the rest.
std::string trace_rows(const std::string& trace, int columns, int most_steps);

}  // namespace grade
#endif  // WARPLINGS_CLI_TRACE_H_

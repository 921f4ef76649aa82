// The thread that a verdict is about, as ./grade trace takes it.
#ifndef WARPLINGS_CLI_WATCH_FAILING_THREAD_H_
#define WARPLINGS_CLI_WATCH_FAILING_THREAD_H_

#include <string>
#include <vector>

#include "cli/exercise_run.h"

namespace grade {

// Arguments of trace for the failing test of `result`: the test, and the block and thread that the
// finding names, where it names one. {} where no test failed.
std::vector<std::string> trace_arguments(const Result& result);

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_FAILING_THREAD_H_

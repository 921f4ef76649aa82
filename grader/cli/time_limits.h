// How long a program under test may take, and what is said of one that took longer.
#ifndef WARPLINGS_CLI_TIME_LIMITS_H_
#define WARPLINGS_CLI_TIME_LIMITS_H_

#include <string>

#include "cli/exercise_run.h"

namespace grade {

constexpr char kTimeLimit[] = "time limit";  // as an early end

// How the program ended before it had reported everything.
struct EarlyEnd {
  std::string what;     // for --json and the gates
  std::string message;  // for the learner
};

// Seconds of the program's own time (process/own_time.h).
struct TimeLimits {
  double whole = 120;
  double quiet = 20;    // without a word: the code under test runs
  double at_work = 60;  // the same while the kit is at work itself
};

// Longer on a slow machine, unless GRADE_TIME_LIMIT or the request says how long.
TimeLimits time_limits(const RunRequest& request);

// `at_work`: what the kit did itself, "" if nothing.
EarlyEnd timed_out(const ChildResult& child, const TimeLimits& limits, const RunRequest& request,
                   const std::string& at_work);

}  // namespace grade
#endif  // WARPLINGS_CLI_TIME_LIMITS_H_

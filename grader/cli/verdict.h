// The verdict screen: what a Result means to the learner.
#ifndef WARPLINGS_CLI_VERDICT_H_
#define WARPLINGS_CLI_VERDICT_H_

#include <string>
#include <vector>

#include "cli/exercise_run.h"
#include "cli/terminal.h"

namespace grade {

// How much is shown of what can be long: a message, what the program printed.
struct Extent {
  bool whole = false;
  std::string more;  // what shows the rest: "m"; "": ./grade run NAME --output
};

// Head line and what happened, without the "next" line.
std::string verdict_text(const Result& result, const Terminal& terminal, const Extent& extent = {});

// TODO whose hint helps with this result: that of the first failing test, else (it does not
// compile, or the test carries none) the first one that `source` still shows as open, else 1. 0
// after a pass.
int todo_for(const Result& result, const std::string& source);

// "  next  ./grade hint    (TODO 2)" and the like, indented as the verdict.
std::string next_line(const std::string& command, const std::string& why, const Terminal& terminal);

// The finding of the simulator that the verdict tells; nullptr where it tells something else.
const Finding* finding_told(const Result& result);
// "./grade explain KIND" of that finding, else "".
std::string explain_command_for(const Result& result);

// One finding in full, as `sanitize` lists it.
std::string finding_text(const Finding& finding, const Terminal& terminal);

// The versioned form of --json (schema/verdict.schema.json). `next` is the command to try.
// `screen`: what a learner would see, plain; "" to leave it out.
std::string verdict_json(const std::vector<Result>& results, int todo, const std::string& next,
                         const std::string& screen = "");

}  // namespace grade
#endif  // WARPLINGS_CLI_VERDICT_H_

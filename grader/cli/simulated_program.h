// Running things in the simulator for commands that look at them: profile and trace.
#ifndef WARPLINGS_CLI_SIMULATED_PROGRAM_H_
#define WARPLINGS_CLI_SIMULATED_PROGRAM_H_

#include <string>
#include <vector>

#include "cli/app.h"

namespace grade {

// The command line `program` ready to be executed against the simulator's libcudart.so.13, which is
// built if need be; the environment is set. Empty, with *status, where that is not possible. Throws
// UsageError.
std::vector<std::string> simulated_program(App& app, const std::vector<std::string>& program,
                                           int* status);

// Starts it with this terminal and waits; its exit status, or 128 + signal.
int run_in_foreground(std::vector<std::string> argv);

// Builds and runs the learner's file, or the solution, with more time than grading has.
Result run_watched(App& app, const course::Exercise& exercise);

// Passes --model on. Throws UsageError for a name that no card has.
void choose_model(const Options& options);

}  // namespace grade
#endif  // WARPLINGS_CLI_SIMULATED_PROGRAM_H_

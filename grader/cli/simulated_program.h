// Running things in the simulator for commands that look at them: profile and trace.
#ifndef WARPLINGS_CLI_SIMULATED_PROGRAM_H_
#define WARPLINGS_CLI_SIMULATED_PROGRAM_H_

#include <filesystem>
#include <functional>
#include <optional>
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
Result run_watched(App& app, const course::Exercise& exercise, Program program);

// The file that the simulator is told to write by an environment variable: `name` and the process.
std::filesystem::path output_of_simulator(App& app, const char* variable, const std::string& name);
// Its text, and the file is gone; nothing if it was not written.
std::optional<std::string> take_output(const std::filesystem::path& file);

// Shows what a run left in a file, under a title.
using ShowOutput = std::function<int(const std::filesystem::path& file, const std::string& title)>;
// The command line after `--`, run in the simulator. What it ended with, or else what `show` says.
int run_and_show(App& app, const std::function<std::filesystem::path()>& prepare,
                 const ShowOutput& show);
// Of an exercise that did not run to its end: the status of the command, after the verdict is
// shown.
std::optional<int> show_early_end(App& app, const Result& result);

// Passes --model on. Throws UsageError for a name that no card has.
void choose_model(const Options& options);

}  // namespace grade
#endif  // WARPLINGS_CLI_SIMULATED_PROGRAM_H_

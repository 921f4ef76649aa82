// Builds one program of an exercise and runs it; what happened comes back as data. Nothing here
// prints: the verdict screens, --json and the gates all read the same Result.
#ifndef WARPLINGS_CLI_EXERCISE_RUN_H_
#define WARPLINGS_CLI_EXERCISE_RUN_H_

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/process/child.h"
#include "course/manifest.h"

namespace grade {

enum class Device { kSimulator, kGpu };
const char* name_of(Device device);  // "simulator", "GPU"

// Which program of the exercise: the learner's file, the solution, the one that holds ablations,
// mutants and variants, or the starter as the solution's image (for the gates: a learner's file may
// be edited), or the solution with the ways in that planted answers need.
enum class Program { kLearner, kSolution, kDerived, kStarter, kPlanted };

// Environment of a run: set by the launcher, or guessed from the position of the executable.
struct Paths {
  std::filesystem::path root;  // GRADE_ROOT
  std::string ninja, cmake, nvcc, cuda_home;
  std::filesystem::path build(Device device) const;  // ROOT/build/sim or ROOT/build/gpu
};
// From GRADE_ROOT and its companions.
Paths find_paths();

// One message of a compiler or linker.
struct Diagnostic {
  std::string file;      // relative to the root where it lies inside
  int line = 0;          // 0: unknown
  bool is_error = true;  // else a warning
  std::string message;
  std::vector<std::string> context;  // the source line and the caret, notes
};

struct BuildResult {
  enum class Status { kBuilt, kDoesNotCompile, kCannotBuild, kCancelled };
  Status status = Status::kCannotBuild;
  std::vector<Diagnostic> diagnostics;  // errors first, those in the learner's file before others
  std::string problem;                  // kCannotBuild: what is wrong and what to do
  std::string log;                      // what the build tool printed
  double seconds = 0;
};

struct Failure {
  std::string file;
  int line = 0;
  std::string message;
};

struct Finding {
  std::string check, kind, message, file, other_file, kernel, where;  // where: the case
  int line = 0, other_line = 0;
  bool is_note = false, expected = false;
  long count = 1;
};

struct BudgetCheck {
  std::string name, unit, message;
  double value = 0, limit = 0;
  bool passed = false;
};

// One comparison of a speed measurement.
struct SpeedRatio {
  std::string kind, name,
      level;  // "stage", "library", "limit" or "ceiling"; what it is; level reached
  double ratio = 0, low = 0, high = 0;       // median of the pairs, with its 98 % interval
  double pass = 0, gold = 0, reference = 0;  // bars; 0: none
  double seconds = 0, amount = 0;            // of one call of what it is compared with
};

struct SpeedReport {
  std::string device, verdict, level, reason;
  std::string where;     // the case: "cols = 1024"; "" where the test has only one
  std::string left_out;  // comparisons that could not be made, with their reasons
  bool modelled = false;
  double seconds = 0, bytes = 0, flops = 0, slice = 1;
  int rounds = 0;
  std::vector<SpeedRatio> ratios;
};

struct LaunchInfo {
  std::string kernel, file;
  int line = 0;
  int grid[3] = {0, 0, 0}, block[3] = {0, 0, 0};
};

using CounterMap = std::map<std::string, double>;

struct TestReport {
  std::string name;  // "Suite.Name"
  bool started = false, finished = false, passed = false;
  double ms = 0;
  std::map<std::string, std::string> properties;
  std::vector<Failure> failures;
  std::vector<Finding> findings;
  std::vector<BudgetCheck> budgets;
  std::vector<SpeedReport> speeds;
  std::vector<LaunchInfo> launches;
  std::vector<std::pair<std::string, CounterMap>> counters;  // case, counters
  std::string output;                                        // what it printed, cut
  int todo() const;                                          // RecordProperty("todo", N), or 0
  std::string short_name() const;                            // "Name"
};

// An earlier exercise whose kernels are linked with this one: the learner's own, or the solution's.
struct LinkedKernel {
  std::string id;
  bool own = false;
  double share = -1;  // of the time of a step, 0 to 1; less than 0: not asked
};

enum class Outcome {
  kPassed,
  kFailed,  // a test failed, or the program ended early
  kDoesNotCompile,
  kCannotBuild,  // set-up: nothing that the learner's file caused
  kInconclusive,
  kCancelled
};

struct Result {
  std::string id;
  Device device = Device::kSimulator;
  Program program = Program::kLearner;
  std::string variant;
  Outcome outcome = Outcome::kCannotBuild;
  std::vector<LinkedKernel> linked;  // of the learner's program
  std::vector<std::string> changed;  // files that judge it and are not the committed ones
  BuildResult build;
  std::vector<TestReport> tests;  // in the order of the program
  // "" or how the program ended before it had reported all tests: "segmentation fault", ...
  std::string early_end;
  // The same in one paragraph for the learner: what happened, where, what next.
  std::string early_message;
  std::string early_test;  // in which test, "" outside
  ChildResult::End end = ChildResult::End::kNotStarted;
  std::string output;  // what the program printed, test after test, cut
  double run_seconds = 0;
  double simulated_thread_instructions = 0;
  std::string at_work;  // what the kit did itself when the last event came; "": the code under test
  bool done = false;    // the program reported its end
  bool out_of_turn = false;  // the channel carried what no test program sends there
  bool simulated = false;    // the program says that it is linked with the simulator

  bool passed() const { return outcome == Outcome::kPassed; }
  double seconds() const { return build.seconds + run_seconds; }
  // Where a loop does not end, that test: what it found meanwhile only hides the loop. Else one
  // with wrong results, before those that are over a budget or too slow. nullptr if none failed.
  const TestReport* first_failed() const;
  // What is told of a test that failed; nullptr where it gave no reason.
  const Failure* decisive(const TestReport& test) const;
  const SpeedReport* undecided() const;  // the first speed that could not be judged, or nullptr
  int failed_tests() const;
};

// GoogleTest filter of the tests that measure speed: their names say so (CONTRIBUTING).
inline constexpr char kSpeedTests[] = "*Fast*";

struct RunRequest {
  const course::Exercise* exercise = nullptr;
  Program program = Program::kLearner;
  std::string variant;       // kDerived: "mutant_1"
  std::string variant_text;  // kDerived of a Python exercise, which nothing builds: the file
  Device device = Device::kSimulator;
  std::string filter;                // GoogleTest filter, "" all
  bool build = true;                 // false: the program is there already
  bool continue_after_crash = true;  // the tests after a crash run in processes of their own
  // Variables of the program besides ours.
  std::vector<std::pair<std::string, std::string>> environment;
  bool jail = false;       // the program runs in a jail (process/jail.h), in the simulator alone
  double own_seconds = 0;  // 0: the default (GRADE_TIME_LIMIT, else 120 s, 20 s of it in silence)
  double quiet_seconds = 0;
  // Asked after every failure, finding, budget and test end; true ends the program there.
  std::function<bool(const TestReport&)> stop_after;
  // One line that says what takes time now: "building 12 of 80".
  std::function<void(const std::string&)> on_progress;
  std::vector<int> watched;  // see ChildOptions
  std::function<bool()> interrupted;
};

// `target` as CMake names it: "02_vector_add.01_vector_add.solution".
std::string target_of(const course::Exercise& exercise, Program program);
BuildResult build_target(const Paths& paths, Device device, const std::string& target,
                         const RunRequest& request = {});
// Runs the built program only.
Result run_program(const Paths& paths, const RunRequest& request);
// Both. A learner's object that uses what exercises may not use is not run.
Result build_and_run(const Paths& paths, const RunRequest& request);

}  // namespace grade
#endif  // WARPLINGS_CLI_EXERCISE_RUN_H_

// The gates of the course: every rule about an exercise is code that fails when the rule is broken.
// One file per gate; grader/README.md lists them. `grade dev check` and `grade selftest` run them.
#ifndef WARPLINGS_CLI_GATES_GATE_H_
#define WARPLINGS_CLI_GATES_GATE_H_

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cli/exercise_run.h"
#include "course/manifest.h"
#include "course/mutants.h"

namespace grade {

// One thing that was checked; it counts as one test of the self-test.
struct Item {
  enum class State { kPassed, kFailed, kSkipped };
  int gate = 0;      // 1..9; 0: not a gate (unit tests, set-up tests)
  std::string name;  // "02_vector_add/01_vector_add: mutant 3"
  State state = State::kPassed;
  std::string message;  // kFailed: file, rule, what to do. kSkipped: the reason
  double seconds = 0;
  bool reused = false;  // the verdict of an earlier run on the same inputs
};

struct GateContext {
  const Paths* paths = nullptr;
  const course::Course* course = nullptr;
  std::vector<const course::Exercise*> exercises;  // those that are checked
  bool whole_course = true;                        // false: one exercise was named
  Device device = Device::kSimulator;
  bool reuse = true;
  // Whose ablations, mutants and variants are asked; of all where it is empty.
  std::function<bool(const course::Exercise&)> asks_derived;
  std::set<std::string>* built = nullptr;            // targets that a gate has built already
  std::function<void(const std::string&)> progress;  // one line that says what goes on
  // How far that is; called often, and by several threads.
  std::function<void(const std::string&)> how_far;
};

// Shown as "gate 7 (mutants)".
const char* name_of_gate(int gate);
Item passed(int gate, std::string name);
Item failed(int gate, std::string name, std::string message);
Item skipped(int gate, std::string name, std::string reason);
// `path` relative to the root of the course.
std::string shown(const GateContext& context, const std::filesystem::path& path);

// Gates that read files only.
std::vector<Item> check_manifest(const GateContext& context);          // 1
std::vector<Item> check_starters(const GateContext& context);          // 2
std::vector<Item> check_readmes(const GateContext& context);           // 3
std::vector<Item> check_figures_of_files(const GateContext& context);  // 9: those that need no run
std::vector<Item> check_figures(const GateContext& context);           // 9: the others

inline bool asks_derived(const GateContext& context, const course::Exercise& exercise) {
  return !context.asks_derived || context.asks_derived(exercise);
}

// What a gate wants to be built and run.
struct Job {
  int gate = 0;
  const course::Exercise* exercise = nullptr;
  std::string name;
  Program program = Program::kSolution;
  std::string variant;
  std::string expectation;  // what the verdict depends on besides the program
  // How to run it, and what a finished run means: "" or the message of the failure.
  std::function<void(RunRequest*)> prepare;
  std::function<std::string(const Result&)> judge;
};

std::vector<Job> solution_jobs(const GateContext& context);  // 4
std::vector<Job> starter_jobs(const GateContext& context);   // 5
// 6, 7 and 8; `derived` belongs to `exercise`.
Job ablation_job(const GateContext& context, const course::Exercise& exercise,
                 const course::Derived& derived);
Job mutant_job(const GateContext& context, const course::Exercise& exercise,
               const course::Derived& derived);
Job variant_job(const GateContext& context, const course::Exercise& exercise,
                const course::Derived& derived);

// Builds what the jobs of gates 4 to 8 need, then runs them on all cores.
std::vector<Item> run_gates(const GateContext& context);
// Gates 1, 2 and 3.
std::vector<Item> check_files(const GateContext& context);
// All nine.
std::vector<Item> check_all_gates(const GateContext& context);

// "" if `result` ended by itself, else how it ended: "crashed in Suite.Name: segmentation fault".
std::string abnormal_end(const Result& result);
// The first failure in words, for messages: "Suite.Name: first line of its message".
std::string first_failure(const Result& result);

// Chooses a source derived from the solution: "mutant_1". Throws course::Error.
void choose_derived(const Paths& paths, const std::string& name, RunRequest* request);

// Runs `work(0..count-1)` on as many threads as there are cores, and on no more than `most`.
void in_parallel(size_t count, const std::function<void(size_t)>& work, size_t most = SIZE_MAX);

// Verdicts of earlier runs, named by a hash of all that they depend on. Only passes are kept: a
// failure is looked at again, with its message.
class VerdictCache {
 public:
  VerdictCache(const GateContext& context);
  // `files`: all that the job runs.
  std::string key(const std::vector<std::filesystem::path>& files, const Job& job);
  bool passed(const std::string& key) const;
  void remember(const std::string& key) const;

 private:
  std::filesystem::path folder_;
  bool enabled_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_GATE_H_

// Python exercises: the interpreter that has what an exercise imports, and how its test is started.
#ifndef WARPLINGS_CLI_PYTHON_PROGRAM_H_
#define WARPLINGS_CLI_PYTHON_PROGRAM_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/exercise_run.h"

namespace grade {

struct PythonProgram {
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  // All that its verdict depends on: the graded file, the test, the kit, the linked kernels.
  std::vector<std::filesystem::path> files;
};

bool is_python(const course::Exercise& exercise);

// Python that calls no kernel of ours: our simulator has nothing to check, profile or trace.
bool runs_without_simulator(const course::Exercise& exercise);

// Why no interpreter of this machine runs the exercise, and what to do: "needs numba, which ...";
// "" if one does.
std::string missing_modules(const Paths& paths, const course::Exercise& exercise);

// Target of the shared object with the kernels that the exercise calls; "" if it calls none.
std::string kernel_target(const Paths& paths, const RunRequest& request);

// Writes the file that is graded where it is made from the solution. Throws course::Error.
PythonProgram python_program(const Paths& paths, const RunRequest& request);

}  // namespace grade
#endif  // WARPLINGS_CLI_PYTHON_PROGRAM_H_

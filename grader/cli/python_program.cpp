#include "cli/python_program.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>

#include "cli/process/child.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// Prints those of its arguments that cannot be imported.
constexpr char kProbe[] =
    "import importlib.util, sys\n"
    "print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])";

constexpr char kMakeIt[] = "sh setup/python_env.sh";

struct Interpreter {
  std::string command;
  std::string missing;  // modules, with commas between them
  bool starts = false;
};

// GRADE_PYTHON alone where it is set; else the private environment, then the system's.
std::vector<std::string> interpreters(const Paths& paths) {
  const char* chosen = std::getenv("GRADE_PYTHON");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> found;
  const fs::path own = paths.root / ".toolkit" / "python" / "bin" / "python3";
  if (fs::exists(own)) found.push_back(own.string());
  found.push_back("python3");
  return found;
}

Interpreter probe(const std::string& command, const std::vector<std::string>& modules) {
  ChildOptions options;
  options.argv = {command, "-c", kProbe};
  options.argv.insert(options.argv.end(), modules.begin(), modules.end());
  options.own_seconds = 60;
  const ChildResult child = run_child(options);
  Interpreter found{command, "", child.ok()};
  found.missing = course::replace_all(course::trim(child.out.text()), " ", ", ");
  return found;
}

// The first interpreter that has all modules; else the last that was tried. Each is asked once.
Interpreter interpreter_for(const Paths& paths, const std::vector<std::string>& modules) {
  static std::mutex mutex;
  static std::map<std::string, Interpreter> known;
  const std::lock_guard<std::mutex> lock(mutex);
  Interpreter last;
  for (const std::string& command : interpreters(paths)) {
    const std::string key = command + " " + course::join(modules, " ");
    const auto at = known.find(key);
    last = at != known.end() ? at->second : known[key] = probe(command, modules);
    if (last.starts && last.missing.empty()) return last;
  }
  return last;
}

// The file's own name stays: messages show it, and the test loads it by its path.
fs::path made_file(const Paths& paths, const course::Exercise& exercise, const std::string& name) {
  return paths.build(Device::kSimulator) / "python" / exercise.target() / name /
         (exercise.name + exercise.extension());
}

fs::path write_made(const fs::path& file, const std::string& text) {
  if (!fs::exists(file) || course::read_text(file) != text) course::write_text(file, text);
  return file;
}

fs::path graded_file(const Paths& paths, const RunRequest& request) {
  const course::ExerciseFiles files = course::files_of(paths.root, *request.exercise);
  switch (request.program) {
    case Program::kSolution:
      return files.solution;
    case Program::kStarter:
      return write_made(
          made_file(paths, *request.exercise, "starter"),
          course::starter_text(course::read_text(files.solution), files.solution.string()));
    case Program::kDerived:
      return write_made(made_file(paths, *request.exercise, request.variant), request.variant_text);
    default:
      return files.starter;
  }
}

std::vector<fs::path> python_files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".py") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

bool is_python(const course::Exercise& exercise) { return exercise.kind == course::Kind::kPython; }

bool runs_without_simulator(const course::Exercise& exercise) {
  return is_python(exercise) && exercise.links.empty();
}

std::string missing_modules(const Paths& paths, const course::Exercise& exercise) {
  const Interpreter found = interpreter_for(paths, exercise.python);
  if (found.starts && found.missing.empty()) return "";
  if (!found.starts) {
    return "needs Python, and " + found.command + " does not start; GRADE_PYTHON names another";
  }
  const fs::path list = paths.root / "setup" / "python_env.txt";  // what it installs without --gpu
  const std::string short_list = fs::exists(list) ? course::read_text(list) : "";
  const bool more =
      std::any_of(exercise.python.begin(), exercise.python.end(), [&](const std::string& module) {
        return short_list.find("\n" + module + "==") == std::string::npos;
      });
  const std::string kind = more ? " --gpu" : "";
  return "needs " + found.missing + ", which " + found.command + " does not have; " + kMakeIt +
         kind +
         " installs what is missing in .toolkit/python, GRADE_PYTHON names another interpreter";
}

std::string kernel_target(const Paths& paths, const RunRequest& request) {
  const course::Exercise& exercise = *request.exercise;
  const fs::path given = paths.root / "chapters" / (exercise.id + "_support.cu");
  // Without links it is there to be timed, which nothing is in the simulator.
  const bool timed = exercise.links.empty();
  if (!fs::exists(given) || (timed && request.device == Device::kSimulator)) return "";
  const bool own = request.program == Program::kLearner && !exercise.links.empty();
  return exercise.target() + (own ? "" : ".solution");
}

PythonProgram python_program(const Paths& paths, const RunRequest& request) {
  const course::Exercise& exercise = *request.exercise;
  const course::ExerciseFiles files = course::files_of(paths.root, exercise);
  const fs::path kit = paths.root / "grader" / "kit" / "python";
  const fs::path graded = graded_file(paths, request);
  PythonProgram program;
  program.argv = {interpreter_for(paths, exercise.python).command,
                  "-u",
                  "-B",
                  (kit / "run.py").string(),
                  graded.string(),
                  files.test.string()};
  program.environment = {{"GRADE_DEVICE", request.device == Device::kGpu ? "gpu" : "sim"},
                         {"GRADE_ROOT", paths.root.string()},
                         {"GRADE_NVCC", paths.nvcc},
                         {"GRADE_CUDA_HOME", paths.cuda_home}};
  program.files = python_files_of(kit);
  program.files.insert(program.files.end(), {graded, files.test});
  const std::string kernels = kernel_target(paths, request);
  if (!kernels.empty()) {
    const fs::path library = paths.build(request.device) / "course" / (kernels + ".so");
    program.environment.emplace_back("GRADE_KERNELS", library.string());
    program.files.push_back(library);
  }
  return program;
}

}  // namespace grade

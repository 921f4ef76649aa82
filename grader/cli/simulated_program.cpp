#include "cli/simulated_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/grading.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

int run_in_foreground(std::vector<std::string> argv) {
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  int status = 0;
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) {
    complain("cannot start " + argv[0] + ": " + std::strerror(errno));
    return kUsage;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result run_watched(App& app, const course::Exercise& exercise) {
  return run_watched(app, exercise,
                     app.options().solution ? Program::kSolution : Program::kLearner);
}

Result run_watched(App& app, const course::Exercise& exercise, Program program) {
  constexpr double kWholeSeconds = 600, kQuietSeconds = 120;  // recording takes time
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.exercise = &exercise;
  request.program = program;
  request.own_seconds = kWholeSeconds;
  request.quiet_seconds = kQuietSeconds;
  // Part of a test's name.
  if (!app.options().test_case.empty()) request.filter = "*" + app.options().test_case + "*";
  request.continue_after_crash = false;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  Result result = build_and_run(app.paths(), request);
  clear_progress(app);
  return result;
}

fs::path output_of_simulator(App& app, const char* variable, const std::string& name) {
  const fs::path folder = app.paths().build(Device::kSimulator) / "profile";
  fs::create_directories(folder);
  const fs::path stem = name;
  const fs::path file = folder / (stem.stem().string() + "-" + std::to_string(::getpid()) +
                                  stem.extension().string());
  ::setenv(variable, file.c_str(), 1);
  return file;
}

std::optional<std::string> take_output(const fs::path& file) {
  if (!fs::exists(file)) return std::nullopt;
  std::string text = course::read_text(file.string());
  fs::remove(file);
  return text;
}

int run_and_show(App& app, const std::function<fs::path()>& prepare, const ShowOutput& show) {
  int status = kUsage;
  const std::vector<std::string> argv = simulated_program(app, app.options().rest, &status);
  if (argv.empty()) return status;
  const fs::path file = prepare();
  const int ended = run_in_foreground(argv);
  const int shown = show(file, fs::path(argv[0]).filename().string());
  return ended != 0 ? ended : shown;
}

std::optional<int> show_early_end(App& app, const Result& result) {
  if (result.passed() || result.outcome == Outcome::kFailed) return std::nullopt;
  Grading grading;
  grading.results = {result};
  print(grading_text(grading, app.terminal()));
  return grading.exit_status();
}

void choose_model(const Options& options) {
  if (options.model.empty()) return;
  for (const char* known : {"h200", "rtx3070", "t4"}) {
    if (options.model != known) continue;
    ::setenv("GRADE_SIM_MODEL", known, 1);
    return;
  }
  throw UsageError("--model is h200, rtx3070 or t4, not \"" + harmless(options.model) + "\".");
}

}  // namespace grade

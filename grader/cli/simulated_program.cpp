#include "cli/simulated_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/grading.h"

namespace grade {

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
  constexpr double kWholeSeconds = 600, kQuietSeconds = 120;  // recording takes time
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.exercise = &exercise;
  request.program = app.options().solution ? Program::kSolution : Program::kLearner;
  request.wall_seconds = kWholeSeconds;
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

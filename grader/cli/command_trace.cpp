// grade trace [EX] and grade trace -- PROGRAM: one warp of the first launch, step by step.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/simulated_program.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// Numbers with single separators between them: at most `most` of them.
bool is_number_list(const std::string& text, char separator, int most) {
  int numbers = 0;
  bool digit_before = false;
  for (const char c : text) {
    if (c == separator && digit_before) {
      digit_before = false;
    } else if (c >= '0' && c <= '9') {
      if (!digit_before) ++numbers;
      digit_before = true;
    } else {
      return false;
    }
  }
  return digit_before && numbers <= most && text.size() < 32;
}

void pass_on(const char* option, const char* variable, const std::string& value, char separator,
             int most) {
  if (value.empty()) {
    ::unsetenv(variable);
    return;
  }
  if (!is_number_list(value, separator, most)) {
    throw UsageError(std::string(option) + " does not take \"" + harmless(value) +
                     "\". For example: --block 1,0 --thread 33 --lines 12:20");
  }
  ::setenv(variable, value.c_str(), 1);
}

fs::path prepare(App& app) {
  const Options& options = app.options();
  if (!options.warp.empty() && !options.thread.empty()) {
    throw UsageError("--thread names its warp already: give one of --warp and --thread.");
  }
  pass_on("--block", "GRADE_SIM_TRACE_BLOCK", options.block, ',', 3);
  pass_on("--warp", "GRADE_SIM_TRACE_WARP", options.warp, ',', 1);
  pass_on("--thread", "GRADE_SIM_TRACE_THREAD", options.thread, ',', 1);
  pass_on("--lines", "GRADE_SIM_TRACE_LINES", options.lines, ':', 2);
  const fs::path folder = app.paths().build(Device::kSimulator) / "profile";
  fs::create_directories(folder);
  const fs::path file = folder / ("trace-" + std::to_string(::getpid()) + ".txt");
  ::setenv("GRADE_SIM_TRACE", file.c_str(), 1);
  return file;
}

int show(App& app, const fs::path& file, const std::string& title) {
  if (!fs::exists(file)) {
    complain(title + " launched no kernel that has this block and warp.");
    return kFail;
  }
  const std::string text = course::read_text(file.string());
  fs::remove(file);
  print(app.terminal().paint(Style::kBold, title) + "  first launch, in the simulator\n" +
        harmless(text));
  return kPass;
}

}  // namespace

int trace_command(App& app) {
  if (!app.options().rest.empty()) {
    int status = kUsage;
    std::vector<std::string> argv = simulated_program(app, app.options().rest, &status);
    if (argv.empty()) return status;
    const fs::path file = prepare(app);
    const int ended = run_in_foreground(argv);
    const int shown = show(app, file, fs::path(argv[0]).filename().string());
    return ended != 0 ? ended : shown;
  }
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) throw UsageError("all exercises are passed: name the one to trace.");
  if (exercise->gpu_only) {
    throw UsageError(exercise->id + " runs on a GPU only; the trace is the simulator's.");
  }
  const fs::path file = prepare(app);
  const Result result = run_watched(app, *exercise);
  const bool ran = result.passed() || result.outcome == Outcome::kFailed;
  if (!ran) {
    Grading grading;
    grading.results = {result};
    print(grading_text(grading, app.terminal()));
    return grading.exit_status();
  }
  return show(app, file, exercise->id);
}

}  // namespace grade

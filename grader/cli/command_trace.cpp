// grade trace [EX] and grade trace -- PROGRAM: one warp of the first launch, step by step.
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/python_program.h"
#include "cli/simulated_program.h"

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

fs::path start_trace(App& app) {
  const Options& options = app.options();
  if (!options.warp.empty() && !options.thread.empty()) {
    throw UsageError("--thread names its warp already: give one of --warp and --thread.");
  }
  pass_on("--block", "GRADE_SIM_TRACE_BLOCK", options.block, ',', 3);
  pass_on("--warp", "GRADE_SIM_TRACE_WARP", options.warp, ',', 1);
  pass_on("--thread", "GRADE_SIM_TRACE_THREAD", options.thread, ',', 1);
  pass_on("--lines", "GRADE_SIM_TRACE_LINES", options.lines, ':', 2);
  return output_of_simulator(app, "GRADE_SIM_TRACE", "trace.txt");
}

int show(App& app, const fs::path& file, const std::string& title) {
  const std::optional<std::string> text = take_output(file);
  if (!text) {
    complain(title + " launched no kernel that has this block and warp.");
    return kFail;
  }
  print(app.terminal().paint(Style::kBold, title) + "  first launch, in the simulator\n" +
        harmless(*text));
  return kPass;
}

}  // namespace

int trace_command(App& app) {
  if (!app.options().rest.empty()) {
    return run_and_show(
        app, [&] { return start_trace(app); },
        [&](const fs::path& file, const std::string& title) { return show(app, file, title); });
  }
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) throw UsageError("all exercises are passed: name the one to trace.");
  if (runs_without_simulator(*exercise)) {
    throw UsageError(exercise->id + " runs no kernel of CUDA C++; the trace is the simulator's.");
  }
  if (exercise->gpu_only) {
    throw UsageError(exercise->id + " runs on a GPU only; the trace is the simulator's.");
  }
  const fs::path file = start_trace(app);
  const Result result = run_watched(app, *exercise);
  if (const std::optional<int> status = show_early_end(app, result)) return *status;
  return show(app, file, exercise->id);
}

}  // namespace grade

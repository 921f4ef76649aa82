// grade trace [EX] and grade trace -- PROGRAM: one warp of the first launch, step by step.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/python_program.h"
#include "cli/simulated_program.h"
#include "cli/trace.h"
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

// A step of the table: "   12    35      1     32  const int row = ...".
bool is_step(const std::string& line) {
  constexpr size_t kStep = 5;  // columns of its number
  return line.size() > kStep && std::isdigit(static_cast<unsigned char>(line[kStep - 1])) != 0;
}

}  // namespace

fs::path start_trace(App& app, const Options& options) {
  if (!options.warp.empty() && !options.thread.empty()) {
    throw UsageError("--thread names its warp already: give one of --warp and --thread.");
  }
  pass_on("--block", "GRADE_SIM_TRACE_BLOCK", options.block, ',', 3);
  pass_on("--warp", "GRADE_SIM_TRACE_WARP", options.warp, ',', 1);
  pass_on("--thread", "GRADE_SIM_TRACE_THREAD", options.thread, ',', 1);
  pass_on("--lines", "GRADE_SIM_TRACE_LINES", options.lines, ':', 2);
  return output_of_simulator(app, "GRADE_SIM_TRACE", "trace.txt");
}

std::string trace_rows(const std::string& trace, int columns, int most_steps) {
  constexpr size_t kNotes = 29;  // where what belongs to a step is wrapped to
  const size_t room = static_cast<size_t>(columns);
  std::string text;
  int steps = 0;
  for (const std::string& line : course::split_lines(harmless(trace))) {
    if (is_step(line) && ++steps > most_steps) continue;
    if (steps > most_steps) continue;
    if (width_of(line) <= room) {
      text += line + "\n";
    } else if (is_step(line)) {
      text += cut(line, room) + "\n";
    } else {
      const size_t words = std::min(line.find_first_not_of(' '), kNotes);
      text += wrap(line.substr(words), std::string(words, ' '), columns, true);
    }
  }
  if (steps <= most_steps) return text;
  return text + wrap("and " + std::to_string(steps - most_steps) + " more steps", " ", columns);
}

namespace {

int show(App& app, const fs::path& file, const std::string& title) {
  const std::optional<std::string> text = take_output(file);
  if (!text) {
    complain(title + " launched no kernel, or none that has this block and warp.");
    return kFail;
  }
  print(wrap(app.terminal().paint(Style::kBold, title) + "  first launch, in the simulator", "",
             app.terminal().columns) +
        trace_rows(*text, app.terminal().columns, std::numeric_limits<int>::max()));
  return kPass;
}

}  // namespace

int trace_command(App& app) {
  if (!app.options().rest.empty()) {
    return run_and_show(
        app, [&] { return start_trace(app, app.options()); },
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
  const fs::path file = start_trace(app, app.options());
  const Result result = run_watched(app, *exercise);
  if (const std::optional<int> status = show_early_end(app, result)) return *status;
  return show(app, file, exercise->id);
}

}  // namespace grade

// grade compare [EX]: after a pass, yours beside the reference.
#include <cmath>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/diff.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/speed_text.h"
#include "cli/verdict.h"
#include "course/text.h"

namespace grade {
namespace {

struct Row {
  const char* key;
  const char* name;
  const char* more;  // what a larger number means, after "Yours "
};

// The counters worth a look, the dearest first.
constexpr Row kRows[] = {
    {"global_load_sectors", "32-byte sectors loaded from global", "loads more sectors"},
    {"global_store_sectors", "32-byte sectors stored to global", "stores more sectors"},
    {"shared_bank_conflicts", "bank conflicts in shared memory", "has more bank conflicts"},
    {"local_bytes", "bytes spilled to local memory", "spills more to local memory"},
    {"atomics_global", "atomics on global memory", "does more atomics on global memory"},
    {"barriers", "barriers, per warp", "waits at more barriers"},
    {"divergent_branches", "divergent branches", "splits its warps more often"},
    {"warp_instructions", "instructions, per warp", "executes more instructions"},
    {"launches", "kernel launches", "launches more kernels"},
};

CounterMap total_counters(const Result& result) {
  CounterMap total;
  for (const TestReport& test : result.tests) {
    for (const auto& [where, counters] : test.counters) {
      for (const auto& [key, value] : counters) total[key] += value;
    }
  }
  return total;
}

double value_of(const CounterMap& counters, const char* key) {
  const auto found = counters.find(key);
  return found == counters.end() ? 0 : found->second;
}

std::string diff_text(const std::vector<DiffLine>& diff, const Terminal& terminal) {
  constexpr size_t kContext = 2;
  std::string text;
  for (const DiffLine& line : around_changes(diff, kContext)) {
    const Style style = line.sign == '-'   ? Style::kBad
                        : line.sign == '+' ? Style::kGood
                                           : Style::kDim;
    const std::string row = std::string("  ") + line.sign + " " + harmless(line.text);
    const std::string whole = row.substr(0, row.find_last_not_of(' ') + 1);
    for (const std::string& piece : pieces_of(whole, "        ", terminal.width)) {
      text += terminal.paint(style, piece) + "\n";
    }
  }
  return text;
}

// One row of the tables: as wide as prose.
std::string table_row(const std::string& name, const std::string& mine,
                      const std::string& reference, const Terminal& terminal) {
  constexpr size_t kNumber = 12;
  const size_t room = static_cast<size_t>(terminal.columns) - 2 - 2 * kNumber;
  return "  " + pad(name, room) + pad_left(mine, kNumber) + pad_left(reference, kNumber) + "\n";
}

std::string counter_table(const CounterMap& mine, const CounterMap& reference,
                          const Terminal& terminal) {
  std::string text = table_row("all cases together", "yours", "reference", terminal);
  for (const Row& row : kRows) {
    const double a = value_of(mine, row.key), b = value_of(reference, row.key);
    if (a == 0 && b == 0) continue;
    char left[32], right[32];
    std::snprintf(left, sizeof left, "%.0f", a);
    std::snprintf(right, sizeof right, "%.0f", b);
    text += table_row(row.name, left, right, terminal);
  }
  return text;
}

// The dearest difference that is more than noise of writing style.
std::string why(const CounterMap& mine, const CounterMap& reference) {
  constexpr double kWorthSaying = 1.05;
  for (const Row& row : kRows) {
    const double a = value_of(mine, row.key), b = value_of(reference, row.key);
    if (a == b) continue;
    char factor[48] = "";
    const double ratio = b == 0 || a == 0 ? 0 : a > b ? a / b : b / a;
    if (ratio != 0 && ratio < kWorthSaying) continue;
    if (ratio != 0) std::snprintf(factor, sizeof factor, " (%.2g times as many)", ratio);
    return std::string(a > b ? "Yours " : "The reference ") + row.more + factor + ".";
  }
  return "Both move the same data with the same effort; the rest is a matter of taste.";
}

// Without the generator's markers, which a solution that was copied still has.
std::vector<std::string> without_markers(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string& line : course::split_lines(text)) {
    const std::string code = course::trim(line);
    const bool is_marker = course::starts_with(code, "//~") || course::starts_with(code, "#~");
    if (!is_marker) lines.push_back(line);
  }
  return lines;
}

std::vector<DiffLine> source_diff(App& app, const course::Exercise& exercise) {
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  return diff_lines(without_markers(course::read_text(files.starter)),
                    without_markers(course::read_text(files.solution)));
}

std::string counters_json(const CounterMap& counters) {
  JsonOut out;
  for (const auto& [key, value] : counters) out.number(key, value);
  return out.str();
}

Result run_one(App& app, const course::Exercise& exercise, Program program,
               Device device = Device::kSimulator, const std::string& filter = "") {
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.exercise = &exercise;
  request.program = program;
  request.device = device;
  request.filter = filter;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  Result result = build_and_run(app.paths(), request);
  clear_progress(app);
  return result;
}

std::vector<const SpeedReport*> speeds_of(const Result& result) {
  std::vector<const SpeedReport*> all;
  for (const TestReport& test : result.tests) {
    for (const SpeedReport& speed : test.speeds) {
      if (speed.seconds > 0) all.push_back(&speed);
    }
  }
  return all;
}

// Two measurements of the same case.
std::string time_rows(const SpeedReport& mine, const SpeedReport& reference,
                      const Terminal& terminal) {
  const std::string title = mine.where.empty() ? "one timed call" : "a call, " + mine.where;
  std::string text = table_row(title + ", " + mine.device, time_text(mine.seconds),
                               time_text(reference.seconds), terminal);
  const SpeedRatio* left = best_ratio(mine);
  const SpeedRatio* right = best_ratio(reference);
  if (left != nullptr && right != nullptr && left->name == right->name) {
    char mine_text[24], reference_text[24];
    std::snprintf(mine_text, sizeof mine_text, "%.3g", left->ratio);
    std::snprintf(reference_text, sizeof reference_text, "%.3g", right->ratio);
    text += table_row("ratio to " + left->name, mine_text, reference_text, terminal);
  }
  return text;
}

// "" where one of them has no time.
std::string time_table(const Result& mine, const Result& reference, const Terminal& terminal) {
  const std::vector<const SpeedReport*> left = speeds_of(mine);
  const std::vector<const SpeedReport*> right = speeds_of(reference);
  std::string text;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    text += time_rows(*left[i], *right[i], terminal);
  }
  return text;
}

// On the GPU where one is used, else as modelled by the runs that counted.
std::string times(App& app, const course::Exercise& exercise, const Result& mine,
                  const Result& reference) {
  if (!exercise.speed) return "";
  if (app.devices(exercise).back() != Device::kGpu)
    return time_table(mine, reference, app.terminal());
  return time_table(run_one(app, exercise, Program::kLearner, Device::kGpu, kSpeedTests),
                    run_one(app, exercise, Program::kSolution, Device::kGpu, kSpeedTests),
                    app.terminal());
}

}  // namespace

int compare_command(App& app) {
  const course::Exercise* exercise = app.options().operands.empty()
                                         ? app.course().find(app.progress().current)
                                         : &app.named(app.options().operands.front());
  if (exercise == nullptr) throw UsageError("compare needs a name: ./grade compare EX");
  if (!app.progress().is_passed(exercise->id)) {
    complain(exercise->id + " is not passed yet, and the reference would spoil it. ./grade run " +
             exercise->name + " grades it.");
    return kFail;
  }
  Grading grading;
  grading.results = {run_one(app, *exercise, Program::kLearner)};
  if (!grading.passed()) {  // edited since
    print(grading_text(grading, app.terminal()));
    return grading.exit_status();
  }
  const Result reference = run_one(app, *exercise, Program::kSolution);
  if (!reference.passed()) {
    print(verdict_text(reference, app.terminal()));
    return kUsage;
  }
  const CounterMap mine = total_counters(grading.results.front());
  const CounterMap theirs = total_counters(reference);
  if (app.options().json) {
    print(JsonOut()
              .number("format", 1)
              .text("kind", "compare")
              .text("exercise", exercise->id)
              .text("why", why(mine, theirs))
              .raw("learner", counters_json(mine))
              .raw("reference", counters_json(theirs))
              .str() +
          "\n");
    return kPass;
  }
  const Terminal& terminal = app.terminal();
  const std::string changes = diff_text(source_diff(app, *exercise), terminal);
  const bool counted = !mine.empty() || !theirs.empty();  // in Python nothing is
  print(terminal.paint(Style::kBold, exercise->id) + "  - yours  + reference\n" +
        (changes.empty() ? "  the same text, word for word\n" : changes) + "\n" +
        (counted ? counter_table(mine, theirs, terminal) : "") +
        times(app, *exercise, grading.results.front(), reference) +
        (counted ? wrap(why(mine, theirs), "  ", terminal.columns) : ""));
  return kPass;
}

}  // namespace grade

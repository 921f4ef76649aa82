// grade check-all: grades everything that is not passed.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/verdict.h"
#include "cli/views.h"
#include "course/text.h"

namespace grade {
namespace {

struct Tally {
  int passed = 0, failed = 0, other = 0;
  std::vector<std::string> verdicts;  // JSON
};

std::string why(const Grading& grading) {
  const Result& last = grading.results.back();
  switch (last.outcome) {
    case Outcome::kPassed:
      return "";
    case Outcome::kDoesNotCompile:
      return "does not compile";
    case Outcome::kCannotBuild:
      return "cannot be built: ./grade doctor";
    default:
      break;
  }
  const TestReport* test = last.first_failed();
  return test != nullptr ? test->short_name() : last.early_end;
}

void count(const Grading& grading, Tally* tally) {
  switch (grading.exit_status()) {
    case kPass:
      ++tally->passed;
      break;
    case kFail:
      ++tally->failed;
      break;
    default:
      ++tally->other;
  }
}

std::string line(App& app, const course::Exercise& exercise, const Grading& grading) {
  const Terminal& terminal = app.terminal();
  const bool passed = grading.passed();
  std::string text =
      passed ? terminal.paint(Style::kGood, "PASS") : terminal.paint(Style::kBad, "FAIL");
  constexpr size_t kName = 36, kBefore = 6;
  const std::string reason = why(grading);
  if (kBefore + kName + 2 + width_of(reason) <= static_cast<size_t>(terminal.columns)) {
    return text + "  " + pad(exercise.id, reason.empty() ? 0 : kName + 2) + reason + "\n";
  }
  return text + "  " + exercise.id + "\n" + wrap(reason, "        ", terminal.columns);
}

}  // namespace

int check_all(App& app, const GradingHooks& hooks) {
  Tally tally;
  const bool json = app.options().json;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (!app.options().solution && app.progress().is_passed(exercise.id)) continue;
    const std::string missing = missing_here(exercise);
    if (!missing.empty()) {
      if (!json) print("SKIP  " + pad(exercise.id, 36) + "  " + missing + "\n");
      continue;
    }
    if (hooks.on_progress) hooks.on_progress(exercise.id);
    const Grading grading = grade_exercise(app, exercise, hooks);
    clear_progress(app);
    if (grading.cancelled()) return grading.exit_status();
    count(grading, &tally);
    if (json) {
      tally.verdicts.push_back(
          course::trim(verdict_json(grading.results, grading.todo, grading.next)));
    } else {
      print(line(app, exercise, grading));
    }
  }
  if (json) {
    print(JsonOut()
              .number("format", 1)
              .text("kind", "check-all")
              .raw("verdicts", json_array(tally.verdicts))
              .str() +
          "\n");
  } else if (tally.passed + tally.failed + tally.other == 0) {
    print("Nothing is pending: all exercises are passed.\n");
  } else {
    print(std::to_string(tally.passed) + " passed, " + std::to_string(tally.failed) + " failed" +
          (tally.other > 0 ? ", " + std::to_string(tally.other) + " without a verdict" : "") +
          "\n");
  }
  return tally.other > 0 ? kUsage : tally.failed > 0 ? kFail : kPass;
}

int check_all_command(App& app) { return check_all(app, default_hooks(app)); }

}  // namespace grade

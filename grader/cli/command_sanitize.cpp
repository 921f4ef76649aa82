// grade sanitize [EX]: every finding of the checks, in full.
#include <algorithm>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/python_program.h"
#include "cli/verdict.h"
#include "course/text.h"

namespace grade {
namespace {

struct Listed {
  const TestReport* test;
  const Finding* finding;
};

std::vector<Listed> once_each(const Result& result) {
  std::vector<Listed> listed;
  for (const TestReport& test : result.tests) {
    for (const Finding& finding : test.findings) {
      const bool known = std::any_of(listed.begin(), listed.end(), [&](const Listed& other) {
        return other.finding->kind == finding.kind && other.finding->line == finding.line &&
               other.finding->file == finding.file &&
               other.finding->other_line == finding.other_line &&
               other.finding->expected == finding.expected;
      });
      if (!known) listed.push_back({&test, &finding});
    }
  }
  return listed;
}

// Of the first finding that is a failure.
std::string first_kind(const std::vector<Listed>& listed) {
  for (const Listed& entry : listed) {
    if (!entry.finding->is_note && !entry.finding->expected) return entry.finding->kind;
  }
  return "";
}

std::string sanitize_text(const Result& result, const Terminal& terminal) {
  std::string text = terminal.paint(Style::kBold, result.id) + "  all checks of the simulator\n";
  const std::vector<Listed> listed = once_each(result);
  size_t defects = 0;
  for (const Listed& entry : listed) {
    text += finding_text(*entry.finding, terminal);
    const std::string where = entry.finding->where.empty() ? "" : ", " + entry.finding->where;
    text += "        seen in " + entry.test->short_name() + where + "\n";
    if (!entry.finding->is_note && !entry.finding->expected) ++defects;
  }
  if (defects == 0) {
    text += "  " + terminal.paint(Style::kGood, "CLEAN") +
            " no access out of bounds, no unwritten value read, no race, no\n"
            "        barrier that some threads miss\n";
  } else {
    text += course::plural(defects, "finding") + ". The first often causes the rest.\n";
    text += "./grade explain " + first_kind(listed) + " says what it means and how to mend it.\n";
  }
  if (!result.early_end.empty()) text += wrap(result.early_message, "  ", terminal.columns);
  return text;
}

}  // namespace

int sanitize_command(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) throw UsageError("all exercises are passed: name the one to check.");
  if (runs_without_simulator(*exercise)) {
    throw UsageError(exercise->id + " runs no kernel of CUDA C++; the checks are the simulator's.");
  }
  if (exercise->gpu_only) {
    throw UsageError(exercise->id + " runs on a GPU only; the checks are the simulator's.");
  }
  const GradingHooks hooks = default_hooks(app);
  RunRequest request;
  request.exercise = exercise;
  request.program = app.options().solution ? Program::kSolution : Program::kLearner;
  request.watched = hooks.watched;
  request.interrupted = hooks.interrupted;
  request.on_progress = hooks.on_progress;
  const Result result = build_and_run(app.paths(), request);
  clear_progress(app);
  const bool ran = result.passed() || result.outcome == Outcome::kFailed;
  Grading grading;
  grading.results = {result};
  if (app.options().json) {
    print(verdict_json(grading.results, 0, ""));
  } else {
    print(ran ? sanitize_text(result, app.terminal()) : grading_text(grading, app.terminal()));
  }
  if (!ran) return grading.exit_status();
  const std::vector<Listed> listed = once_each(result);
  const bool clean = std::all_of(listed.begin(), listed.end(), [](const Listed& entry) {
    return entry.finding->is_note || entry.finding->expected;
  });
  return clean && result.early_end.empty() ? kPass : kFail;
}

}  // namespace grade

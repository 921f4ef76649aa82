// grade hint [EX]: one step further at each call, for the TODO of the failing test.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/json_out.h"
#include "cli/views.h"

namespace grade {
namespace {

using Steps = std::vector<std::vector<std::string>>;

Steps read_hints(App& app, const course::Exercise& exercise) {
  const auto file = course::files_of(app.paths().root, exercise).hints;
  return course::parse_hints(course::read_text(file), file.string(), exercise.todos);
}

// The step to show now, counted from 1, and saved.
size_t advance(App& app, const course::Exercise& exercise, int todo, size_t steps) {
  int& shown = app.progress().hints[{exercise.id, todo}];
  if (static_cast<size_t>(shown) < steps) ++shown;
  const size_t step = static_cast<size_t>(shown);
  app.save_progress();
  return step;
}

// 0 after a pass; nullopt when it had to be graded first and that was interrupted or impossible.
std::optional<int> failing_todo(App& app, const course::Exercise& exercise, int* status) {
  if (const std::optional<int> known = remembered_todo(app, exercise)) return *known;
  const Grading grading = grade_exercise(app, exercise, default_hooks(app));
  clear_progress(app);
  if (!grading.cancelled() && grading.results.back().outcome != Outcome::kCannotBuild) {
    return grading.todo;
  }
  print(grading_text(grading, app.terminal()));
  *status = grading.exit_status();
  return std::nullopt;
}

}  // namespace

std::string hint_text(App& app, const course::Exercise& exercise, int todo,
                      const std::string& again) {
  const Terminal& terminal = app.terminal();
  if (todo == 0) {
    return exercise.id + " passes: there is nothing to hint at.\n";
  }
  const Steps hints = read_hints(app, exercise);
  const size_t which = std::min(static_cast<size_t>(todo), hints.size());
  if (which == 0) return exercise.id + " has no hints: its header says all there is to know.\n";
  const std::vector<std::string>& steps = hints[which - 1];
  const bool was_last = app.progress().hints[{exercise.id, static_cast<int>(which)}] >=
                        static_cast<int>(steps.size());
  const size_t step = advance(app, exercise, static_cast<int>(which), steps.size());
  std::string text =
      terminal.paint(Style::kBold, exercise.id + ", TODO " + std::to_string(which)) + "\n";
  for (size_t i = 0; i < step && i < steps.size(); ++i) {
    const std::string head =
        "  " + std::to_string(i + 1) + "/" + std::to_string(steps.size()) + "  ";
    text += wrap(steps[i], head, terminal.columns);
  }
  if (was_last) {
    text +=
        "These are all steps. ./grade solution " + exercise.name + " --spoil ends the riddle.\n";
  } else if (step < steps.size()) {
    text += again + " again goes one step further.\n";
  }
  return text;
}

int hint_command(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print("All exercises are passed: there is nothing to hint at.\n");
    return kPass;
  }
  int status = kPass;
  const std::optional<int> todo = failing_todo(app, *exercise, &status);
  if (!todo) return status;
  print(hint_text(app, *exercise, *todo, "./grade hint"));
  return kPass;
}

}  // namespace grade

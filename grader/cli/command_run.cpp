// grade run [EX], and grade without a command where nobody watches.
#include <unistd.h>

#include "cli/app.h"
#include "cli/chapter_end.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/problem_lines.h"
#include "cli/process/interrupt.h"
#include "cli/verdict.h"
#include "course/text.h"

namespace grade {
namespace {

int all_passed(App& app) {
  if (app.options().json) {
    print(verdict_json({}, 0, "./grade list"));
  } else {
    print(course_end_text(app));
  }
  return kPass;
}

std::string places(App& app, const course::Exercise& exercise, const Grading& grading) {
  const auto file = course::files_of(app.paths().root, exercise).starter;
  const std::string name = file.lexically_relative(app.paths().root).string();
  std::string text;
  for (const Result& result : grading.results) {
    text += problem_lines(result, name, course::read_text(file));
  }
  return text;
}

int run_once(App& app) {
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) return all_passed(app);
  if (!app.options().solution && !app.options().jail) app.choose(*exercise);
  const Grading grading = grade_exercise(app, *exercise, default_hooks(app));
  clear_progress(app);
  if (app.options().json) {
    print(verdict_json(grading.results, grading.todo, grading.next,
                       grading_text(grading, Terminal(), {app.options().output, ""})));
  } else if (app.options().problems) {
    print(places(app, *exercise, grading));
  } else {
    print(grading_text(grading, app.terminal(), {app.options().output, ""}) +
          (ends_chapter(app, *exercise, grading)
               ? "\n" + chapter_end_text(app, chapter_of(app, *exercise))
               : ""));
  }
  return grading.exit_status();
}

}  // namespace

int run_command(App& app) { return run_once(app); }

int open_course(App& app) {
  const bool can_watch =
      app.terminal().is_terminal && ::isatty(STDIN_FILENO) == 1 && !app.options().json;
  return can_watch ? watch_command(app) : run_once(app);
}

}  // namespace grade

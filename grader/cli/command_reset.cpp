// grade reset EX: the starter again, made from the solution.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/kept.h"
#include "cli/views.h"
#include "course/starter.h"

namespace grade {

std::string reset_exercise(App& app, const course::Exercise& exercise) {
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  const std::string starter =
      course::starter_text(course::read_text(files.solution), files.solution.string());
  std::string kept;
  if (std::filesystem::exists(files.starter)) {
    if (course::read_text(files.starter) == starter) {
      return "chapters/" + exercise.id + exercise.extension() + " is the starter already.\n";
    }
    kept = keep_copy(app.paths(), files.starter).string();
  }
  course::write_text(files.starter, starter);
  std::string text = "chapters/" + exercise.id + exercise.extension() + " is the starter again.\n";
  if (!kept.empty()) {
    text += "Your version is kept as " + kept + ";\n./grade restore " + exercise.name +
            " brings it back.\n";
  }
  return text;
}

int reset_command(App& app) {
  if (app.options().operands.empty()) {
    throw UsageError("reset needs to know what to reset: ./grade reset EX");
  }
  const course::Exercise& exercise = app.named(app.options().operands.front());
  const std::string file = "chapters/" + exercise.id + exercise.extension();
  if (!app.options().yes && !confirm("Replace " + file + " by the starter?")) {
    print("Nothing was changed.\n");
    return kFail;
  }
  print(reset_exercise(app, exercise));
  return kPass;
}

}  // namespace grade

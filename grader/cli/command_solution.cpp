// grade solution EX: where the solution is.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/json_out.h"

namespace grade {

int solution_command(App& app) {
  if (app.options().operands.empty()) {
    throw UsageError("solution needs a name: ./grade solution EX");
  }
  const course::Exercise& exercise = app.named(app.options().operands.front());
  if (!app.progress().is_passed(exercise.id) && !app.options().spoil) {
    complain(exercise.id + " is not passed yet. ./grade hint " + exercise.name +
             " goes one step further; ./grade solution " + exercise.name +
             " --spoil shows it all the same.");
    return kFail;
  }
  const std::string path = course::files_of(app.paths().root, exercise).solution.string();
  if (app.options().json) {
    print(JsonOut().number("format", 1).text("kind", "solution").text("path", path).str() + "\n");
  } else {
    print(path + "\n");
  }
  return kPass;
}

}  // namespace grade

// Grading one exercise on every device that counts, with what follows from it for the progress.
#ifndef WARPLINGS_CLI_GRADING_H_
#define WARPLINGS_CLI_GRADING_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/exercise_run.h"
#include "cli/verdict.h"

namespace grade {

struct Grading {
  std::vector<Result> results;  // one per device, in the order of App::devices()
  int todo = 0;                 // whose hint helps; 0 after a pass
  std::string next;             // the command to try, "" if there is none
  std::string next_why;
  std::string also;      // another command worth trying
  std::string left_out;  // why it was not run on the GPU that is here; ""
  bool first_pass = false;
  bool not_timed = false;  // passed, but its speed counts on a GPU only, which has not run it

  bool passed() const;
  bool cancelled() const;
  int exit_status() const;
};

// Called while a grading runs.
struct GradingHooks {
  std::vector<int> watched;
  std::function<bool()> interrupted;
  std::function<void(const std::string&)> on_progress;
};

// Ends children at Ctrl-C and shows what takes long on a terminal (a line that erases itself) or on
// stderr.
GradingHooks default_hooks(App& app);
// Erases the line of default_hooks.
void clear_progress(App& app);

// Grades with the learner's options (--device, --solution). Marks and saves a pass, remembers the
// TODO for `hint`.
Grading grade_exercise(App& app, const course::Exercise& exercise, const GradingHooks& hooks);

// What a pass does not say: "SKIP" and "note" lines.
std::string what_was_left_out(const Grading& grading, const Terminal& terminal);
// The whole screen of a grading, "next" line included.
std::string grading_text(const Grading& grading, const Terminal& terminal,
                         const Extent& extent = {});

// TODO of the last grading, if the learner's file has not changed since.
std::optional<int> remembered_todo(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_GRADING_H_

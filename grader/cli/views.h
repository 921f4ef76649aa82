// Screens that a command and watch mode both show.
#ifndef WARPLINGS_CLI_VIEWS_H_
#define WARPLINGS_CLI_VIEWS_H_

#include <string>

#include "cli/app.h"
#include "cli/grading.h"

namespace grade {

std::string list_text(App& app);

// One more hint for `todo` (0: everything passes), and saves that it was shown. `again` is what
// shows the next one: "./grade hint", or a key.
std::string hint_text(App& app, const course::Exercise& exercise, int todo,
                      const std::string& again);

// Grades what is not passed, a line for each. Returns the exit status of grade check-all.
int check_all(App& app, const GradingHooks& hooks);

// Writes the starter over the learner's file. The old one is kept; returns where.
std::string reset_exercise(App& app, const course::Exercise& exercise);

// Keeps a copy of a learner's file under build/kept and returns its path. Throws course::Error.
std::filesystem::path keep_copy(const Paths& paths, const std::filesystem::path& file);

}  // namespace grade
#endif  // WARPLINGS_CLI_VIEWS_H_

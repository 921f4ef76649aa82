// Screens that a command and watch mode both show.
#ifndef WARPLINGS_CLI_VIEWS_H_
#define WARPLINGS_CLI_VIEWS_H_

#include <string>

#include "cli/app.h"

namespace grade {

std::string list_text(App& app);

// One more hint for `todo` (0: everything passes), and saves that it was shown.
std::string hint_text(App& app, const course::Exercise& exercise, int todo);

// Writes the starter over the learner's file. The old one is kept; returns where.
std::string reset_exercise(App& app, const course::Exercise& exercise);

// Keeps a copy of a learner's file under build/kept and returns its path. Throws course::Error.
std::filesystem::path keep_copy(const Paths& paths, const std::filesystem::path& file);

}  // namespace grade
#endif  // WARPLINGS_CLI_VIEWS_H_

// Screens that a command and watch mode both show.
#ifndef WARPLINGS_CLI_VIEWS_H_
#define WARPLINGS_CLI_VIEWS_H_

#include <string>

#include "cli/app.h"
#include "cli/grading.h"

namespace grade {

// Where the learner is: the exercise that was opened last, and the one that ./grade goes on with
// (the same until it is passed). nullptr: none.
struct ListPlace {
  const course::Exercise* here = nullptr;
  const course::Exercise* next = nullptr;
};
ListPlace list_place(App& app);
std::string list_row(App& app, const course::Exercise& exercise, const ListPlace& place,
                     bool marked);
std::string chapter_row(App& app, const std::string& id);
std::string list_text(App& app);

// One more hint for `todo` (0: everything passes), and saves that it was shown. `again` is what
// shows the next one: "./grade hint", or a key.
std::string hint_text(App& app, const course::Exercise& exercise, int todo,
                      const std::string& again);

// What ./grade explain says of a kind of finding. Throws course::Error.
std::string explanation_of(App& app, const std::string& kind);

// Grades what is not passed, a line for each. Returns the exit status of grade check-all.
int check_all(App& app, const GradingHooks& hooks);

// Writes the starter over the learner's file. The old one is kept; returns where.
std::string reset_exercise(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_VIEWS_H_

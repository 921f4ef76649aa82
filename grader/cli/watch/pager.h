// Long texts and the list of exercises, a screen at a time: moving, searching, choosing.
#ifndef WARPLINGS_CLI_WATCH_PAGER_H_
#define WARPLINGS_CLI_WATCH_PAGER_H_

#include <string>

#include "cli/app.h"
#include "cli/watch/console.h"

namespace grade {

// Shows `text` until a key leaves it; what fits on the screen is left by any key.
void page(Console& console, const std::string& text);

// The exercise that is chosen from the list; nullptr where the list was left.
const course::Exercise* choose_exercise(App& app, Console& console);

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_PAGER_H_

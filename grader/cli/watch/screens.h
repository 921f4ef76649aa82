// The fixed parts of what the watch loop shows.
#ifndef WARPLINGS_CLI_WATCH_SCREENS_H_
#define WARPLINGS_CLI_WATCH_SCREENS_H_

#include <string>
#include <vector>

#include "cli/app.h"

namespace grade {

// The first start: what is where.
std::string welcome_text(App& app, const course::Exercise& exercise);
// Title, bar, how many are passed.
std::string header_text(App& app);
// What to read and what to edit.
std::string files_text(App& app, const course::Exercise& exercise);
// All keys, one a line.
std::string keys_help(App& app);

// "n: next", "h: hint", ... side by side; none is broken.
std::string keys_line(const std::vector<std::string>& keys, const Terminal& terminal);

// The first `rows` lines of `text`, with a word about the rest.
std::string first_rows(const std::string& text, int rows);

// The first line and the last ones, `rows` in all; in between a word about the rest.
std::string title_and_last_rows(const std::string& text, int rows);

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_SCREENS_H_

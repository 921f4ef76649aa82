// The page of an exercise in a browser.
#ifndef WARPLINGS_CLI_WATCH_OPEN_PAGE_H_
#define WARPLINGS_CLI_WATCH_OPEN_PAGE_H_

#include <string>

#include "cli/app.h"

namespace grade {

// Opens the page of `exercise` where there is a browser, and says what was done: where the course's
// site is built, there; else on the website of the clone's remote. Without either: where the file
// is.
std::string open_page(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_OPEN_PAGE_H_

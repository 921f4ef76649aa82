// A lesson for the terminal.
#ifndef WARPLINGS_CLI_LESSON_TEXT_H_
#define WARPLINGS_CLI_LESSON_TEXT_H_

#include <string>

#include "cli/app.h"
#include "course/lesson.h"

namespace grade {

// Pages as they are read in a terminal: paragraphs wrapped, tables and code as they stand, pictures
// by path, links by their text, comments gone. `folder` is where the page lies, from the root.
std::string page_text(const std::string& markdown, const std::string& folder,
                      const Terminal& terminal);

bool has_lesson(App& app, const course::Exercise& exercise);
course::Lesson read_lesson(App& app, const course::Exercise& exercise);
// Its second part only once the exercise has passed.
std::string lesson_text(App& app, const course::Exercise& exercise);

// The lines that are shown first, in screens of `rows`.
std::vector<std::string> screens_of(const std::string& text, int rows);

}  // namespace grade
#endif  // WARPLINGS_CLI_LESSON_TEXT_H_

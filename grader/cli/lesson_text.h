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

// What is read before the exercise, from the root: its lesson, else the page of its chapter.
std::string page_of(App& app, const course::Exercise& exercise);

bool has_lesson(App& app, const course::Exercise& exercise);
course::Lesson read_lesson(App& app, const course::Exercise& exercise);
// Its second part only once the exercise has passed. Without a lesson: the page of the chapter.
std::string lesson_text(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_LESSON_TEXT_H_

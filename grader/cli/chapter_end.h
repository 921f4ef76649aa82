// The end of a chapter and of the course: what was learnt, and one's own figures from .progress.
#ifndef WARPLINGS_CLI_CHAPTER_END_H_
#define WARPLINGS_CLI_CHAPTER_END_H_

#include <string>

#include "cli/app.h"
#include "cli/grading.h"

namespace grade {

// True if this pass was the one that the chapter lacked; what is bonus, or cannot be graded on this
// machine, is not waited for.
bool ends_chapter(App& app, const course::Exercise& exercise, const Grading& grading);

std::string chapter_end_text(App& app, const course::Chapter& chapter);
std::string course_end_text(App& app);

const course::Chapter& chapter_of(App& app, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_CHAPTER_END_H_

// The answers to what lessons ask: kept beside the solutions, filled from runs.
#ifndef WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_
#define WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_

#include <string>
#include <vector>

#include "cli/gates/figures.h"
#include "cli/gates/gate.h"
#include "course/lesson.h"

namespace grade {

// Lessons of the exercises that have one.
std::vector<std::filesystem::path> lesson_pages(const GateContext& context);

// What can be said without running anything: a question without an answer or a reason, an answer
// that is none of the choices, one that nobody asks for, a chapter's lesson that asks nothing.
std::vector<std::string> answer_problems(const GateContext& context,
                                         const course::Exercise& exercise);

// Where the answer to `question` comes from. Throws course::Error: an unknown source.
Mark source_of(const course::Prediction& question, const std::string& file);

struct FilledAnswers {
  std::string text;  // of the whole file; "" where nothing is asked
  std::vector<std::string> problems;
};
// Those that need no run, or all.
FilledAnswers fill_answers(const GateContext& context, const course::Exercise& exercise,
                           Marks which);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_

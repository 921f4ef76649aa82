// The answers to what lessons ask: kept beside the solutions, filled from runs.
#ifndef WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_
#define WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_

#include <string>
#include <vector>

#include "cli/gates/gate.h"
#include "course/lesson.h"

namespace grade {

// Lessons of the exercises that have one.
std::vector<std::filesystem::path> lesson_pages(const GateContext& context);

// What can be said without running anything: a question without an answer or a reason, an answer
// that is none of the choices, one that nobody asks for, a chapter's lesson that asks nothing.
std::vector<std::string> answer_problems(const GateContext& context,
                                         const course::Exercise& exercise);

// What the source of `question` gives now. Runs programs; throws course::Error.
std::string true_answer(const GateContext& context, const course::Prediction& question,
                        const std::string& file);

struct FilledAnswers {
  std::string text;  // of the whole file; "" where nothing is asked
  std::vector<std::string> problems;
};
FilledAnswers fill_answers(const GateContext& context, const course::Exercise& exercise);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_LESSON_ANSWERS_H_

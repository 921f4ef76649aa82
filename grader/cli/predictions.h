// What a lesson asks, with what this learner predicted.
#ifndef WARPLINGS_CLI_PREDICTIONS_H_
#define WARPLINGS_CLI_PREDICTIONS_H_

#include <string>
#include <vector>

#include "cli/app.h"
#include "course/lesson.h"

namespace grade {

struct OpenQuestion {
  course::Prediction prediction;
  course::PredictionAnswer answer;
};

// What the lesson of `exercise` asks, without what has been answered already unless `again`.
std::vector<OpenQuestion> questions_of(App& app, const course::Exercise& exercise, bool again);

// The question as it is asked, choices numbered; ends with a prompt.
std::string question_text(const OpenQuestion& question, const Terminal& terminal);
// Says whether `given` was right, and why not; remembers the first answer. "" for an answer that is
// none of the choices: ask again.
std::string answer_text(App& app, const course::Exercise& exercise, const OpenQuestion& question,
                        const std::string& given);

// grade list --predictions.
std::string predictions_text(App& app);

}  // namespace grade
#endif  // WARPLINGS_CLI_PREDICTIONS_H_

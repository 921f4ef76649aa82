// chapters/NN_topic/MM_name.md: the lesson of an exercise, and what it asks.
//
//   ## After you pass            this heading and all below it is the second part: folded until the
//                                exercise has passed
//   ```predict ID                a question that ./grade predict asks
//   How many wavefronts ...?     its text, to the first line of another kind
//   - 1                          choices, two or more; none where a number is asked for
//   - 32
//   from: counter EX TEST ...    where the true answer comes from (cli/gates/answers.h)
//   within: 5 %                  how far a number may be off; without it, it must be equal
//   ```
//
// Answers are kept beside the solutions, in solutions/NN_topic/MM_name_answers.txt:
//   wavefronts = 32              written by ./grade dev sync
//   because All 32 words ...     one sentence for whom predicted something else
#ifndef WARPLINGS_COURSE_LESSON_H_
#define WARPLINGS_COURSE_LESSON_H_

#include <string>
#include <vector>

#include "course/error.h"

namespace course {

struct Prediction {
  std::string id, question;
  std::vector<std::string> choices;  // none: a number
  std::string source;                // after "from: "
  double tolerance = 0;              // relative
  int line = 0;                      // of the opening fence
};

struct Lesson {
  std::string text;   // before "## After you pass"
  std::string after;  // the rest, without its heading; "" if there is none
  std::vector<Prediction> predictions;
};

// Throws Error: an unfinished or malformed question, an id that is used twice.
Lesson parse_lesson(const std::string& page, const std::string& file);

struct PredictionAnswer {
  std::string id, value, because;
};

// Throws Error.
std::vector<PredictionAnswer> parse_answers(const std::string& text, const std::string& file);
std::string answers_text(const std::vector<PredictionAnswer>& answers);
const PredictionAnswer* find_answer(const std::vector<PredictionAnswer>& answers,
                                    const std::string& id);

// Whether `given` is `truth` as the question wants it: the same words (case and spaces aside), or a
// number that is near enough. A choice may be given by its number as well, from 1.
bool is_right(const Prediction& prediction, const std::string& given, const std::string& truth);
// Of the choices; -1 where none is meant.
int choice_meant(const Prediction& prediction, const std::string& given);

}  // namespace course
#endif  // WARPLINGS_COURSE_LESSON_H_

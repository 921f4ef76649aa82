#include "cli/predictions.h"

#include <algorithm>

#include "cli/lesson_text.h"
#include "course/text.h"

namespace grade {

std::vector<OpenQuestion> questions_of(App& app, const course::Exercise& exercise, bool again) {
  const course::Lesson lesson = read_lesson(app, exercise);
  std::vector<OpenQuestion> open;
  if (lesson.predictions.empty()) return open;
  const std::filesystem::path file = course::files_of(app.paths().root, exercise).answers;
  const auto answers = course::parse_answers(course::read_text(file), file.string());
  for (const course::Prediction& prediction : lesson.predictions) {
    if (!again && app.progress().predictions.count({exercise.id, prediction.id}) != 0) continue;
    const course::PredictionAnswer* answer = course::find_answer(answers, prediction.id);
    if (answer == nullptr) {
      throw course::Error(file.string(), 0,
                          "has no answer to \"" + prediction.id + "\"; ./grade dev sync fills it.");
    }
    open.push_back({prediction, *answer});
  }
  return open;
}

std::string question_text(const OpenQuestion& question, const Terminal& terminal) {
  std::string text = wrap(question.prediction.question, "", terminal.columns);
  int number = 0;
  for (const std::string& choice : question.prediction.choices) {
    text += wrap(choice, "  " + std::to_string(++number) + ") ", terminal.columns);
  }
  return text + "> ";
}

std::string answer_text(App& app, const course::Exercise& exercise, const OpenQuestion& question,
                        const std::string& given) {
  const course::Prediction& asked = question.prediction;
  const Terminal& terminal = app.terminal();
  std::string meant = course::trim(given);
  const size_t choices = asked.choices.size();
  if (choices > 0) {
    // On the screen the choices are numbered: what is none of them may be the number of a line.
    const bool is_line =
        meant.size() == 1 && meant[0] >= '1' && static_cast<size_t>(meant[0] - '0') <= choices;
    if (course::choice_meant(asked, meant) < 0 && is_line) {
      meant = asked.choices[static_cast<size_t>(meant[0] - '1')];
    }
    if (course::choice_meant(asked, meant) < 0) return "";
  } else if (meant.empty()) {
    return "";
  }
  const bool right = course::is_right(asked, meant, question.answer.value);
  app.progress().predictions.emplace(std::make_pair(exercise.id, asked.id), right);
  app.save_progress();
  if (right) return wrap("Right: " + question.answer.value + ".", "  ", terminal.columns);
  return wrap("It is " + question.answer.value + ". " + question.answer.because, "  ",
              terminal.columns);
}

std::string predictions_text(App& app) {
  std::string text;
  size_t right = 0, all = 0;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (!has_lesson(app, exercise)) continue;
    const course::Lesson lesson = read_lesson(app, exercise);
    all += lesson.predictions.size();
    for (const course::Prediction& prediction : lesson.predictions) {
      const auto known = app.progress().predictions.find({exercise.id, prediction.id});
      const bool asked = known != app.progress().predictions.end();
      right += asked && known->second ? 1 : 0;
      const std::string state = !asked ? "     " : known->second ? "right" : "wrong";
      text += "  " + state + "  " + pad(exercise.id, 40) + " " + prediction.id + "\n";
    }
  }
  return text + std::to_string(right) + " of " + std::to_string(all) + " predicted right\n";
}

}  // namespace grade

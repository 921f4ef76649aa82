#include "cli/gates/lesson_answers.h"

#include <algorithm>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// From here on every exercise counts something.
constexpr const char* kFirstWithQuestions = "03";

course::Lesson lesson_of(const GateContext& context, const course::Exercise& exercise) {
  const fs::path page = course::files_of(context.paths->root, exercise).lesson;
  if (!fs::exists(page)) return {};
  return course::parse_lesson(course::read_text(page), shown(context, page));
}

std::vector<course::PredictionAnswer> answers_of(const GateContext& context,
                                                 const course::Exercise& exercise) {
  const fs::path file = course::files_of(context.paths->root, exercise).answers;
  if (!fs::exists(file)) return {};
  return course::parse_answers(course::read_text(file), shown(context, file));
}

bool asks(const course::Lesson& lesson, const std::string& id) {
  return std::any_of(lesson.predictions.begin(), lesson.predictions.end(),
                     [&](const course::Prediction& p) { return p.id == id; });
}

}  // namespace

std::vector<fs::path> lesson_pages(const GateContext& context) {
  std::vector<fs::path> pages;
  for (const course::Exercise* exercise : context.exercises) {
    const fs::path page = course::files_of(context.paths->root, *exercise).lesson;
    if (fs::exists(page)) pages.push_back(page);
  }
  return pages;
}

std::vector<std::string> answer_problems(const GateContext& context,
                                         const course::Exercise& exercise) {
  const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
  std::vector<std::string> problems;
  if (!fs::exists(files.lesson)) return problems;
  const std::string page = shown(context, files.lesson), file = shown(context, files.answers);
  const course::Lesson lesson = lesson_of(context, exercise);
  const auto answers = answers_of(context, exercise);
  if (lesson.predictions.empty() && exercise.chapter >= kFirstWithQuestions) {
    problems.push_back(page + " asks for no prediction; from chapter 03 on every lesson does.");
  }
  if (lesson.after.empty()) {
    problems.push_back(page + " has no part \"## After you pass\".");
  }
  for (const course::Prediction& question : lesson.predictions) {
    const std::string where = page + ":" + std::to_string(question.line) + ": ";
    const course::PredictionAnswer* answer = course::find_answer(answers, question.id);
    if (answer == nullptr) {
      problems.push_back(where + file + " has no answer to " + question.id +
                         "; run ./grade dev sync.");
    } else if (answer->because.empty()) {
      problems.push_back(file + ": " + question.id +
                         " has no reason; write \"because SENTENCE\" below it.");
    } else if (!course::is_right(question, answer->value, answer->value)) {
      problems.push_back(where + "the answer to " + question.id + " is " + answer->value +
                         ", which is none of the choices.");
    }
  }
  for (const course::PredictionAnswer& answer : answers) {
    if (!asks(lesson, answer.id)) {
      problems.push_back(file + " answers " + answer.id + ", which " + page + " does not ask.");
    }
  }
  return problems;
}

Mark source_of(const course::Prediction& question, const std::string& file) {
  return mark_of(question.source, question.line, file);
}

FilledAnswers fill_answers(const GateContext& context, const course::Exercise& exercise,
                           Marks which) {
  FilledAnswers filled;
  const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
  try {
    const course::Lesson lesson = lesson_of(context, exercise);
    const auto known = answers_of(context, exercise);
    std::vector<course::PredictionAnswer> answers;
    for (const course::Prediction& question : lesson.predictions) {
      const course::PredictionAnswer* before = course::find_answer(known, question.id);
      const std::string page = shown(context, files.lesson);
      const Mark source = source_of(question, page);
      const bool left_out = which == Marks::kThatNeedNoRun && source.needs_a_run();
      if (left_out && before == nullptr) continue;  // gate 3 asks for it
      answers.push_back({question.id, left_out ? before->value : value_of(context, source, page),
                         before == nullptr ? "" : before->because});
    }
    if (!answers.empty()) filled.text = course::answers_text(answers);
  } catch (const course::Error& error) {
    filled.problems.push_back(error.what());
  }
  return filled;
}

}  // namespace grade

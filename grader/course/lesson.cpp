#include "course/lesson.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "course/text.h"

namespace course {
namespace {

constexpr std::string_view kAfter = "## After you pass", kFence = "```", kOpen = "```predict";

bool is_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '_';
  });
}

// "1,536", "83.3 %" and "6.5" are numbers.
std::optional<double> number_in(const std::string& text) {
  std::string digits = trim(replace_all(text, ",", ""));
  if (ends_with(digits, "%")) digits = trim(digits.substr(0, digits.size() - 1));
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string folded(const std::string& text) {
  std::string small;
  for (const unsigned char c : trim(text)) small += static_cast<char>(std::tolower(c));
  return replace_all(small, "`", "");
}

class QuestionReader {
 public:
  QuestionReader(const std::string& file, int line, const std::string& id) : file_(file) {
    question_.id = id;
    question_.line = line;
    if (!is_word(id)) fail("a question reads \"```predict ID\", its id in lower case.");
  }

  void add(const std::string& line) {
    if (starts_with(line, "from: ")) {
      question_.source = trim(line.substr(6));
    } else if (starts_with(line, "within: ")) {
      const std::string value = trim(line.substr(8));
      const auto percent = number_in(value);
      if (!percent || *percent <= 0 || *percent > 50 || !ends_with(value, "%")) {
        fail("\"within\" reads \"within: 5 %\", at most 50.");
      }
      question_.tolerance = *percent / 100;
    } else if (starts_with(line, "- ")) {
      question_.choices.push_back(trim(line.substr(2)));
    } else if (!question_.choices.empty() || !question_.source.empty()) {
      fail("this line is none of \"- CHOICE\", \"from: SOURCE\" and \"within: N %\": " + line);
    } else {
      question_.question += (question_.question.empty() ? "" : " ") + trim(line);
    }
  }

  Prediction finish() const {
    if (question_.question.empty()) fail("the question " + question_.id + " has no text.");
    if (question_.source.empty()) {
      fail("the question " + question_.id + " does not say where its answer comes from (from:).");
    }
    if (question_.choices.size() == 1) fail("one choice is none: give two or more, or no choice.");
    // "Is it right?" and "Is it noticed?" were answered the wrong way round by readers who knew.
    if (std::count(question_.choices.begin(), question_.choices.end(), "passes") > 0 &&
        question_.question.find("pass") == std::string::npos) {
      fail("the question " + question_.id +
           " offers \"passes\": it has to ask whether a test passes.");
    }
    return question_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(file_, question_.line, message);
  }

  const std::string& file_;
  Prediction question_;
};

}  // namespace

Lesson parse_lesson(const std::string& page, const std::string& file) {
  Lesson lesson;
  std::optional<QuestionReader> question;
  bool in_code = false, is_after = false;
  int number = 0;
  for (const std::string& line : split_lines(page)) {
    ++number;
    const bool fence = starts_with(line, kFence);
    if (question && fence) {
      lesson.predictions.push_back(question->finish());
      question.reset();
    } else if (question) {
      question->add(line);
    } else if (!in_code && starts_with(line, kOpen)) {
      question.emplace(file, number, trim(line.substr(kOpen.size())));
    }
    if (fence) in_code = !in_code;
    if (!in_code && trim(line) == kAfter) {
      if (is_after) throw Error(file, number, "there are two parts for after the pass.");
      is_after = true;
    } else {
      (is_after ? lesson.after : lesson.text) += line + "\n";
    }
  }
  if (in_code) throw Error(file, number, "the last fenced block is not closed.");
  for (size_t i = 0; i < lesson.predictions.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (lesson.predictions[i].id != lesson.predictions[k].id) continue;
      throw Error(file, lesson.predictions[i].line,
                  "the question " + lesson.predictions[i].id + " is asked twice.");
    }
  }
  return lesson;
}

std::vector<PredictionAnswer> parse_answers(const std::string& text, const std::string& file) {
  std::vector<PredictionAnswer> answers;
  int number = 0;
  for (const std::string& line : split_lines(text)) {
    ++number;
    if (trim(line).empty() || line[0] == '#') continue;
    const size_t equals = line.find(" = ");
    if (starts_with(line, "because ") && !answers.empty() && answers.back().because.empty()) {
      answers.back().because = trim(line.substr(8));
    } else if (equals != std::string::npos && is_word(line.substr(0, equals))) {
      if (find_answer(answers, line.substr(0, equals)) != nullptr) {
        throw Error(file, number, "there are two answers to " + line.substr(0, equals) + ".");
      }
      answers.push_back({line.substr(0, equals), trim(line.substr(equals + 3)), ""});
    } else {
      throw Error(file, number, "a line reads \"ID = ANSWER\", and \"because SENTENCE\" below it.");
    }
  }
  return answers;
}

std::string answers_text(const std::vector<PredictionAnswer>& answers) {
  std::string text =
      "# What ./grade predict compares with. Values come from runs (./grade dev sync).\n";
  for (const PredictionAnswer& answer : answers) {
    text += "\n" + answer.id + " = " + answer.value + "\n";
    if (!answer.because.empty()) text += "because " + answer.because + "\n";
  }
  return text;
}

const PredictionAnswer* find_answer(const std::vector<PredictionAnswer>& answers,
                                    const std::string& id) {
  for (const PredictionAnswer& answer : answers) {
    if (answer.id == id) return &answer;
  }
  return nullptr;
}

int choice_meant(const Prediction& prediction, const std::string& given) {
  for (size_t i = 0; i < prediction.choices.size(); ++i) {
    if (folded(prediction.choices[i]) == folded(given)) return static_cast<int>(i);
  }
  const auto number = number_in(given);
  if (!number) return -1;
  for (size_t i = 0; i < prediction.choices.size(); ++i) {
    if (number_in(prediction.choices[i]) == number) return static_cast<int>(i);
  }
  // "2" is the second choice only where no choice is itself a number.
  const bool numbers = std::any_of(prediction.choices.begin(), prediction.choices.end(),
                                   [](const std::string& c) { return number_in(c).has_value(); });
  const double most = static_cast<double>(prediction.choices.size());
  const bool counts = !numbers && *number >= 1 && *number <= most && *number == std::floor(*number);
  return counts ? static_cast<int>(*number) - 1 : -1;
}

bool is_right(const Prediction& prediction, const std::string& given, const std::string& truth) {
  if (!prediction.choices.empty()) {
    const int meant = choice_meant(prediction, given);
    return meant >= 0 && meant == choice_meant(prediction, truth);
  }
  const auto a = number_in(given), b = number_in(truth);
  if (!a || !b) return folded(given) == folded(truth);
  return std::abs(*a - *b) <= prediction.tolerance * std::abs(*b) + 1e-9;
}

}  // namespace course

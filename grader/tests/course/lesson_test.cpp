#include "course/lesson.h"

#include <gtest/gtest.h>

namespace course {
namespace {

constexpr const char* kPage =
    "# 01 First\n\nText.\n\n```predict turns\nHow many\nturns?\n- 1\n- 4\n"
    "from: counter 01_a/01_b S.T \"\" turns\n```\n\n```predict share\nWhich share, in per cent?\n"
    "from: counter 01_a/01_b S.T \"\" a / b\nwithin: 5 %\n```\n\n## After you pass\n\nMore.\n";

std::string error_of_page(const std::string& page) {
  try {
    parse_lesson(page, "p.md");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Lesson, HasTwoPartsAndItsQuestions) {
  const Lesson lesson = parse_lesson(kPage, "p.md");
  EXPECT_NE(lesson.text.find("Text."), std::string::npos);
  EXPECT_EQ(lesson.text.find("More."), std::string::npos);
  EXPECT_EQ(lesson.after, "\nMore.\n");
  ASSERT_EQ(lesson.predictions.size(), 2u);
  EXPECT_EQ(lesson.predictions[0].question, "How many turns?");
  EXPECT_EQ(lesson.predictions[0].choices, (std::vector<std::string>{"1", "4"}));
  EXPECT_EQ(lesson.predictions[0].source, "counter 01_a/01_b S.T \"\" turns");
  EXPECT_EQ(lesson.predictions[0].line, 5);
  EXPECT_DOUBLE_EQ(lesson.predictions[1].tolerance, 0.05);
}

TEST(Lesson, AQuestionThatIsNotWholeIsAnError) {
  const std::string begin = "```predict a\nWhat?\n", end = "```\n";
  EXPECT_NE(error_of_page(begin + end).find("does not say where its answer comes from"),
            std::string::npos);
  EXPECT_NE(error_of_page(begin + "- 1\nfrom: x\n" + end).find("one choice is none"),
            std::string::npos);
  EXPECT_NE(error_of_page("```predict A b\nfrom: x\n" + end).find("in lower case"),
            std::string::npos);
  EXPECT_NE(
      error_of_page(begin + "from: x\n" + end + begin + "from: x\n" + end).find("asked twice"),
      std::string::npos);
  EXPECT_NE(error_of_page(begin + "from: x\nwithin: 80 %\n" + end).find("at most 50"),
            std::string::npos);
  EXPECT_NE(
      error_of_page(begin + "- passes\n- fails\nfrom: x\n" + end).find("whether a test passes"),
      std::string::npos);
  EXPECT_NE(error_of_page(begin + "from: x\n").find("not closed"), std::string::npos);
}

TEST(Lesson, AHeadingInCodeIsNoHeading) {
  EXPECT_EQ(parse_lesson("```\n## After you pass\n```\n", "p.md").after, "");
}

TEST(Answers, AreReadAsTheyAreWritten) {
  const std::vector<PredictionAnswer> answers = {{"turns", "4", "All four meet."},
                                                 {"share", "12.5", ""}};
  const auto again = parse_answers(answers_text(answers), "a.txt");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].because, "All four meet.");
  EXPECT_EQ(find_answer(again, "share")->value, "12.5");
  EXPECT_EQ(find_answer(again, "other"), nullptr);
  EXPECT_THROW(parse_answers("a = 1\n\na = 2\n", "a.txt"), Error);
  EXPECT_THROW(parse_answers("because of what\n", "a.txt"), Error);
}

TEST(Answers, AreComparedAsNumbersWordsAndChoices) {
  const Lesson lesson = parse_lesson(kPage, "p.md");
  const Prediction& turns = lesson.predictions[0];
  EXPECT_TRUE(is_right(turns, "4", "4"));
  EXPECT_TRUE(is_right(turns, "4.0", "4"));
  EXPECT_FALSE(is_right(turns, "1", "4"));
  EXPECT_FALSE(is_right(turns, "2", "4")) << "choices that are numbers have no numbers";
  const Prediction& share = lesson.predictions[1];
  EXPECT_TRUE(is_right(share, "12.5 %", "12.5"));
  EXPECT_TRUE(is_right(share, "13", "12.5"));
  EXPECT_FALSE(is_right(share, "14", "12.5"));
  EXPECT_FALSE(is_right(share, "nan", "12.5"));
  EXPECT_FALSE(is_right(share, "", "12.5"));
  Prediction words;
  words.choices = {"Racecheck", "none"};
  EXPECT_TRUE(is_right(words, "racecheck ", "racecheck"));
  EXPECT_TRUE(is_right(words, "2", "none"));
  EXPECT_FALSE(is_right(words, "3", "none"));
}

}  // namespace
}  // namespace course

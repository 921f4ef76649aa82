// Lessons in a course: the gates that keep them, dev sync that fills their answers, dev renumber.
#include <gtest/gtest.h>

#include "miniature_course.h"

namespace grade {
namespace {

constexpr char kLesson[] = "chapters/02_vector_add/01_vector_add.md";
constexpr char kAnswers[] = "solutions/02_vector_add/01_vector_add_answers.txt";
constexpr char kText[] = "# 01 Vector add\n\nText.\n\n## After you pass\n\nMore.\n";

class Lessons : public testing::Test {
 protected:
  // The page of the miniature course shows a region, as no page of a chapter with lessons may.
  void SetUp() override {
    course_.write("chapters/02_vector_add/README.md",
                  "# One\n\nSee [the exercise](01_vector_add.cu).\n");
    course_.add_to_git();
  }
  Answer files() { return course_.grade({"dev", "check", "--files-only"}); }
  static bool has(const Answer& answer, const std::string& words) {
    return answer.text.find(words) != std::string::npos;
  }

  MiniatureCourse course_;
};

TEST_F(Lessons, AreOptionalUntilTheirChapterSaysSo) {
  EXPECT_EQ(files().status, 0) << files().text;
  course_.write(kLesson, kText);
  EXPECT_EQ(files().status, 0) << files().text;
  course_.remove(kLesson);
  const std::string manifest = course_.read("chapters/course.json");
  const size_t chapter = manifest.find("\"id\": \"02_vector_add\"");
  ASSERT_NE(chapter, std::string::npos);
  course_.write("chapters/course.json",
                manifest.substr(0, chapter) + "\"lessons\": true, " + manifest.substr(chapter));
  const Answer answer = files();
  EXPECT_EQ(answer.status, 1);
  EXPECT_TRUE(has(answer, std::string(kLesson) + " is missing")) << answer.text;
  // From then on no page may give an answer away.
  course_.write(kLesson, kText);
  EXPECT_EQ(files().status, 0) << files().text;
  course_.write(kLesson, std::string(kText) +
                             "\n<!-- not run: it shows the gate -->\n```cuda\n"
                             "const int at = blockIdx.x * blockDim.x + threadIdx.x;\n"
                             "if (at < count) {\n  z[at] = x[at] + y[at];\n}\n```\n");
  const Answer given = files();
  EXPECT_EQ(given.status, 1);
  EXPECT_TRUE(has(given, "01_vector_add.md:10 holds ")) << given.text;
  EXPECT_TRUE(has(given, "02_vector_add/01_vector_add, TODO 1; at most 50.")) << given.text;
}

TEST_F(Lessons, HaveTheNumberOfTheirExerciseInTheirTitle) {
  const std::string words = std::string(kLesson) +
                            ":1: a lesson's title begins with the number of its exercise, \"# 01\"";
  for (const char* title : {"# 02 Vector add", "# 011", "01 Vector add", "# Vector add"}) {
    course_.write(kLesson, title + std::string("\n\nText.\n\n## After you pass\n\nMore.\n"));
    const Answer answer = files();
    EXPECT_EQ(answer.status, 1) << title;
    EXPECT_TRUE(has(answer, "FAIL  gate 3 (") && has(answer, words)) << title << answer.text;
  }
  course_.write(kLesson, kText);
  EXPECT_EQ(files().status, 0) << files().text;
}

TEST_F(Lessons, SyncFillsAnswersAndTheGatesKeepThem) {
  course_.write(kLesson,
                "# 01\n\n```predict passes\nDoes the solution pass?\n- passes\n- fails\n"
                "from: result 02_vector_add/01_vector_add\n```\n\n## After you pass\n\nMore.\n");
  EXPECT_TRUE(has(files(), "has no answer to passes")) << files().text;
  const Answer synced = course_.grade({"dev", "sync", "01_vector_add"});
  EXPECT_EQ(synced.status, 0) << synced.text;
  EXPECT_NE(course_.read(kAnswers).find("passes = passes\n"), std::string::npos);
  EXPECT_TRUE(has(files(), "passes has no reason")) << files().text;
  course_.write(kAnswers, course_.read(kAnswers) + "because It is the solution.\n");
  EXPECT_EQ(files().status, 0) << files().text;
  // A second run keeps the reason.
  course_.grade({"dev", "sync", "01_vector_add"});
  EXPECT_NE(course_.read(kAnswers).find("because It is the solution."), std::string::npos);
  course_.edit(kAnswers, "passes = passes", "passes = fails");
  const Answer answer = course_.grade({"dev", "check"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_TRUE(has(answer, "the answer to passes is passes now")) << answer.text;
}

TEST_F(Lessons, AnswersThatNeedNoRunAreKeptWithTheFiles) {
  constexpr char kRun[] = "assets/benchmarks/run.json";
  const std::string row =
      "{\"runs\": [{\"exercise\": \"02_vector_add/01_vector_add\", "
      "\"speeds\": [{\"ratios\": [{\"name\": \"CUB\", \"ratio\": ";
  course_.write(kRun, row + "0.5}]}]}]}\n");
  course_.write(kLesson,
                "# 01\n\n```predict speed\nHow fast?\n- 0.50\n- 0.75\n"
                "from: ratio run.json 02_vector_add/01_vector_add CUB\n```\n\n"
                "## After you pass\n\nMore.\n");
  const Answer synced = course_.grade({"dev", "sync", "--no-figures"});
  EXPECT_EQ(synced.status, 0) << synced.text;
  course_.write(kAnswers, course_.read(kAnswers) + "because It is half as fast.\n");
  EXPECT_EQ(files().status, 0) << files().text;
  course_.write(kRun, row + "0.75}]}]}]}\n");
  EXPECT_TRUE(has(files(), "the answer to speed is 0.75 now")) << files().text;
  course_.grade({"dev", "sync", "--no-figures"});
  EXPECT_EQ(files().status, 0) << files().text;
}

TEST_F(Lessons, OfANewExerciseAreThereWhereItsChapterHasThem) {
  course_.write(kLesson, kText);
  course_.edit("chapters/course.json", "\"id\": \"02_vector_add\", ",
               "\"id\": \"02_vector_add\", \"lessons\": true, ");
  ASSERT_EQ(course_.grade({"dev", "new", "02_vector_add/02_scale_twice"}).status, 0);
  EXPECT_NE(course_.read("chapters/02_vector_add/02_scale_twice.md").find("@mutant_3 ScaleTwice."),
            std::string::npos);
  course_.grade({"dev", "sync", "--no-figures"});
  course_.add_to_git();
  EXPECT_EQ(files().status, 0) << files().text;
}

TEST_F(Lessons, RenumberTakesFilesPagesAndProgressAlong) {
  course_.write(
      kLesson,
      "# 01\n\n02/01, 2002/01 and 02_vector_add/01_vector_add.cu.\n\n## After you pass\n\nMore.\n");
  course_.write(".progress",
                "passed 02_vector_add/01_vector_add 2026-11-21T07:00:00Z\n"
                "hint 02_vector_add/01_vector_add 1 2\n");
  course_.write("grader/tests/independent/02_vector_add/01_vector_add/1.cu", "// 02/01\n");
  course_.write("chapters/02_vector_add/01_vector_add_support.h",
                "// Given.\n#ifndef CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_SUPPORT_H_\n"
                "#define CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_SUPPORT_H_\n\n"
                "#endif  // CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_SUPPORT_H_\n");
  const Answer answer = course_.grade(
      {"dev", "renumber", "02_vector_add/01_vector_add", "02_vector_add/07_vector_add"});
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_EQ(
      course_.read("chapters/02_vector_add/07_vector_add.md"),
      "# 07\n\n02/07, 2002/01 and 02_vector_add/07_vector_add.cu.\n\n## After you pass\n\nMore.\n");
  EXPECT_EQ(course_.read(".progress"),
            "passed 02_vector_add/07_vector_add 2026-11-21T07:00:00Z\n"
            "hint 02_vector_add/07_vector_add 1 2\n");
  EXPECT_NE(course_.read("chapters/02_vector_add/07_vector_add.h")
                .find("CHAPTERS_02_VECTOR_ADD_07_VECTOR_ADD_H_"),
            std::string::npos);
  EXPECT_NE(course_.read("chapters/course.json").find("02_vector_add/07_vector_add"),
            std::string::npos);
  EXPECT_EQ(course_.read("grader/tests/independent/02_vector_add/07_vector_add/1.cu"),
            "// 02/07\n");
  course_.grade({"dev", "sync", "--no-figures"});
  course_.add_to_git();
  EXPECT_EQ(files().status, 0) << files().text;
  EXPECT_EQ(
      course_
          .grade({"dev", "renumber", "02_vector_add/01_vector_add", "02_vector_add/08_vector_add"})
          .status,
      2);
}

}  // namespace
}  // namespace grade

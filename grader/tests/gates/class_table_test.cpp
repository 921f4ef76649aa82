// The table exercise x class: what a cell says, and what is kept of planted answers.
#include "cli/gates/class_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

class ClassTable : public testing::Test {
 protected:
  ClassTable() : root_(fs::temp_directory_path() / ("classes." + std::to_string(::getpid()))) {
    fs::create_directories(PlantedAnswers::file(root_).parent_path());
    course_.root = root_;
    for (const char* name : {"01_plain", "02_python", "03_gpu", "04_exempt"}) {
      course::Exercise exercise;
      exercise.chapter = "01_a";
      exercise.name = name;
      exercise.id = exercise.chapter + "/" + exercise.name;
      course_.exercises.push_back(exercise);
    }
    course_.exercises[1].kind = course::Kind::kPython;
    course_.exercises[2].gpu_only = true;
    course_.exercises[3].not_asked = {{"second_call", "", "It adds to a counter."},
                                      {"left_behind", "Plan.IsKept", "The test keeps the plan."}};
  }
  ~ClassTable() override { fs::remove_all(root_); }

  fs::path root_;
  course::Course course_;
};

TEST_F(ClassTable, SaysHowFarAnExerciseIsAsked) {
  PlantedAnswers planted;
  const course::AnswerClass& second_call = course::answer_classes().front();
  const auto cell = [&](size_t i) {
    return class_cell(course_, course_.exercises[i], second_call, planted);
  };
  EXPECT_EQ(cell(0), "asked");
  EXPECT_EQ(cell(1), "Python");
  EXPECT_EQ(cell(2), "GPU");
  EXPECT_EQ(cell(3), "no");
  planted.replace("01_a/01_plain", "second_call", {"works_once"});
  EXPECT_EQ(cell(0), "shown");
}

TEST_F(ClassTable, AsksWhereTheQuestionArises) {
  const course::Exercise& exercise = course_.exercises[0];
  const course::ExerciseFiles files = course::files_of(root_, exercise);
  fs::create_directories(files.header.parent_path());
  PlantedAnswers planted;
  const auto cell = [&](const std::string& key) {
    for (const course::AnswerClass& one : course::answer_classes()) {
      if (one.key == key) return class_cell(course_, exercise, one, planted);
    }
    return std::string("no such class");
  };
  course::write_text(files.header, "void launch_twice(const float* d_x, float* d_y, int n);\n");
  EXPECT_EQ(cell("statuses"), "");
  course::write_text(files.header,
                     "cudaError_t launch_twice(const float* d_x, float* d_y, int n);\n");
  EXPECT_EQ(cell("statuses"), "asked");
  EXPECT_EQ(cell("large_extents"), "") << "only a planted answer shows that a test asks";
  planted.replace(exercise.id, "large_extents", {"ends_at_65535"});
  EXPECT_EQ(cell("large_extents"), "shown");
}

TEST_F(ClassTable, GivesEveryReasonWithItsPlaces) {
  const std::string table = class_table(course_);
  EXPECT_NE(table.find("- *called again*, 01/04: It adds to a counter.\n"), std::string::npos)
      << table;
  EXPECT_NE(table.find("- *left behind*, 01/04 in `Plan.IsKept`: The test keeps the plan.\n"),
            std::string::npos)
      << table;
}

TEST_F(ClassTable, KeepsPlantedAnswersInTheOrderOfTheCourse) {
  PlantedAnswers planted;
  planted.replace("01_a/04_exempt", "left_behind", {"leaves_memory"});
  planted.replace("01_a/01_plain", "second_call", {"works_once", "repeats_the_last_answer"});
  const std::string text = planted.text(course_);
  course::write_text(PlantedAnswers::file(root_), text);
  EXPECT_EQ(PlantedAnswers::read(course_).text(course_), text);
  EXPECT_LT(text.find("01_a/01_plain second_call repeats_the_last_answer\n"),
            text.find("01_a/04_exempt left_behind leaves_memory\n"));
}

TEST_F(ClassTable, RefusesALineThatNamesNothing) {
  course::write_text(PlantedAnswers::file(root_), "01_a/09_gone second_call works_once\n");
  EXPECT_THROW(PlantedAnswers::read(course_), course::Error);
  course::write_text(PlantedAnswers::file(root_), "01_a/01_plain third_call works_once\n");
  EXPECT_THROW(PlantedAnswers::read(course_), course::Error);
}

}  // namespace
}  // namespace grade

// grade bench, and the times of grade compare: from the speed events of a program to what is shown.
#include <gtest/gtest.h>

#include "course/json.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kTimed = "01_begin/02_second";

class Bench : public testing::Test {
 protected:
  Bench() {
    course_.save(file_with("0.002 3.5 2 one block"), kTimed);
    write_file(course_.root() / "solutions" / (std::string(kTimed) + ".cu"),
               file_with("0.0015 4.5 2 one block"));
  }

  static std::string file_with(const std::string& speed) {
    return "//! test Scratch.IsFast 1\n//! speed " + speed + "\n";
  }

  Ran grade(const std::vector<std::string>& arguments) {
    const Ran ran = course_.grade(arguments);
    EXPECT_LE(widest(ran.out), 80u) << ran.out;
    return ran;
  }

  ScratchCourse course_;
};

TEST_F(Bench, ShowsYoursBesideWhatItIsComparedWithAndDrawsIt) {
  const Ran ran = grade({"bench", "second"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "IsFast, modelled (H200), 1/33 of the card")) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "reference")) << ran.out;
  EXPECT_TRUE(has(ran.out, "yours")) << ran.out;
  EXPECT_TRUE(has(ran.out, "one block")) << ran.out;
  EXPECT_TRUE(has(ran.out, "2 ms")) << ran.out;
  EXPECT_TRUE(has(ran.out, "6.75 ms")) << ran.out;  // 4.5 times the solution's
  const std::string picture =
      read_file(course_.root() / "build/bench/01_begin/02_second.IsFast.svg");
  EXPECT_TRUE(has(picture, "<svg")) << picture;
  EXPECT_TRUE(has(picture, "one block")) << picture;
}

TEST_F(Bench, ShowsEveryCaseOfATest) {
  const std::string small = "//! case cols = 32\n//! measured 0.002 3.5 2 one block\n";
  const std::string large = "//! case cols = 64\n//! measured 0.008 2.5 2 one block\n";
  course_.save("//! test Scratch.IsFast 1\n" + small + large, kTimed);
  write_file(course_.root() / "solutions" / (std::string(kTimed) + ".cu"),
             "//! test Scratch.IsFast 1\n" + small + large);
  const Ran ran = grade({"bench", "second"});
  for (const char* words : {"IsFast, cols = 32, Test Card", "cols = 64", "2 ms", "8 ms",
                            "second.IsFast.cols32.svg", "second.IsFast.cols64.svg"}) {
    EXPECT_TRUE(has(ran.out, words)) << words << " in\n" << ran.out << ran.err;
  }
  EXPECT_TRUE(has(grade({"run", "second"}).out, "cols = 64, 2.50 times the speed of one block"));
  const std::string compared = grade({"compare", "second"}).out;
  EXPECT_TRUE(has(compared, "a call, cols = 64, Test Card")) << compared;
  EXPECT_EQ(course::parse_json(course_.grade({"bench", "second", "--json"}).out, "out")
                .find("measurements")
                ->items.size(),
            2u);
}

TEST_F(Bench, AsJsonIsVersionedAndComplete) {
  const Ran ran = course_.grade({"bench", "second", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  const course::Json json = course::parse_json(ran.out, "out");
  EXPECT_EQ(json.number_or("format"), 1);
  EXPECT_EQ(json.string_or("kind"), "bench");
  EXPECT_TRUE(json.bool_or("complete"));
  ASSERT_EQ(json.find("measurements")->items.size(), 1u);
  EXPECT_EQ(json.find("measurements")->items[0].string_or("exercise"), kTimed);
}

TEST_F(Bench, WithoutANameMeasuresOnlyWhatHasASpeed) {
  const Ran all = grade({"bench"});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_TRUE(has(all.out, "02_second")) << all.out;
  EXPECT_FALSE(has(all.out, "01_first")) << all.out;
  const Ran none = grade({"bench", "first"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(has(none.err, "has no speed to measure")) << none.err;
}

TEST_F(Bench, SaysThatYoursGaveNoTime) {
  course_.save("//! test Scratch.IsFast 1\n//! crash\n", kTimed);
  const Ran ran = grade({"bench", "second"});
  EXPECT_TRUE(has(ran.err, "gave no time")) << ran.err;
}

TEST_F(Bench, SaysWhereOnlyAGpuIsTimed) {
  course_.save("//! test Scratch.IsFast 1\n", kTimed);
  write_file(course_.root() / "solutions" / (std::string(kTimed) + ".cu"),
             "//! test Scratch.IsFast 1\n");
  const Ran ran = grade({"bench", "second"});
  EXPECT_TRUE(has(ran.err, "is timed on a GPU only")) << ran.err;
  const Ran run = grade({"run", "second"});
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(has(run.out, "Its speed was not timed")) << run.out;
  course_.save(file_with("0.002 3.5 2 one block"), kTimed);
  EXPECT_FALSE(has(grade({"run", "second"}).out, "not timed"));
}

TEST_F(Bench, ASlowOneFailsWithItsBar) {
  course_.save(file_with("0.002 1.2 2 one block"), kTimed);
  const Ran ran = grade({"run", "second"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.out, "Right, but too slow.")) << ran.out;
}

TEST_F(Bench, CompareShowsBothTimes) {
  EXPECT_EQ(grade({"run", "second"}).status, 0);
  const Ran ran = grade({"compare", "second"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "2 ms")) << ran.out;
  EXPECT_TRUE(has(ran.out, "1.5 ms")) << ran.out;
}

TEST_F(Bench, TheBestTimeOnACardIsKept) {
  for (const char* speed : {"0.002 3.5", "0.001 7", "0.004 2"}) {
    course_.save("//! test Scratch.IsFast 1\n//! measured " + std::string(speed) + " 2 one block\n",
                 kTimed);
    EXPECT_EQ(grade({"run", "second"}).status, 0);
  }
  EXPECT_TRUE(has(course_.progress(), "best 01_begin/02_second 0.001 Test Card"))
      << course_.progress();
}

TEST_F(Bench, AModelledTimeIsNoRecord) {
  EXPECT_EQ(grade({"run", "second"}).status, 0);
  EXPECT_FALSE(has(course_.progress(), "best ")) << course_.progress();
}

}  // namespace
}  // namespace grade::test

// grade read, grade predict and their keys in watch mode.
#include <gtest/gtest.h>

#include "pty_session.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kLesson =
    "# 01 Doors\n\nA warp has **32** lanes, and [a page](x.md) says `why`.\nThe same "
    "paragraph goes on for long enough that a terminal of eighty columns has to wrap it.\n\n"
    "![Doors](../../assets/doors.svg)\n\n<!-- run -->\n\n```console\n$ ls\n```\n\n"
    "| lane | door |\n| --- | --- |\n| 0 | 5 |\n\n"
    "```predict turns\nHow many turns?\n- one\n- four\nfrom: counter 01_begin/01_first S.T \"\" k\n"
    "```\n\n```predict share\nWhich share?\nfrom: counter 01_begin/01_first S.T \"\" k\n"
    "within: 5 %\n```\n\n## After you pass\n\nThe secret.\n";

class LessonTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(course_.root() / "chapters/01_begin/01_first.md", kLesson);
    write_file(course_.root() / "solutions/01_begin/01_first_answers.txt",
               "turns = four\nbecause Four doors are one.\n\nshare = 12.5\nbecause An eighth.\n");
  }
  Ran predict(const std::string& input) const {
    ChildOptions options;
    options.argv = {"/bin/sh", "-c", "printf '" + input + "' | " GRADE_PROGRAM " predict first"};
    options.environment = course_.environment();
    options.directory = course_.root().string();
    options.own_seconds = 30;
    const ChildResult result = run_child(options);
    return {result.status, result.out.text(), result.err.text(), 0};
  }

  ScratchCourse course_;
};

TEST_F(LessonTest, IsReadWrappedAndWithoutMarks) {
  const Ran ran = course_.grade({"read", "first"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "A warp has 32 lanes, and a page says `why`. The same")) << ran.out;
  EXPECT_TRUE(has(ran.out, "picture: Doors: assets/doors.svg")) << ran.out;
  EXPECT_TRUE(has(ran.out, "    $ ls\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "    lane  door\n    0     5\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "How many turns?")) << ran.out;
  EXPECT_FALSE(has(ran.out, "counter")) << ran.out;
  EXPECT_FALSE(has(ran.out, "run -->")) << ran.out;
  EXPECT_LE(widest(ran.out), 80u);
}

TEST_F(LessonTest, FoldsItsSecondPartUntilThePass) {
  EXPECT_FALSE(has(course_.grade({"read", "first"}).out, "The secret."));
  course_.save("//! test Scratch.Adds 1\n");
  EXPECT_EQ(course_.grade({"run", "first"}).status, 0);
  EXPECT_TRUE(has(course_.grade({"read", "first"}).out, "The secret."));
}

TEST_F(LessonTest, IsNamedByAVerdictThatFails) {
  course_.save("//! test Scratch.Adds 1\n//! fail c[7] is 3, expected 4.\n");
  EXPECT_TRUE(has(course_.grade({"run", "first"}).out, "./grade read")) << "has a lesson";
  course_.save("//! test Scratch.Adds 1\n//! fail c[7] is 3, expected 4.\n", "01_begin/02_second");
  const Ran other = course_.grade({"run", "second"});
  EXPECT_FALSE(has(other.out, "./grade read")) << other.out;
  const Ran none = course_.grade({"read", "second"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(has(none.err, "chapters/01_begin/README.md")) << none.err;
}

TEST_F(LessonTest, PredictionsAreCheckedAndTheFirstIsKept) {
  const Ran wrong = predict("1\\n12.6\\n");
  EXPECT_EQ(wrong.status, 0) << wrong.err;
  EXPECT_TRUE(has(wrong.out, "It is four. Four doors are one.")) << wrong.out;
  EXPECT_TRUE(has(wrong.out, "Right: 12.5.")) << wrong.out;
  const Ran again = predict("four\\n12.5\\n");
  EXPECT_TRUE(has(again.out, "All are answered")) << again.out;
  EXPECT_TRUE(has(again.out, "Right: four.")) << again.out;
  EXPECT_TRUE(has(course_.progress(), "predict 01_begin/01_first turns wrong\n"));
  EXPECT_TRUE(has(course_.progress(), "predict 01_begin/01_first share right\n"));
  const Ran list = course_.grade({"list", "--predictions"});
  EXPECT_TRUE(has(list.out, "1 of 2 predicted right\n")) << list.out;
}

TEST_F(LessonTest, WhatIsNoAnswerIsAskedAgainAndTheEndIsAnEnd) {
  const Ran ran = predict("seven\\n2\\n");
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "That is none of the answers.")) << ran.out;
  EXPECT_TRUE(has(ran.out, "Right: four.")) << ran.out;
  EXPECT_FALSE(has(course_.progress(), "share")) << course_.progress();
}

TEST_F(LessonTest, HasKeysInWatchMode) {
  write_file(course_.root() / ".progress", "# begun\n");  // no welcome
  PtySession session(course_, std::vector<std::string>{}, 24, 80);
  ASSERT_TRUE(session.wait_for("r: read  p: predict")) << session.screen().text();
  session.type("r");
  ASSERT_TRUE(session.wait_for("A warp has 32 lanes")) << session.screen().text();
  session.type("q");
  ASSERT_TRUE(session.wait_for("r: read  p: predict")) << session.screen().text();
  session.type("p");
  ASSERT_TRUE(session.wait_for("How many turns?")) << session.screen().text();
  session.type("2\n");
  ASSERT_TRUE(session.wait_for("Right: four.")) << session.screen().text();
  session.type(" ");
  ASSERT_TRUE(session.wait_for("Which share?")) << session.screen().text();
  session.type(
      "1\x7f"
      "99\n");
  ASSERT_TRUE(session.wait_for("It is 12.5. An eighth.")) << session.screen().text();
  session.type(" ");
  ASSERT_TRUE(session.wait_for("r: read  p: predict")) << session.screen().text();
  session.type("q");
  EXPECT_EQ(session.wait_for_end(), 0);
}

}  // namespace
}  // namespace grade::test

// What commands show, and what they keep: nothing is swallowed, nothing is lost.
#include <gtest/gtest.h>

#include "cli/exercise_run.h"
#include "cli/printed.h"
#include "cli/terminal.h"
#include "cli/todo_place.h"
#include "cli/verdict.h"
#include "course/json.h"
#include "course/starter.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kPrints =
    "//! test Scratch.Adds 1\n//! print one\n//! print two\n//! print three\n//! print four\n"
    "//! print five\n//! fail c[0] is 1.\n//! test Scratch.Other 1\n//! print other\n";

TEST(Printed, IsShownBesideTheFailureThatItBelongsTo) {
  const ScratchCourse course;
  course.save(kPrints);
  const Ran ran = course.grade({"run"});
  EXPECT_TRUE(has(ran.out, "It printed 5 lines")) << ran.out;
  EXPECT_TRUE(has(ran.out, "./grade run 01_first --output")) << ran.out;
  EXPECT_FALSE(has(ran.out, "          one\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "          five\n")) << ran.out;
  EXPECT_FALSE(has(ran.out, "          other\n")) << ran.out;
  EXPECT_LE(widest(ran.out), 80u) << ran.out;
  const Ran whole = course.grade({"run", "--output"});
  EXPECT_TRUE(has(whole.out, "          one\n")) << whole.out;
  EXPECT_TRUE(has(whole.out, "        Other printed:\n          other\n")) << whole.out;
}

TEST(Printed, IsShownAfterAPassToo) {
  const ScratchCourse course;
  course.save("//! test Scratch.Adds 1\n//! print sum = 3\n");
  const Ran ran = course.grade({"run"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_TRUE(has(ran.out, "        It printed:\n          sum = 3\n")) << ran.out;
}

TEST(Printed, IsInTheJsonTestByTest) {
  const ScratchCourse course;
  course.save(kPrints);
  const course::Json json = course::parse_json(course.grade({"run", "--json"}).out, "out");
  const course::Json& device = json.find("devices")->items.at(0);
  EXPECT_EQ(device.string_or("output"), "one\ntwo\nthree\nfour\nfive\nother\n");
  EXPECT_EQ(device.find("tests")->items.at(1).string_or("output"), "other\n");
}

TEST(Printed, AGapBelongsToNoTest) {
  Capture stream;
  stream.head = "early\n\x1eS.A\nfirst\n";
  stream.tail = "late\n\x1eS.B\nsecond\n";
  stream.total = stream.head.size() + stream.tail.size();
  auto pieces = printed_by_test(stream);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[1].text, "first\nlate\n");
  stream.total += 100;
  pieces = printed_by_test(stream);
  ASSERT_EQ(pieces.size(), 4u);
  EXPECT_EQ(pieces[1].text, "first\n");
  EXPECT_EQ(pieces[2].test, "");
  EXPECT_EQ(pieces[2].text, "\n... 100 bytes not shown ...\nlate\n");
  EXPECT_EQ(pieces[3].test, "S.B");
}

TEST(LongMessages, NameWhatShowsTheRest) {
  std::string message = "line 1";
  for (int line = 2; line <= 20; ++line) message += "\\nline " + std::to_string(line);
  const ScratchCourse course;
  course.save("//! test Scratch.Adds 1\n//! fail " + message + "\n");
  const Ran ran = course.grade({"run"});
  EXPECT_TRUE(has(ran.out, "... and 11 lines more: ./grade run 01_first --output")) << ran.out;
  EXPECT_TRUE(has(course.grade({"run", "--output"}).out, "        line 20\n"));
}

// A test that ended with findings before, and one in which a loop ran until it was stopped.
Result with_an_endless_loop() {
  Result result;
  result.outcome = Outcome::kFailed;
  for (const char* name : {"S.First", "S.Second"}) {
    TestReport& test = result.tests.emplace_back();
    test.name = name;
    test.started = test.finished = true;
    test.findings.emplace_back().message = "Thread 0 reads what nobody wrote.";
    test.failures.push_back({"", 0, "Thread 0 reads what nobody wrote."});
  }
  return result;
}

TEST(EndlessLoops, AreToldBeforeWhatWasFoundMeanwhile) {
  Result result = with_an_endless_loop();
  result.tests[1].failures.push_back({"", 0, "Still running after 20 s, and stopped."});
  EXPECT_EQ(result.first_failed()->name, "S.First");
  result.early_end = "time limit";
  result.early_test = "S.Second";
  EXPECT_EQ(result.first_failed()->name, "S.Second");
  const std::string text = verdict_text(result, Terminal());
  EXPECT_TRUE(has(text, "FAIL  Second\n        Still running after 20 s")) << text;
}

TEST(EndlessLoops, OfAKernelAreToldFirstToo) {
  Result result = with_an_endless_loop();
  Finding& loop = result.tests[1].findings.emplace_back();
  loop.kind = "endless-loop";
  loop.message = "k executes without end.";
  result.tests[1].failures.push_back({"", 0, "n = 4: k executes without end."});
  const std::string text = verdict_text(result, Terminal());
  EXPECT_TRUE(has(text, "FAIL  Second, n = 4\n        k executes without end.")) << text;
  EXPECT_EQ(explain_command_for(result), "./grade explain endless-loop");
}

TEST(CompileErrors, NameTheTodoThatTheirLineIsIn) {
  const ScratchCourse course;
  course.save(
      "// 01/01 A scratch exercise.\n//! test Scratch.Adds 1\n//! print one\n"
      "//! test Scratch.CoversTheTail 2\nsyntax error\n");
  const Ran ran = course.grade({"run"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.out, "(TODO 2)")) << ran.out;
  EXPECT_TRUE(has(course.grade({"hint"}).out, "Where to look 2."));
  course.save(
      "// 01/01 A scratch exercise.\n//! test Scratch.Adds 1\nsyntax error\n"
      "//! test Scratch.CoversTheTail 2\n//! print two\n");
  EXPECT_TRUE(has(course.grade({"run"}).out, "(TODO 1"));
}

TEST(CompileErrors, InAGivenLineBelongToTheTodoAbove) {
  const course::MarkedSource source = course::parse_marked(
      "a\n//~begin 1\none\n//~end\nb\nc\n//~begin 2\ntwo\n//~end\nd\n", "x.cu");
  const std::string learner = "a\nmine\nb\nc\nalso\nmine\nd\n";
  const int expected[] = {0, 1, 1, 1, 2, 2, 2};
  for (int line = 1; line <= 7; ++line) {
    EXPECT_EQ(todo_at_line(source, learner, line), expected[line - 1]) << line;
  }
  EXPECT_EQ(todo_at_line(source, learner, 99), 0);
}

TEST(Findings, BelongToTheTodoOnlyWhereTheLearnerWroteTheLine) {
  const course::MarkedSource source = course::parse_marked(
      "a\n//~begin 1\none\n//~end\nb\nc\n//~begin 2\ntwo\n//~end\nd\n", "x.cu");
  const std::string learner = "a\nmine\nb\nc\nalso\nmine\nd\n";
  const int expected[] = {0, 1, 0, 0, 2, 2, 0};
  for (int line = 1; line <= 7; ++line) {
    EXPECT_EQ(todo_written_at(source, learner, line), expected[line - 1]) << line;
  }
  EXPECT_EQ(todo_written_at(source, learner, 99), 0);
}

// The scratch exercise's findings lie in line 9, which is TODO 2 here; the test is about TODO 1.
TEST(Findings, NameTheTodoThatTheirLineIsIn) {
  const ScratchCourse course;
  const std::string begin = "// 01/01 A scratch exercise.\n//! test Scratch.Adds 1\n";
  const std::string tail = "//! test Scratch.CoversTheTail 2\n";
  const std::string finding = "//! finding memcheck out-of-bounds-global-read Reads a[9].\n";
  course.save(begin + finding + tail +
              "//! print 1\n//! print 2\n//! print 3\n//! print 4\n//! print 5\n");
  const Ran ran = course.grade({"run"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.out, "Reads a[9].")) << ran.out;
  EXPECT_TRUE(has(ran.out, "(TODO 2)")) << ran.out;
}

TEST(Compare, ShowsCodeWholeInAPipe) {
  const ScratchCourse course;
  const std::string line = "//! print " + std::string(150, 'x') + " the end";
  course.save("//! test Scratch.Adds 1\n//! counters 4\n" + line +
              "\n//! test Scratch.CoversTheTail 2\n");
  ASSERT_EQ(course.grade({"run"}).status, 0);
  const Ran ran = course.grade({"compare", "first"});
  EXPECT_TRUE(has(ran.out, "  - " + line + "\n")) << ran.out;
}

TEST(Pieces, OfALineAreAsWideAsTheTerminal) {
  EXPECT_EQ(pieces_of("abcdefgh", "  ", 4), (std::vector<std::string>{"abcd", "  ef", "  gh"}));
  EXPECT_EQ(pieces_of("abcdefgh", "  ", 0), (std::vector<std::string>{"abcdefgh"}));
  EXPECT_EQ(pieces_of("\u00e4\u00f6\u00fc", "", 2),
            (std::vector<std::string>{"\u00e4\u00f6", "\u00fc"}));
  EXPECT_EQ(cut("abcdefgh", 6), "abc...");
  EXPECT_EQ(cut("abcdefgh", 0), "abcdefgh");
}

TEST(Restore, ListsCopiesAndBringsOneBack) {
  const ScratchCourse course;
  EXPECT_TRUE(has(course.grade({"restore"}).out, "nothing has replaced one yet"));
  course.save("// mine 1\n");
  ASSERT_EQ(course.grade({"reset", "first", "--yes"}).status, 0);
  course.save("// mine 2\n");
  ASSERT_EQ(course.grade({"reset", "first", "--yes"}).status, 0);
  const Ran list = course.grade({"restore"});
  EXPECT_TRUE(has(list.out, ".kept/01_begin/01_first.1.cu")) << list.out;
  EXPECT_LT(list.out.find("01_first.2.cu"), list.out.find("01_first.1.cu")) << "newest first";
  const Ran newest = course.grade({"restore", "first"});
  EXPECT_EQ(newest.status, 0) << newest.err;
  EXPECT_EQ(read_file(course.learner_file()), "// mine 2\n");
  EXPECT_FALSE(has(newest.out, "is kept as")) << "the starter can be had again: " << newest.out;
  course.save("// mine 3\n");
  const Ran older = course.grade({"restore", "first", "1"});
  EXPECT_EQ(read_file(course.learner_file()), "// mine 1\n");
  EXPECT_TRUE(has(older.out, "What was there is kept as .kept/01_begin/01_first.3.cu"))
      << older.out;
  EXPECT_EQ(read_file(course.root() / ".kept/01_begin/01_first.3.cu"), "// mine 3\n");
  const Ran wrong = course.grade({"restore", "first", "9"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(has(wrong.err, "copies 1 to 3 are kept")) << wrong.err;
  EXPECT_EQ(course.grade({"restore", "second"}).status, 2);
}

TEST(Restore, WhatIsKeptOutlivesClean) {
  const ScratchCourse course;
  course.save("// mine\n");
  ASSERT_EQ(course.grade({"reset", "first", "--yes"}).status, 0);
  ASSERT_EQ(course.grade({"clean", "build", "--yes"}).status, 0);
  ASSERT_EQ(course.grade({"restore", "first"}).status, 0);
  EXPECT_EQ(read_file(course.learner_file()), "// mine\n");
}

TEST(EndOfAChapter, IsToldByRunToo) {
  const ScratchCourse course;
  write_file(course.root() / ".progress", "passed 01_begin/01_first 2026-11-23T04:00:00Z\n");
  course.save("//! test Scratch.Adds 1\n", "01_begin/02_second");
  const Ran ran = course.grade({"run", "second"});
  EXPECT_TRUE(has(ran.out, "Chapter 01 is done: The beginning")) << ran.out;
  EXPECT_LE(widest(ran.out), 80u) << ran.out;
  EXPECT_FALSE(has(course.grade({"run", "second"}).out, "is done")) << "once";
}

}  // namespace
}  // namespace grade::test

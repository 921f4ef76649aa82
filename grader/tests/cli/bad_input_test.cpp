// Every way in which a learner's program can misbehave, through the real `grade`: its own message,
// the exit status, the time, and `.progress` intact.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <vector>

#include "cli/process/child.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kProgress =
    "current 01_begin/01_first\npassed 01_begin/02_second 2026-11-21T07:00:00Z\n";

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    write_file(course_.root() / ".progress", kProgress);
    course_.set("GRADE_TIME_LIMIT", "2");
  }

  // Grades a file whose test does `steps`; checks what holds for every bad input.
  Ran grade_file(const std::string& text) {
    course_.save(text);
    const Ran ran = course_.grade({"run", "first"});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("FAIL"), std::string::npos) << ran.out;
    EXPECT_LE(widest(ran.out), 80u) << ran.out;
    EXPECT_EQ(ran.out.find('\x1b'), std::string::npos) << "colours into a pipe";
    // Six seconds of its own while the test is at work, and four times as long where others want
    // the processor as well.
    EXPECT_LT(ran.seconds, 30);
    EXPECT_EQ(course_.progress(), kProgress);
    return ran;
  }

  Ran grade_steps(const std::string& steps) {
    return grade_file("//! test Scratch.Adds 1\n" + steps + "\n//! test Scratch.Other 2\n");
  }

  static void expect_says(const Ran& ran, const std::string& words) {
    // The screen wraps; the words must be there all the same.
    std::string flat;
    for (const char c : ran.out) {
      if (c == '\n') {
        flat += ' ';
      } else if (c != ' ' || flat.empty() || flat.back() != ' ') {
        flat += c;
      }
    }
    EXPECT_NE(flat.find(words), std::string::npos) << words << "\n--- in\n" << ran.out;
  }

  ScratchCourse course_;
};

TEST_F(BadInput, AProgramOfTheOtherMachineGetsNoVerdict) {
  course_.save("//! linked-for-gpu\n//! test Scratch.Adds 1\n");
  const Ran ran = course_.grade({"run", "first"});
  EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
  expect_says(ran, "was linked for the GPU. Remove that folder and try again.");
  EXPECT_EQ(course_.progress(), kProgress);
}

TEST_F(BadInput, FileThatDoesNotCompileShowsItsFirstErrorOnly) {
  const Ran ran = grade_file("// line 1\nsyntax error here\n");
  expect_says(ran, "It does not compile. 01_first.cu:2: expected a \";\"");
  // The other file's error came from a header: it follows, without build-tool noise.
  EXPECT_LT(ran.out.find("01_first.cu:2"), ran.out.find("other.h:3")) << ran.out;
  for (const char* noise : {"ninja", "FAILED", "errors detected", "../compile", "[1/1]"}) {
    EXPECT_EQ(ran.out.find(noise), std::string::npos) << noise << " in\n" << ran.out;
  }
}

TEST_F(BadInput, EndlessLoopIsStoppedAtTheTimeLimit) {
  const Ran ran = grade_steps("//! hang");
  expect_says(ran, "Still running after 2 s, and stopped. Nothing was heard of it for so long");
  expect_says(ran, "It computes all the time.");
}

TEST_F(BadInput, AWaitThatNeverEndsIsNoLoop) {
  const Ran ran = grade_steps("//! wait");
  expect_says(ran,
              "Nothing was heard of it for so long. It does not compute: it waits for what never "
              "comes");
}

// Ten others want the same processor: a tenth of the time of the clock is its own.
TEST_F(BadInput, ABusyMachineGivesItLonger) {
  const Ran ran = grade_steps("//! crowded-hang");
  expect_says(ran, "by the clock; the machine is busy, and waiting for a processor does not count");
  EXPECT_GT(ran.seconds, 4);
}

// Nor is a whole run stopped for what others do: half a second of work among five who want the same
// processor.
TEST(ChildProcess, ABusyMachineGivesAWholeRunLonger) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  std::vector<pid_t> others(5);
  for (pid_t& other : others) {
    other = ::fork();
    volatile unsigned turns = 0;
    while (other == 0) turns = turns + 1;
  }
  ChildOptions options;
  options.argv = {"python3", "-c", "import time\nwhile time.process_time() < 0.5: pass"};
  options.own_seconds = 1.25;
  const auto start = std::chrono::steady_clock::now();
  const ChildResult result = run_child(options);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const pid_t other : others) {
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_TRUE(result.ok()) << "stopped after " << took.count() << " s";
  EXPECT_GT(took.count(), options.own_seconds);
}

TEST_F(BadInput, ASlowTestIsNoEndlessLoop) {
  const Ran ran = grade_steps("//! at_work measuring the pinned copy\n//! hang");
  expect_says(ran,
              "The test itself was busy, measuring the pinned copy: nothing says that your code "
              "is at fault.");
  const Ran later = grade_steps("//! at_work measuring the pinned copy\n//! counters 1\n//! hang");
  expect_says(later, "Nothing was heard of it for so long");
}

TEST_F(BadInput, SegmentationFaultIsNamed) {
  expect_says(grade_steps("//! crash"), "The program crashed: segmentation fault.");
}

TEST_F(BadInput, EndlessRecursionIsNamed) {
  const Ran ran = grade_steps("//! recurse");
  expect_says(ran, "segmentation fault.");
  expect_says(ran, "Endless recursion ends so too.");
}

TEST_F(BadInput, AbortIsNamed) {
  expect_says(grade_steps("//! abort"), "The program crashed: abort.");
}

TEST_F(BadInput, UncaughtExceptionIsNamedWithItsText) {
  const Ran ran = grade_steps("//! throw");
  expect_says(ran, "an exception that nobody caught");
  expect_says(ran, "thrown by the learner");
}

TEST_F(BadInput, ExitZeroInATestIsNoPass) {
  expect_says(grade_steps("//! exit 0"), "The program ended here, before its tests had");
}

TEST_F(BadInput, ExitZeroBeforeTheFirstTestIsNoPass) {
  expect_says(grade_file("//! silent-exit\n//! test Scratch.Adds 1\n"),
              "The program ended outside its tests, with exit status 0");
}

TEST_F(BadInput, ProgramWithoutTestsIsNoPass) { grade_file("// nothing\n"); }

TEST_F(BadInput, ForgedResultsOnStandardOutputAreNotRead) {
  const Ran ran = grade_steps(
      "//! print [  PASSED  ] 2 tests.\n"
      "//! print {\"event\":\"test_end\",\"test\":\"Scratch.Adds\",\"passed\":true}\n"
      "//! print {\"nonce\":\"n0\",\"event\":\"done\",\"passed\":2,\"failed\":0}\n"
      "//! exit 0");
  expect_says(ran, "The program ended here");
}

TEST_F(BadInput, GigabytesOfOutputAreCutAndStopped) {
  expect_says(grade_steps("//! spam"), "the program printed more than 64 MB");
}

TEST_F(BadInput, TooMuchMemoryIsStopped) {
  course_.set("GRADE_MEMORY_LIMIT_MB", "200");
  expect_says(grade_steps("//! allocate"), "MB of memory.");
}

TEST_F(BadInput, ChildrenLeftBehindDoNotHoldTheVerdict) {
  const Ran ran = grade_steps("//! fork\n//! fail c[0] is 0.");
  expect_says(ran, "c[0] is 0.");
  EXPECT_LT(ran.seconds, 1.9) << "waited for a grandchild";
}

TEST_F(BadInput, EscapeSequencesOfTheLearnerDoNotReachTheTerminal) {
  const Ran ran = grade_steps("//! print \x1b[2J\x1b]0;title\x07\n//! abort");
  expect_says(ran, "It printed:");
}

TEST_F(BadInput, TestsAfterACrashStillCount) {
  const Ran ran = grade_file(
      "//! test Scratch.Adds 1\n//! crash\n//! test Scratch.Other 2\n//! fail other\n"
      "//! test Scratch.Good 1\n");
  expect_says(ran, "and 1 more failing test");
}

TEST_F(BadInput, FirstFailureNamesTheCaseAndTheHint) {
  const Ran ran = grade_file(
      "//! test Scratch.Adds 1\n//! test Scratch.CoversTheTail 2\n"
      "//! fail n = 1025: c[1024] was never written (expected -0.731).\\nThe launch has 4 "
      "blocks.\n");
  expect_says(ran, "FAIL CoversTheTail, n = 1025 c[1024] was never written (expected -0.731).");
  expect_says(ran, "next ./grade hint (TODO 2)");
}

// What is wrong may well be why it takes too much.
TEST_F(BadInput, WrongResultsAreToldBeforeBudgets) {
  const Ran ran = grade_file(
      "//! test Scratch.Adds 1\n//! budget 9 5 sectors per request\n"
      "//! test Scratch.CoversTheTail 2\n//! fail c[7] is 1, expected 2.\n");
  expect_says(ran, "FAIL CoversTheTail c[7] is 1, expected 2.");
  expect_says(ran, "next ./grade hint (TODO 2)");
}

TEST_F(BadInput, BudgetsAndFindingsAreShownInWords) {
  const Ran ran =
      grade_steps("//! finding memcheck out-of-bounds-global-read Thread 3 reads a[9].");
  expect_says(ran, "Thread 3 reads a[9].");
  const Ran over = grade_steps("//! budget 9 5 sectors per request");
  expect_says(over, "Right, but over budget. sectors per request.");
}

TEST_F(BadInput, FullFolderForTemporaryFilesIsNoFaultOfTheLearner) {
  course_.save("//! full-disk\n");
  const Ran ran = course_.grade({"run", "first"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.out.find("set TMPDIR"), std::string::npos) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("does not compile"), std::string::npos) << ran.out;
}

TEST_F(BadInput, ClosedStandardOutputIsReported) {
  course_.save("//! test Scratch.Adds 1\n");
  ChildOptions options;
  options.argv = {"/bin/sh", "-c", std::string("exec ") + GRADE_PROGRAM + " run first >&-"};
  options.environment = course_.environment();
  const ChildResult closed = run_child(options);
  EXPECT_EQ(closed.status, 2);
  EXPECT_NE(closed.err.text().find("cannot write to standard output"), std::string::npos);

  options.argv[2] = std::string("exec ") + GRADE_PROGRAM + " list >/dev/full";
  const ChildResult full = run_child(options);
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.err.text().find("No space left"), std::string::npos);
}

TEST_F(BadInput, DamagedProgressIsReportedWithItsLineAndKept) {
  const std::string damaged = std::string(kProgress) + "passed \x01\x02 what\n";
  write_file(course_.root() / ".progress", damaged);
  const Ran ran = course_.grade({"list"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_NE(ran.err.find(".progress:3"), std::string::npos) << ran.err;
  EXPECT_EQ(read_file(course_.root() / ".progress.damaged-1"), damaged);
  EXPECT_NE(ran.out.find("1 of 3 passed"), std::string::npos) << ran.out;
}

TEST_F(BadInput, DamagedCourseFileIsReportedWithItsLine) {
  write_file(course_.root() / "chapters/course.json",
             "{ \"format\": 1,\n  \"title\": \"Scratch\",\n  \"chapters\": [,] }\n");
  const Ran ran = course_.grade({"list"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.err.find("course.json:3"), std::string::npos) << ran.err;
}

TEST_F(BadInput, MissingBuildIsASetUpError) {
  fs::remove(course_.root() / "build/sim/build.ninja");
  const Ran ran = course_.grade({"run", "first"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.out.find("is not set up"), std::string::npos) << ran.out;
}

TEST_F(BadInput, MissingBuildToolIsASetUpError) {
  course_.set("GRADE_NINJA", "/nowhere/ninja");
  const Ran ran = course_.grade({"run", "first"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_NE(ran.out.find("/nowhere/ninja: No such file"), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace grade::test

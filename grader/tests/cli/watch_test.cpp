// Watch mode in a pseudo-terminal of 80 columns and 24 rows.
#include <signal.h>

#include "watch_mode.h"

namespace grade::test {
namespace {

constexpr const char* kGood = "//! test Scratch.Adds 1\n//! test Scratch.CoversTheTail 2\n";
constexpr const char* kOther =
    "//! test Scratch.Adds 1\n//! test Scratch.CoversTheTail 2\n//! fail c[7] is 3, expected 4.\n";
constexpr const char* kSlow = "//! slow-build\n";
constexpr const char* kHang = "//! test Scratch.Adds 1\n//! hang\n";

TEST_F(WatchMode, ShowsTheUnsolvedExerciseAndEndsWithQ) {
  open();
  expect_screen(kKeys);
  const std::string text = session_->screen().text();
  EXPECT_NE(text.find("Scratch  [--"), std::string::npos) << text;
  EXPECT_NE(text.find("0 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("  FAIL  Adds"), std::string::npos) << text;
  EXPECT_NE(text.find("Edit  chapters/01_begin/01_first.cu"), std::string::npos) << text;
  expect_tidy();
  leave();
}

TEST_F(WatchMode, GradesAgainAfterASaveByRename) {
  open();
  expect_screen(kKeys);
  course_.save(kOther);
  expect_screen("c[7] is 3, expected 4.");
  course_.save(kGood);
  expect_screen("PASS  all 2 tests");
  expect_screen("n: next");
  expect_screen("1 of 3");
  // Never on its own: n goes to the next exercise.
  EXPECT_TRUE(session_->screen().shows("01_begin/01_first  simulator"));
  session_->type("n");
  expect_screen("01_begin/02_second  simulator");
  leave();
}

TEST_F(WatchMode, SecondSaveDuringARunStartsItAgain) {
  open();
  expect_screen(kKeys);
  course_.save(kHang);
  expect_screen("running ...");
  course_.save(kGood);
  expect_screen("PASS  all 2 tests");
  // And during a build.
  course_.save(kSlow);
  const pid_t first = builder();
  course_.save(kOther);
  expect_screen("c[7] is 3, expected 4.");
  EXPECT_TRUE(session_->wait_until([&] { return ::kill(first, 0) != 0; })) << "left behind";
  expect_tidy();
  leave();
}

TEST_F(WatchMode, TwoSavesAtOnceEndWithTheLast) {
  open();
  expect_screen(kKeys);
  course_.save(kOther);
  course_.save(kGood);
  expect_screen("PASS  all 2 tests");
  leave();
}

TEST_F(WatchMode, FollowsTheSizeOfTheWindow) {
  open();
  expect_screen(kKeys);
  session_->resize(30, 60);
  // The head line is as wide as the window: the seconds end at column 60.
  EXPECT_TRUE(session_->wait_until([&] {
    const std::string text = session_->screen().text();
    const size_t at = text.find("01_begin/01_first  simulator");
    return at != std::string::npos && text.find('\n', at) - at == 60;
  })) << session_->screen().text();
  session_->resize(24, 80);
  expect_screen(kKeys);
  leave();
}

TEST_F(WatchMode, CtrlCDuringACompileLeavesNothingBehind) {
  course_.save(kSlow);
  open();
  const pid_t compiler = builder();
  session_->type("\x03");
  expect_end(128 + SIGINT);
  EXPECT_TRUE(session_->wait_until([&] { return ::kill(compiler, 0) != 0; })) << "left behind";
}

TEST_F(WatchMode, CtrlCAndQDuringARunLeaveNothingBehind) {
  course_.save(kHang);
  open();
  expect_screen("running ...");
  session_->type("\x03");
  expect_end(128 + SIGINT);
  open();
  expect_screen("running ...");
  leave();
}

TEST_F(WatchMode, CtrlCEndsRunAndItsCompilerToo) {
  course_.save(kSlow);
  session_ = std::make_unique<PtySession>(course_, std::vector<std::string>{"run"});
  const pid_t compiler = builder();
  session_->type("\x03");
  expect_end(128 + SIGINT);
  EXPECT_TRUE(session_->wait_until([&] { return ::kill(compiler, 0) != 0; })) << "left behind";
}

TEST_F(WatchMode, HintListAndResetAnswerTheirKeys) {
  course_.save(kOther);
  open();
  expect_screen(kKeys);
  session_->type("h");
  expect_screen("Where to look 2.");
  expect_screen("h again goes one step further.");
  session_->type("h");
  expect_screen("The idea 2.");
  session_->type("l");
  expect_screen("> current  01_first");
  session_->type("q");
  expect_screen("c[7] is 3, expected 4.");
  session_->type("x");
  expect_screen("[y/N]");
  session_->type("n");
  expect_screen(kKeys);
  EXPECT_EQ(read_file(course_.learner_file()), kOther);
  session_->type("x");
  expect_screen("[y/N]");
  session_->type("y");
  expect_screen("FAIL  Adds");
  EXPECT_EQ(read_file(course_.root() / ".kept/01_begin/01_first.1.cu"), kOther);
  expect_screen("Your version is kept as .kept/01_begin/01_first.1.cu");
  expect_tidy();
  leave();
}

TEST_F(WatchMode, CheckAllGradesEverythingAndReturns) {
  open();
  expect_screen(kKeys);
  session_->type("c");
  expect_screen("0 passed, 3 failed");
  session_->type(" ");
  expect_screen(kKeys);
  leave();
}

TEST_F(WatchMode, AnyKeyStopsCheckAll) {
  open();
  expect_screen(kKeys);
  course_.save(kSlow, "01_begin/02_second");
  session_->type("c");
  const pid_t compiler = builder("01_begin.02_second");
  expect_screen("Any key stops it.");
  session_->type(" ");
  EXPECT_TRUE(session_->wait_until([&] { return ::kill(compiler, 0) != 0; })) << "left behind";
  expect_screen(kKeys);
  leave();
}

TEST_F(WatchMode, PollsWhereEventsAreSilent) {
  course_.set("GRADE_WATCH", "poll");
  open();
  expect_screen(kKeys);
  course_.save(kGood);
  expect_screen("PASS  all 2 tests");
  leave();
}

TEST_F(WatchMode, SmallWindowShowsTheVerdictAndTheKeys) {
  open(12);
  expect_screen(kKeys);
  EXPECT_TRUE(session_->screen().shows("FAIL  Adds")) << session_->screen().text();
  expect_tidy();
  leave();
}

TEST_F(WatchMode, ClosedTerminalEndsIt) {
  open();
  expect_screen(kKeys);
  ::kill(session_->pid(), SIGHUP);
  expect_end(128 + SIGHUP);
}

}  // namespace
}  // namespace grade::test

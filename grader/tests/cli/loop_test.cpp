// The loop as a newcomer meets it: welcome, keys, lists, long texts, the end of a chapter.
#include <signal.h>

#include <algorithm>
#include <sstream>

#include "cli/chapter_end.h"
#include "cli/progress_line.h"
#include "cli/watch/failing_thread.h"
#include "watch_mode.h"

namespace grade::test {
namespace {

constexpr const char* kPasses = "//! test Scratch.Adds 1\n";
constexpr const char* kFinding =
    "//! test Scratch.Adds 1\n//! trace t = 1\n"
    "//! finding memcheck out-of-bounds In k, thread 33 of block 2 reads a[9].\n";

class Loop : public WatchMode {
 protected:
  void expect_gone(const std::string& words) {
    EXPECT_TRUE(session_->wait_until([&] { return !session_->screen().shows(words); }))
        << words << "\n--- still on\n"
        << session_->screen().text();
  }

  void begin_anew() { fs::remove(course_.root() / ".progress"); }

  void write_chapter_page() {
    write_file(
        course_.root() / "chapters/01_begin/README.md",
        "# 01 The beginning\n\n**You will be able to** begin. You will add what is there.\n");
  }
};

TEST_F(Loop, FirstStartSaysWhatIsWhereAndTheSecondDoesNot) {
  begin_anew();
  for (const auto& [rows, columns] : {std::pair(24, 80), std::pair(20, 60)}) {
    open(rows, columns);
    expect_screen("Welcome to Scratch.");
    expect_screen("  Read  chapters/01_begin/README.md");
    expect_screen("  Edit  chapters/01_begin/01_first.cu");
    expect_screen("q quits");
    expect_tidy();
    session_->type(" ");
    expect_screen("FAIL  Adds");
    leave();
    begin_anew();
  }
  open();
  session_->type(" ");
  expect_screen("FAIL  Adds");
  leave();
  open();
  expect_screen("FAIL  Adds");
  EXPECT_EQ(session_->bytes().find("Welcome"), std::string::npos);
  leave();
}

TEST_F(Loop, PathOfTheLessonIsAlwaysInSight) {
  open();
  expect_screen("Read  chapters/01_begin/README.md");
  expect_screen("Edit  chapters/01_begin/01_first.cu");
  write_file(course_.root() / "chapters/01_begin/01_first.md", "# First\n\nWords.\n");
  course_.save(kPasses);
  expect_screen("PASS");
  expect_screen("Read  chapters/01_begin/01_first.md");
  session_->type("h");
  expect_screen("nothing to hint at");
  EXPECT_TRUE(session_->screen().shows("Read  chapters/01_begin/01_first.md"));
  leave();
}

TEST_F(Loop, QuestionMarkListsAllKeys) {
  open();
  expect_screen(kKeys);
  session_->type("?");
  expect_screen("explain the finding that the verdict names");
  expect_screen("./grade --help lists all commands.");
  expect_tidy();
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

TEST_F(Loop, ReadsThePageOfTheChapterWhereThereIsNoLesson) {
  write_chapter_page();
  open();
  expect_screen(kKeys);
  session_->type("r");
  expect_screen("You will be able to begin.");
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

TEST_F(Loop, OpensThePageInTheBrowser) {
  const fs::path browser = course_.root() / "browser", seen = course_.root() / "seen";
  write_file(browser, "#!/bin/sh\necho \"$1\" >" + seen.string() + ".new\nmv " + seen.string() +
                          ".new " + seen.string() + "\n");
  fs::permissions(browser, fs::perms::owner_all);
  write_file(course_.root() / "build/site/chapters/01_begin/README.html", "<p>\n");
  course_.set("BROWSER", browser.string());
  open();
  expect_screen(kKeys);
  session_->type("o");
  expect_screen("Opened file://");
  EXPECT_TRUE(session_->wait_until([&] { return fs::exists(seen); }));
  EXPECT_EQ(read_file(seen),
            "file://" + course_.root().string() + "/build/site/chapters/01_begin/README.html\n");
  leave();
}

TEST_F(Loop, SaysWhereThePageIsWithoutABrowser) {
  for (const char* name : {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"}) {
    course_.set(name, "");
  }
  open();
  expect_screen(kKeys);
  session_->type("o");
  expect_screen("There is no browser here. The page is chapters/01_begin/README.md");
  leave();
}

TEST_F(Loop, ExplainsTheFindingOfTheVerdict) {
  write_file(course_.root() / "docs/findings/memcheck.md",
             "# memcheck\n\n## out-of-bounds\n\nThe index lies outside of the array.\n");
  course_.save(kFinding);
  open();
  expect_screen("e: explain");
  expect_screen("(out-of-bounds: what it means)");
  session_->type("e");
  expect_screen("The index lies outside of the array.");
  session_->type("q");
  expect_screen(kKeys);
  course_.save("//! test Scratch.Adds 1\n//! fail c[7] is 3, expected 4.\n");
  expect_screen("c[7] is 3");
  EXPECT_FALSE(session_->screen().shows("e: explain"));
  session_->type("e");
  expect_screen("names no finding");
  leave();
}

TEST_F(Loop, TracesTheFailingThread) {
  course_.save(kFinding);
  open();
  expect_screen("t: trace");
  session_->type("t");
  expect_screen("t = 1, block 2, thread 33");
  expect_tidy();
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

constexpr const char* kDrawn = "//! test Scratch.Adds 1\n//! view\n//! fail no\n";

TEST_F(Loop, ViewsTheRunInTheBrowser) {
  const fs::path browser = course_.root() / "browser", seen = course_.root() / "seen";
  write_file(browser, "#!/bin/sh\necho \"$1\" >" + seen.string() + ".new\nmv " + seen.string() +
                          ".new " + seen.string() + "\n");
  fs::permissions(browser, fs::perms::owner_all);
  course_.set("BROWSER", browser.string());
  course_.save(kDrawn);
  fs::create_directories(course_.root() / "grader");
  fs::copy(fs::path(GRADE_CLONE) / "grader/view", course_.root() / "grader/view",
           fs::copy_options::recursive);
  open();
  expect_screen("v: view");
  session_->type("v");
  EXPECT_TRUE(session_->wait_until([&] { return fs::exists(seen); })) << session_->screen().text();
  EXPECT_TRUE(fs::exists(read_file(seen).substr(0, read_file(seen).find('\n')))) << read_file(seen);
  expect_screen("Opened ");
  leave();
}

TEST_F(Loop, ViewsTheRunAsTextWithoutABrowser) {
  for (const char* name : {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"}) {
    course_.set(name, "");
  }
  course_.save(kDrawn);
  open();
  expect_screen("v: view");
  session_->type("v");
  expect_screen("goes back.");
  EXPECT_NE(session_->bytes().find("./grade view 01_begin/01_first --text"), std::string::npos);
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

TEST(TraceArguments, AThreadInTwoDimensionsIsCountedWithTheLaunch) {
  Result result;
  TestReport& test = result.tests.emplace_back();
  test.name = "Scratch.Adds";
  test.started = test.finished = true;
  EXPECT_EQ(trace_arguments(result), (std::vector<std::string>{"--case", "Adds"}));
  Finding& finding = test.findings.emplace_back();
  finding.kind = "out-of-bounds";
  finding.kernel = "k";
  finding.message = "In k, thread (3, 2) of block (1, 0) reads a[9].";
  test.failures.push_back({"", 0, "n = 4: " + finding.message});
  LaunchInfo& launch = test.launches.emplace_back();
  launch.kernel = "k";
  launch.block[0] = 16;
  launch.block[1] = 8;
  launch.block[2] = 1;
  EXPECT_EQ(trace_arguments(result),
            (std::vector<std::string>{"--case", "Adds", "--block", "1,0", "--thread", "35"}));
  test.passed = true;
  EXPECT_TRUE(trace_arguments(result).empty());
}

TEST_F(Loop, ListMovesSearchesAndOpensAnExercise) {
  open(5);  // three rows of the list
  expect_screen("q: quit");
  session_->type("l");
  expect_screen("> current  01_first");
  session_->type("G");
  expect_screen("> ");
  expect_screen("03_third");
  expect_gone("The beginning");
  session_->type("\x1b[A");
  expect_screen(">          02_second");
  session_->type("/fir\n");
  expect_screen("> current  01_first");
  session_->type("/rather long\n");  // of the title
  expect_screen(">          03_third");
  session_->type("\n");
  EXPECT_TRUE(session_->wait_until(
      [&] { return course_.progress().find("current 01_begin/03_third") != std::string::npos; }));
  expect_screen("q: quit");
  leave();
}

TEST_F(Loop, AfterAPassListAndLoopStandOnTheSameExercise) {
  course_.save(kPasses);
  open();
  expect_screen("PASS");
  session_->type("l");
  expect_screen("> passed   01_first");
  expect_screen("  next     02_second");
  session_->type("q");
  expect_screen("01_begin/01_first  simulator");
  const Ran list = course_.grade({"list"});
  EXPECT_NE(list.out.find("> passed   01_first"), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("  next     02_second"), std::string::npos) << list.out;
  session_->type("n");
  expect_screen("01_begin/02_second  simulator");
  leave();
}

TEST_F(Loop, ElidedLinesCanBeOpened) {
  std::string message = "line 1";
  for (int line = 2; line <= 40; ++line) message += "\\nline " + std::to_string(line);
  course_.save("//! test Scratch.Adds 1\n//! fail " + message + "\n");
  open();
  expect_screen("... and 31 lines more: key m");
  EXPECT_FALSE(session_->screen().shows("line 10")) << session_->screen().text();
  session_->type("m");
  expect_screen("line 15");
  session_->type(" ");
  expect_screen("line 40");
  session_->type("/line 3\n");  // round the end
  expect_screen("line 3");
  session_->type("q");
  expect_screen(kKeys);
  expect_tidy();
  leave();
}

TEST_F(Loop, ShowsWhatTheProgramPrinted) {
  course_.save(
      "//! test Scratch.Adds 1\n//! print one\n//! print two\n//! print three\n//! print four\n"
      "//! print five\n//! fail c[0] is 1.\n//! test Scratch.Other 1\n//! print other\n");
  open();
  expect_screen("It printed 5 lines (all of them: key m), these last:");
  EXPECT_FALSE(session_->screen().shows("  one")) << session_->screen().text();
  expect_screen("          five");
  expect_screen("Other tests printed 1 line: key m");
  session_->type("m");
  expect_screen("          one");
  expect_screen("Other printed:");
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

TEST_F(Loop, ResetSaysWhereTheCopyWentAndRestoreBringsItBack) {
  course_.save(kPasses);
  open();
  expect_screen("PASS");
  session_->type("x");
  expect_screen("[y/N]");
  session_->type("y");
  expect_screen("FAIL  Adds");
  expect_screen("Your version is kept as .kept/01_begin/01_first.1.cu");
  expect_screen("./grade restore 01_first");
  EXPECT_EQ(course_.grade({"restore", "first"}).status, 0);
  expect_screen("PASS");
  EXPECT_EQ(read_file(course_.learner_file()), kPasses);
  leave();
}

TEST_F(Loop, EndOfAChapterShowsWhatWasLearntAndOnesOwnFigures) {
  write_chapter_page();
  write_file(course_.root() / ".progress",
             "passed 01_begin/01_first 2026-11-23T04:00:00Z\n"
             "current 01_begin/02_second\nhint 01_begin/02_second 1 2\n"
             "predict 01_begin/02_second a right\npredict 01_begin/02_second b wrong\n"
             "best 01_begin/02_second 0.001 Test Card\n");
  course_.save(kPasses, "01_begin/02_second");
  open(24, 80);
  expect_screen("the end of the chapter: The beginning");
  session_->type("n");
  expect_screen("Chapter 01 is done: The beginning");
  expect_screen("You can now begin. You can add what is there.");
  expect_screen("2 of 3     1 of 2");
  expect_screen("Your best times");
  expect_screen("1 ms a call, Test Card");
  expect_screen("Next: 01_begin/03_third, a bonus.");
  expect_tidy();
  session_->type("q");
  expect_screen("01_begin/03_third  simulator");
  course_.save(kPasses, "01_begin/03_third");
  expect_screen("PASS");
  session_->type("n");
  expect_screen("Chapter 01 is done");
  session_->type("q");
  expect_screen("The end of the course");
  expect_screen("All 3 exercises are passed.");
  expect_screen("docs/background/next_steps.md");
  session_->type("q");
  expect_screen("PASS");
  leave();
  EXPECT_NE(course_.grade({}).out.find("The end of the course"), std::string::npos);
}

// A word that the terminal broke would leave the row and begin the next.
TEST_F(Loop, SixtyColumnsBreakNoWord) {
  course_.save(kFinding);
  open(20, 60);
  for (const char* words : {"Scratch  [", "0 of 3", "t: trace", "?: all keys", "q: quit"}) {
    expect_screen(words);
  }
  expect_tidy();
  session_->type("l");
  expect_screen("25 min, bonus");
  expect_screen("arrows: move  /: search  enter: open  q: back");
  expect_tidy();
  session_->type("q?");
  expect_screen("explain the finding that the verdict names");
  expect_tidy();
  std::istringstream screen(session_->screen().text());
  for (std::string line; std::getline(screen, line);) EXPECT_LE(line.size(), 60u) << line;
  session_->type("q");
  leave();
}

// Every key, in the sizes that people have: nothing scrolls away, and no line leaves the screen.
TEST_F(Loop, EveryKeyKeepsToTheScreen) {
  for (const char* name : {"BROWSER", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"}) {
    course_.set(name, "");
  }
  write_chapter_page();
  write_file(course_.root() / "docs/findings/memcheck.md",
             "# memcheck\n\n## out-of-bounds\n\nThe index lies outside of the array.\n");
  const std::string verdict =
      std::string(kFinding) + "//! view\n//! budget 4 5 sectors per request\n";
  const auto fits = [&](const std::string& after) {
    expect_tidy();
    EXPECT_EQ(session_->screen().wrapped(), 0) << after << "\n" << session_->screen().text();
  };
  for (const auto& [rows, columns] : {std::pair(24, 80), std::pair(20, 60)}) {
    course_.save(verdict);
    open(rows, columns);
    expect_screen("e: explain");
    fits("the verdict");
    for (const auto& [key, words] : std::initializer_list<std::pair<const char*, const char*>>{
             {"?", "explain the finding"},
             {"r", "You will be able to begin."},
             {"e", "lies outside"},
             {"t", "t = 1, block 2, thread 33"},
             {"v", "Step by step"},
             {"m", "thread 33 of block 2"},
             {"l", "> current  01_first"}}) {
      session_->type(key);
      expect_screen(words);
      fits(key);
      session_->type("q");
      expect_screen(kKeys);
      fits(std::string(key) + " and back");
    }
    for (const auto& [key, words] : std::initializer_list<std::pair<const char*, const char*>>{
             {"o", "There is no browser here."},
             {"n", "Not passed yet."},
             {"d", "once the exercise passes"},
             {"h", "hint"}}) {
      session_->type(key);
      expect_screen(words);
      fits(key);
    }
    session_->type("x");
    expect_screen("[y/N]");
    fits("x");
    session_->type("n");
    expect_screen(kKeys);
    course_.save(std::string(kPasses) + "//! budget 4 5 sectors per request\n");
    expect_screen("PASS");
    expect_screen("(at most 5)");
    fits("a pass");
    leave();
    begin_anew();
    SetUp();
  }
}

// Titles and complaints of other commands break between words, too; painted or not.
TEST_F(Loop, FiftyColumnsBreakNoWordOfWhatAKeyOpens) {
  write_file(course_.root() / "docs/findings/memcheck.md",
             "# memcheck\n\n## out-of-bounds, null-pointer-read, null-pointer-write, "
             "null-pointer-copy\n\nThe index lies outside of the array.\n");
  course_.save(kFinding);
  open(20, 50);
  for (const auto& [key, words] :
       std::initializer_list<std::pair<const char*, std::vector<const char*>>>{
           {"e", {"null-pointer-read,", "null-pointer-write,", "null-pointer-copy"}},
           {"t", {"launch, in the", "simulator"}},
           {"?", {"tells", "q  quit;"}}}) {
    expect_screen(kKeys);
    session_->type(key);
    for (const char* each : words) expect_screen(each);
    EXPECT_EQ(session_->screen().wrapped(), 0) << session_->screen().text();
    expect_tidy();
    session_->type("q");
  }
  expect_screen(kKeys);
  leave();
}

// Of a hint the step that was asked for last; the key that the screen names shows all of them.
TEST_F(Loop, TheLastStepOfAHintStaysInSight) {
  std::string steps;
  for (const char* step : {"First", "Second", "Third"}) {
    steps += std::string("\n") + step;
    for (int i = 0; i < 24; ++i) steps += " and so on";
    steps += ".\n";
  }
  write_file(course_.root() / "chapters/01_begin/01_first_hints.md",
             "# Hints\n\n## TODO 1\n" + steps + "\n## TODO 2\n" + steps);
  open(20, 60);
  expect_screen(kKeys);
  session_->type("h");
  expect_screen("1/3  First");
  session_->type("h");
  expect_screen("2/3  Second");
  expect_screen("before: key m");
  session_->type("h");
  expect_screen("3/3  Third");
  EXPECT_FALSE(session_->screen().shows("1/3  First")) << session_->screen().text();
  expect_tidy();
  session_->type("m");
  expect_screen("1/3  First");
  session_->type("q");
  expect_screen(kKeys);
  leave();
}

// The real chapters, with their long names: at every width each row of the end fits, and says the
// same.
TEST(ChapterEnd, KeepsToTheColumnsInEveryChapter) {
  App app(Options{}, Paths{GRADE_CLONE, "", "", "", ""});
  course::Progress& progress = app.progress();
  progress = {};
  for (const course::Exercise& exercise : app.course().exercises) {
    progress.passed[exercise.id] = "2026-11-23T04:00:00Z";
    for (int todo = 1; todo <= exercise.todos; ++todo) progress.hints[{exercise.id, todo}] = 3;
  }
  for (const int columns : {80, 60, 40}) {
    app.terminal().columns = columns;
    std::vector<std::string> ends = {course_end_text(app)};
    for (const course::Chapter& chapter : app.course().chapters) {
      ends.push_back(chapter_end_text(app, chapter));
      EXPECT_NE(ends.back().find("You can now "), std::string::npos) << ends.back();
      EXPECT_EQ(ends.back().find("ou will "), std::string::npos) << ends.back();
    }
    for (const std::string& end : ends) {
      EXPECT_LE(widest(end), static_cast<size_t>(columns)) << end;
      EXPECT_NE(end.find("predicted\n"), std::string::npos) << end;
    }
    if (columns < 60) continue;
    for (const course::Exercise& exercise : app.course().exercises) {
      const auto names_it = [&](const std::string& end) {
        return end.find("  " + exercise.name + " ") != std::string::npos;
      };
      EXPECT_TRUE(std::any_of(ends.begin(), ends.end(), names_it)) << exercise.id;
    }
  }
}

// The last screen offers no key that goes on.
TEST_F(Loop, TheEndOfAChapterKeepsToASmallScreen) {
  write_file(course_.root() / "chapters/01_begin/README.md",
             "# 01 The beginning\n\n**You will be able to** begin, and to go on when it gets hard. "
             "You will add what is there. For every number you will know where it comes from.\n");
  std::string progress = "current 01_begin/02_second\n";
  for (int i = 1; i <= 3; ++i) {
    progress += "passed 01_begin/0" + std::to_string(i) + (i == 1 ? "_first" : "_third") +
                " 2026-11-23T04:0" + std::to_string(i) + ":00Z\n";
  }
  write_file(course_.root() / ".progress", progress);
  course_.save(kPasses, "01_begin/02_second");
  open(12, 60);
  expect_screen("next  n");
  session_->type("n");
  expect_screen("Chapter 01 is done: The beginning");
  expect_screen("For every number you now know where");
  expect_screen("space: on");
  EXPECT_EQ(session_->screen().wrapped(), 0) << session_->screen().text();
  expect_tidy();
  session_->type("G");
  expect_screen("steps that were shown.");
  expect_gone("space: on");
  expect_screen("q: leave");
  EXPECT_EQ(session_->screen().wrapped(), 0) << session_->screen().text();
  expect_tidy();
  session_->type(" ");
  expect_screen("The end of the course");
  session_->type("q");
  expect_screen("next  n");
  leave();
}

// The limit stands beside its figure; a name that leaves no room for both has a row of its own.
TEST_F(Loop, AFigureAndItsLimitStayTogether) {
  course_.save(std::string(kPasses) +
               "//! budget 1.011 1.15 threads launched per element\n"
               "//! budget 8192 8192 threads launched for 100000 elements\n");
  open(20, 60);
  expect_screen("1.011  (at most 1.15)");
  expect_screen("8192  (at most 8192)");
  expect_screen("threads launched for 100000 elements\n");
  EXPECT_EQ(session_->screen().wrapped(), 0) << session_->screen().text();
  leave();
}

// Whatever a verdict has to say: what comes next stays in sight.
TEST_F(Loop, NextIsInSightBelowALongVerdict) {
  std::string verdict = kPasses;
  for (int i = 0; i < 12; ++i)
    verdict += "//! budget 4 5 sectors of array " + std::to_string(i) + "\n";
  course_.save(verdict);
  open(16, 60);
  expect_screen("lines more: key m");
  expect_screen("next  n");
  expect_tidy();
  leave();
}

TEST_F(Loop, ADumbTerminalGetsNoEscapes) {
  course_.set("TERM", "dumb");
  course_.save(kFinding);
  open();
  expect_screen("q: quit");
  session_->type("l");
  expect_screen("> current  01_first");
  session_->type("q?");
  expect_screen("quit; ./grade goes on where you were");
  session_->type("q");
  leave();
  EXPECT_EQ(session_->bytes().find('\x1b'), std::string::npos);
}

TEST_F(Loop, NoColorMeansNoColour) {
  course_.set("NO_COLOR", "1");
  open();
  expect_screen("q: quit");
  leave();
  const std::string& bytes = session_->bytes();
  for (size_t at = bytes.find('\x1b'); at != std::string::npos; at = bytes.find('\x1b', at + 1)) {
    const size_t end = bytes.find_first_not_of("[0123456789;", at + 1);
    EXPECT_NE(bytes[end], 'm') << bytes.substr(at, 8);
  }
}

TEST_F(Loop, ARedrawDoesNotClearTheScreenFirst) {
  open();
  expect_screen(kKeys);
  course_.save(kPasses);
  expect_screen("PASS");
  EXPECT_EQ(session_->bytes().find("\x1b[2J"), std::string::npos) << "flashes";
  leave();
}

TEST(NinjaProgress, SaysWhichFileOfHowMany) {
  NinjaProgress progress;
  EXPECT_EQ(progress.text(), "0 s");
  progress.read("[3/12] Building CXX object grader/cli/CMakeFiles/x.dir/a");
  progress.read("pp.cpp.o\n");
  EXPECT_EQ(progress.text(), "3 of 12, app.cpp, 0 s");
  progress.read("[3/12] Building CXX object a/Unity/unity_verdict_cxx.cxx.o\n");
  EXPECT_EQ(progress.text(), "3 of 12, verdict, 0 s");
  progress.read("a.cpp:1: error: no\n[4/12] Linking CXX executable bin/grade\n");
  EXPECT_EQ(progress.text(), "4 of 12, grade, 0 s");
}

}  // namespace
}  // namespace grade::test

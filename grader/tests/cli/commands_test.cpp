// The commands, through the real `grade`.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <regex>

#include "cli/app.h"
#include "cli/args.h"
#include "course/error.h"
#include "course/json.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kGood =
    "//! test Scratch.Adds 1\n//! counters 40\n//! budget 4 5 sectors per request\n"
    "//! test Scratch.CoversTheTail 2\n";

TEST(Run, PassIsRecordedAndNamesTheNextExercise) {
  const ScratchCourse course;
  course.save(kGood);
  const Ran ran = course.grade({"run"});
  EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
  EXPECT_TRUE(has(ran.out, "PASS  all 2 tests")) << ran.out;
  EXPECT_TRUE(has(ran.out, "sectors per request")) << ran.out;
  EXPECT_TRUE(has(ran.out, "./grade          (goes on with 01_begin/02_second)")) << ran.out;
  EXPECT_TRUE(has(course.progress(), "passed 01_begin/01_first ")) << course.progress();
  // Without a name, the next pending one is graded.
  EXPECT_TRUE(has(course.grade({"run"}).out, "01_begin/02_second"));
}

TEST(Run, AnExerciseHasAsManyDevicesAsItSays) {
  ScratchCourse course;
  course.save("//! test Scratch.Adds 1\n//! devices 0\n");
  EXPECT_EQ(course.grade({"run"}).status, 0);
  const fs::path manifest = course.root() / "chapters/course.json";
  std::string text = read_file(manifest);
  const std::string title = "\"title\": \"First\"";
  write_file(manifest, text.replace(text.find(title), title.size(), title + ", \"gpus\": 4"));
  EXPECT_EQ(course.grade({"run", "first"}).status, 1) << "it has four now";
  course.save("//! test Scratch.Adds 1\n//! devices 4\n");
  EXPECT_EQ(course.grade({"run", "first"}).status, 0);
  // What it needs on a GPU, and what the simulator shows, may differ.
  text = read_file(manifest);
  const std::string gpus = "\"gpus\": 4";
  write_file(manifest,
             text.replace(text.find(gpus), gpus.size(), "\"gpus\": 2, \"simulated_gpus\": 4"));
  EXPECT_EQ(course.grade({"run", "first"}).status, 0);
  // Whoever sets the variable knows better.
  course.set("GRADE_SIM_DEVICES", "2");
  course.save("//! test Scratch.Adds 1\n//! devices 2\n");
  EXPECT_EQ(course.grade({"run", "first"}).status, 0);
}

TEST(Run, AnExerciseOfSeveralGpusIsNotForAMachineWithFewer) {
  course::Exercise exercise;
  EXPECT_EQ(too_few_gpus(exercise, 1), "");
  exercise.gpus = 2;
  EXPECT_EQ(too_few_gpus(exercise, 1), "needs 2 GPUs, and this machine has 1");
  EXPECT_EQ(too_few_gpus(exercise, 2), "");
  EXPECT_EQ(too_few_gpus(exercise, 8), "");
  // Without any, the simulator has as many as it wants.
  EXPECT_EQ(missing_here(exercise), "");
}

TEST(Run, WhatNeedsAGpuIsSkippedWithoutOneAndSaysSo) {
  const ScratchCourse course;
  const fs::path manifest = course.root() / "chapters/course.json";
  std::string text = read_file(manifest);
  const std::string title = "\"title\": \"First\"";
  write_file(manifest,
             text.replace(text.find(title), title.size(), title + ", \"device\": \"gpu\""));
  // Asked for by name: not a verdict, but a sentence.
  for (const char* device : {"auto", "sim"}) {
    const Ran asked = course.grade({"run", "first", "--device", device});
    EXPECT_EQ(asked.status, 2) << asked.out;
    EXPECT_TRUE(has(asked.err, "01_begin/01_first needs a GPU")) << asked.err;
  }
  // The course goes on with what can be graded here.
  const Ran opened = course.grade({});
  EXPECT_EQ(opened.status, 1);
  EXPECT_TRUE(has(opened.out, "01_begin/02_second")) << opened.out;
  const Ran all = course.grade({"check-all"});
  EXPECT_TRUE(has(all.out, "SKIP  01_begin/01_first")) << all.out;
  EXPECT_TRUE(has(all.out, "needs a GPU")) << all.out;
  EXPECT_FALSE(has(course.progress(), "passed 01_begin/01_first")) << course.progress();
}

TEST(Run, WhatCouldNotBeBuiltSaysWhatItLacks) {
  const ScratchCourse course;
  course::Exercise exercise;
  exercise.id = "01_begin/01_first";
  Paths paths;
  paths.root = course.root();
  EXPECT_EQ(why_not_built(paths, Device::kGpu, exercise), "");
  const fs::path folder = paths.build(Device::kGpu) / "course";
  fs::create_directories(folder);
  write_file(folder / (exercise.target() + ".missing"), "needs cusolver, which is not here\n");
  EXPECT_EQ(why_not_built(paths, Device::kGpu, exercise), "needs cusolver, which is not here");
  // Its target does not exist; that is not what the learner reads.
  write_file(paths.build(Device::kGpu) / "build.ninja", "");
  RunRequest request;
  request.exercise = &exercise;
  request.device = Device::kGpu;
  const Result result = build_and_run(paths, request);
  EXPECT_EQ(result.outcome, Outcome::kCannotBuild);
  EXPECT_EQ(result.build.problem, "It needs cusolver, which is not here.");
}

TEST(Run, StarterFailsWithStatusOneAlsoWhereTheCourseIsOpenedWithoutATerminal) {
  const ScratchCourse course;
  EXPECT_EQ(course.grade({"run"}).status, 1);
  const Ran opened = course.grade({});
  EXPECT_EQ(opened.status, 1);
  EXPECT_TRUE(has(opened.out, "FAIL  Adds")) << opened.out;
  EXPECT_TRUE(has(opened.out, "./grade hint")) << opened.out;
}

TEST(Run, SolutionIsGradedWithoutTouchingTheProgress) {
  const ScratchCourse course;
  const Ran ran = course.grade({"run", "first", "--solution"});
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_TRUE(has(ran.out, "simulator, solution")) << ran.out;
  EXPECT_EQ(course.progress(), "");
}

TEST(Run, ExplicitChoiceBecomesCurrent) {
  const ScratchCourse course;
  course.grade({"run", "third"});
  EXPECT_TRUE(has(course.progress(), "current 01_begin/03_third"));
  EXPECT_TRUE(has(course.grade({"run"}).out, "01_begin/03_third"));
}

TEST(Run, JsonIsVersionedAndComplete) {
  const ScratchCourse course;
  const Ran ran = course.grade({"run", "--json"});
  EXPECT_EQ(ran.status, 1);
  const course::Json json = course::parse_json(ran.out, "out");
  EXPECT_EQ(json.number_or("format"), 1);
  EXPECT_EQ(json.string_or("exercise"), "01_begin/01_first");
  EXPECT_FALSE(json.bool_or("passed", true));
  EXPECT_EQ(json.number_or("todo"), 1);
  ASSERT_NE(json.find("devices"), nullptr);
  const course::Json& device = json.find("devices")->items.at(0);
  EXPECT_EQ(device.string_or("device"), "simulator");
  EXPECT_EQ(device.find("tests")->items.size(), 2u);
}

TEST(Run, GpuIsRefusedWhereThereIsNone) {
  const ScratchCourse course;
  const Ran ran = course.grade({"run", "--device", "gpu"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(has(ran.err, "no usable NVIDIA GPU")) << ran.err;
}

TEST(Names, WrongAmbiguousAndUnknownOnesAreStatusTwoWithNearOnes) {
  const ScratchCourse course;
  const Ran wrong = course.grade({"run", "frist"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(has(wrong.err, "01_begin/01_first")) << wrong.err;
  const Ran ambiguous = course.grade({"run", "01_begin"});
  EXPECT_EQ(ambiguous.status, 2);
  EXPECT_TRUE(has(ambiguous.err, "fits 3 exercises")) << ambiguous.err;
  const Ran command = course.grade({"lsit"});
  EXPECT_EQ(command.status, 2);
  EXPECT_TRUE(has(command.err, "./grade list")) << command.err;
  EXPECT_EQ(course.grade({"list", "--colour"}).status, 2);
  EXPECT_EQ(course.grade({"run", "first", "second"}).status, 2);
}

TEST(Help, ListsOnlyCommandsThatExist) {
  const ScratchCourse course;
  const Ran ran = course.grade({"--help"});
  EXPECT_EQ(ran.status, 0);
  EXPECT_LE(widest(ran.out), 80u);
  for (const char* command : {"run", "profile", "trace", "sanitize"}) {
    EXPECT_TRUE(has(ran.out, std::string("./grade ") + command + " ")) << command;
  }
}

TEST(List, ShowsStatesWithinEightyColumns) {
  const ScratchCourse course;
  course.save(kGood);
  course.grade({"run"});
  const Ran ran = course.grade({"list"});
  EXPECT_LE(widest(ran.out), 80u) << ran.out;
  // Where the loop stands too, until the next one is opened.
  EXPECT_TRUE(has(ran.out, "> passed   01_first")) << ran.out;
  EXPECT_TRUE(has(ran.out, "  next     02_second")) << ran.out;
  EXPECT_TRUE(has(ran.out, "1 of 3 passed")) << ran.out;
  const course::Json json = course::parse_json(course.grade({"list", "--json"}).out, "out");
  EXPECT_EQ(json.find("exercises")->items.at(0).string_or("state"), "passed");
  EXPECT_EQ(json.string_or("current"), "01_begin/02_second");
}

TEST(Hint, GoesOneStepFurtherForTheFailingTodo) {
  const ScratchCourse course;
  course.save("//! test Scratch.Adds 1\n//! test Scratch.CoversTheTail 2\n//! fail no\n");
  Ran ran = course.grade({"hint"});
  EXPECT_TRUE(has(ran.out, "Where to look 2.")) << ran.out << ran.err;
  EXPECT_FALSE(has(ran.out, "The idea 2.")) << ran.out;
  ran = course.grade({"hint"});
  EXPECT_TRUE(has(ran.out, "The idea 2.")) << ran.out;
  course.grade({"hint"});
  ran = course.grade({"hint"});
  EXPECT_TRUE(has(ran.out, "Almost the code 2.")) << ran.out;
  EXPECT_TRUE(has(ran.out, "--spoil")) << ran.out;
  // Another failing test, another TODO.
  course.save("//! test Scratch.Adds 1\n//! fail no\n");
  EXPECT_TRUE(has(course.grade({"hint"}).out, "Where to look 1."));
}

TEST(Reset, AsksAndKeepsTheOldFile) {
  const ScratchCourse course;
  course.save(kGood);
  const Ran refused = course.grade({"reset", "first"});  // stdin is empty: no
  EXPECT_EQ(refused.status, 1);
  EXPECT_EQ(read_file(course.learner_file()), kGood);
  const Ran done = course.grade({"reset", "first", "--yes"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_TRUE(has(read_file(course.learner_file()), "//! fail c[0] is 0"));
  EXPECT_EQ(read_file(course.root() / ".kept/01_begin/01_first.1.cu"), kGood);
  EXPECT_TRUE(has(done.out, ".kept/01_begin/01_first.1.cu")) << done.out;
  EXPECT_TRUE(has(done.out, "./grade restore 01_first")) << done.out;
  EXPECT_EQ(course.grade({"reset"}).status, 2);
}

TEST(Solution, IsShownAfterAPassOrOnRequest) {
  const ScratchCourse course;
  EXPECT_EQ(course.grade({"solution", "first"}).status, 1);
  const std::string path = (course.root() / "solutions/01_begin/01_first.cu").string() + "\n";
  EXPECT_EQ(course.grade({"solution", "first", "--spoil"}).out, path);
  course.save(kGood);
  course.grade({"run"});
  EXPECT_EQ(course.grade({"solution", "first"}).out, path);
}

TEST(Compare, ShowsDifferenceCountersAndWhy) {
  const ScratchCourse course;
  EXPECT_EQ(course.grade({"compare", "first"}).status, 1);
  course.save(kGood);
  course.grade({"run"});
  const Ran ran = course.grade({"compare", "first"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_LE(widest(ran.out), 80u);
  EXPECT_TRUE(has(ran.out, "  - //! counters 40")) << ran.out;
  EXPECT_TRUE(has(ran.out, "  + //! print one")) << ran.out;
  EXPECT_TRUE(has(ran.out, "Yours loads more sectors")) << ran.out;
}

TEST(Sanitize, ListsEachFindingOnce) {
  const ScratchCourse course;
  course.save(
      "//! test Scratch.Adds 1\n//! finding memcheck out-of-bounds Thread 3 reads a[9].\n"
      "//! test Scratch.CoversTheTail 2\n//! finding memcheck out-of-bounds Thread 3 reads "
      "a[9].\n");
  const Ran ran = course.grade({"sanitize"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.out, "memcheck, out-of-bounds, 01_first.cu:9, 3 times")) << ran.out;
  EXPECT_TRUE(has(ran.out, "1 finding.")) << ran.out;
  EXPECT_TRUE(has(ran.out, "./grade explain out-of-bounds says what it means")) << ran.out;
  course.save(kGood);
  const Ran clean = course.grade({"sanitize"});
  EXPECT_EQ(clean.status, 0) << clean.out;
  EXPECT_TRUE(has(clean.out, "CLEAN")) << clean.out;
}

TEST(Run, NamesThePageOfAFindingThatFailedATest) {
  const ScratchCourse course;
  course.save(
      "//! test Scratch.Adds 1\n//! finding racecheck shared-race Two threads write a[3].\n");
  const Ran race = course.grade({"run"});
  EXPECT_TRUE(has(race.out, "        ./grade explain shared-race\n")) << race.out;
  course.save("//! test Scratch.Adds 1\n//! fail c[0] is 0, expected 1.\n");
  const Ran wrong = course.grade({"run"});
  EXPECT_FALSE(has(wrong.out, "explain")) << wrong.out;
}

TEST(CheckAll, GradesWhatIsPending) {
  const ScratchCourse course;
  course.save(kGood);
  const Ran ran = course.grade({"check-all"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(has(ran.out, "PASS  01_begin/01_first")) << ran.out;
  EXPECT_TRUE(has(ran.out, "1 passed, 2 failed")) << ran.out;
  EXPECT_LE(widest(ran.out), 80u);
}

TEST(Clean, ShowsSizesAndRemovesOnRequestOnly) {
  const ScratchCourse course;
  const Ran shown = course.grade({"clean"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_TRUE(has(shown.out, ".toolkit")) << shown.out;
  EXPECT_TRUE(fs::exists(course.root() / "build"));
  course.grade({"clean", "build"});  // stdin is empty: no
  EXPECT_TRUE(fs::exists(course.root() / "build"));
  EXPECT_EQ(course.grade({"clean", "build", "--yes"}).status, 0);
  EXPECT_FALSE(fs::exists(course.root() / "build"));
  EXPECT_EQ(course.grade({"clean", "chapters"}).status, 2);
  write_file(course.root() / ".data/mnist/images", "bytes");
  EXPECT_EQ(course.grade({"clean", "data", "--yes"}).status, 0);
  EXPECT_FALSE(fs::exists(course.root() / ".data"));
}

TEST(Watch, NeedsATerminal) {
  const ScratchCourse course;
  EXPECT_EQ(course.grade({"watch"}).status, 2);
}

TEST(Run, SaysTenthsOfShortTimes) {
  ScratchCourse course;
  course.save("//! test First.Works 1\n");
  const Ran ran = course.grade({"run", "first"});
  EXPECT_TRUE(std::regex_search(ran.out, std::regex(" [0-9]\\.[0-9] s\n"))) << ran.out;
}

TEST(Run, NamesTheAssemblerOfTheToolkitInUse) {
  ::unsetenv("GRADE_SIM_PTXAS");  // ./grade selftest has named its own
  ScratchCourse course;
  const fs::path ptxas = course.root() / "toolkit" / "bin" / "ptxas";
  write_file(ptxas, "#!/bin/sh\n");
  fs::permissions(ptxas, fs::perms::owner_all);
  course.set("GRADE_CUDA_HOME", (course.root() / "toolkit").string());
  course.save("//! test First.Works 1\n//! variable GRADE_SIM_PTXAS " + ptxas.string() + "\n");
  const Ran found = course.grade({"run", "first"});
  EXPECT_EQ(found.status, 0) << found.out << found.err;
  course.set("GRADE_SIM_PTXAS", "none");  // the learner's own word is kept
  course.save("//! test First.Works 1\n//! variable GRADE_SIM_PTXAS none\n");
  EXPECT_EQ(course.grade({"run", "first"}).status, 0);
  course.save("//! test First.Works 1\n//! variable GRADE_SIM_PTXAS other\n");
  EXPECT_EQ(course.grade({"run", "first"}).status, 1);
}

TEST(Exec, RefusesWhatItCannotStart) {
  const ScratchCourse course;
  EXPECT_EQ(course.grade({"exec"}).status, 2);
  const Ran missing = course.grade({"exec", "--", "/nowhere/program"});
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(has(missing.err, "/nowhere/program")) << missing.err;
  write_file(course.root() / "static",
             "\x7f"
             "ELF .nv_fatbin and no library");
  fs::permissions(course.root() / "static", fs::perms::owner_all);
  const Ran linked = course.grade({"exec", "--", (course.root() / "static").string()});
  EXPECT_EQ(linked.status, 2);
  EXPECT_TRUE(has(linked.err, "-cudart shared")) << linked.err;
}

TEST(Exec, LeavesTheOptionsOfTheProgramToIt) {
  const Options options =
      parse_arguments({"exec", "--check", "racecheck", "--json=f", "./tests", "--json", "--help"});
  EXPECT_EQ(options.checks, "racecheck");
  EXPECT_EQ(options.json_file, "f");
  EXPECT_EQ(options.rest, (std::vector<std::string>{"./tests", "--json", "--help"}));
  EXPECT_FALSE(options.json || options.help);
}

TEST(Exec, ReportsASourceFileThatDoesNotCompile) {
  const ScratchCourse course;
  write_file(course.root() / "broken.cu", "int main() { return nothing; }\n");
  const Ran ran = course.grade({"exec", (course.root() / "broken.cu").string()});
  EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
}

}  // namespace
}  // namespace grade::test

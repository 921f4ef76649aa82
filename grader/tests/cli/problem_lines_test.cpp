// `./grade run --problems`: one line per place, as editors take lists apart.
#include "cli/problem_lines.h"

#include <gtest/gtest.h>

#include <regex>

#include "course/json.h"
#include "course/text.h"
#include "scratch_course.h"

namespace grade::test {
namespace {

constexpr const char* kFile = "chapters/01_begin/01_first.cu";

Result with_test(const std::string& name, int todo) {
  Result result;
  TestReport test;
  test.name = name;
  test.started = test.finished = true;
  test.properties["todo"] = std::to_string(todo);
  test.failures.push_back({"test.cpp", 9, "c[0] is 1,\n  and  should be 2."});
  result.tests.push_back(test);
  return result;
}

Finding race() {
  Finding finding;
  finding.check = "racecheck";
  finding.kind = "shared-race";
  finding.file = finding.other_file = std::string("/home/me/course/") + kFile;
  finding.line = 7;
  finding.other_line = 9;
  finding.message = "Two threads meet.";
  return finding;
}

TEST(ProblemLines, AFailedTestStandsAtItsTodo) {
  EXPECT_EQ(problem_lines(with_test("S.Adds", 2), kFile, "a\n// TODO(1)\n// TODO(2): b\n"),
            std::string(kFile) + ":3: error: Adds: c[0] is 1, and should be 2.\n");
  EXPECT_EQ(problem_lines(with_test("S.Adds", 2), kFile, "solved\n"),
            std::string(kFile) + ":1: error: Adds: c[0] is 1, and should be 2.\n");
}

TEST(ProblemLines, AFindingStandsAtBothItsPlacesAndExplainsTheFailure) {
  Result result = with_test("S.Adds", 1);
  result.tests[0].findings = {race(), race()};
  const std::string text = problem_lines(result, kFile, "// TODO(1)\n");
  EXPECT_EQ(text, std::string(kFile) + ":7: error: racecheck/shared-race: Two threads meet.\n" +
                      kFile +
                      ":9: note: racecheck/shared-race: the other place of the one at line 7\n");
}

TEST(ProblemLines, NotesDoNotExplainAFailureAndPlantedFindingsAreSilent) {
  Result result = with_test("S.Adds", 1);
  Finding note = race(), planted = race();
  note.is_note = planted.expected = true;
  note.other_line = 0;
  result.tests[0].findings = {note, planted};
  EXPECT_EQ(problem_lines(result, kFile, "// TODO(1)\n"),
            std::string(kFile) + ":7: note: racecheck/shared-race: Two threads meet.\n" + kFile +
                ":1: error: Adds: c[0] is 1, and should be 2.\n");
}

TEST(ProblemLines, APassSaysNothing) {
  Result result = with_test("S.Adds", 1);
  result.tests[0].passed = true;
  EXPECT_EQ(problem_lines(result, kFile, ""), "");
}

TEST(ProblemLines, TheCommandPrintsThemAndTheStatusIsTheVerdicts) {
  const ScratchCourse course;
  course.save("// TODO(1)\n//! test Scratch.Adds 1\n//! fail c[0] is 1.\n");
  const Ran ran = course.grade({"run", "--problems"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out,
            std::string("chapters/") + ScratchCourse::kFirst + ".cu:1: error: Adds: c[0] is 1.\n");
}

// What .vscode/tasks.json looks for is what is printed.
TEST(ProblemLines, TheTasksOfVisualStudioCodeReadThem) {
  const fs::path file = fs::path(GRADE_CLONE) / ".vscode" / "tasks.json";
  const course::Json tasks = course::parse_json(read_file(file), file.string());
  const course::Json& first = tasks.find("tasks")->items.at(0);
  EXPECT_NE(first.string_or("command").find("--problems"), std::string::npos);
  const std::regex pattern(first.find("problemMatcher")->find("pattern")->string_or("regexp"));
  Result result = with_test("S.Adds", 1);
  result.tests[0].findings = {race()};
  result.build.diagnostics.push_back({kFile, 4, false, "variable \"x\" is unused: see 1:2", {}});
  const std::string text = problem_lines(result, kFile, "// TODO(1)\n");
  std::vector<std::string> seen;
  for (const std::string& line : course::split_lines(text)) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, pattern)) << line;
    EXPECT_EQ(match[1], kFile);
    seen.push_back(match[2].str() + " " + match[3].str());
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"4 warning", "7 error", "9 note"}));
}

}  // namespace
}  // namespace grade::test

// Every gate is green on a course that keeps its rule, and fails, with a message that names the
// file, when the rule is broken.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "miniature_course.h"

namespace grade {
namespace {

constexpr char kStarter[] = "chapters/02_vector_add/01_vector_add.cu";
constexpr char kSolution[] = "solutions/02_vector_add/01_vector_add.cu";
constexpr char kMutants[] = "grader/tests/exercises/02_vector_add/01_vector_add/mutants.txt";
constexpr char kPage[] = "chapters/02_vector_add/README.md";

class Gates : public testing::Test {
 protected:
  // Gates 1, 2 and 3 need nothing but files.
  Answer files() { return course_.grade({"dev", "check", "--files-only"}); }
  Answer all() { return course_.grade({"dev", "check"}); }

  static void expect_failure(const Answer& answer, int gate, const std::string& message) {
    EXPECT_EQ(answer.status, 1) << answer.text;
    EXPECT_NE(answer.text.find("FAIL  gate " + std::to_string(gate) + " ("), std::string::npos)
        << answer.text;
    EXPECT_NE(answer.text.find(message), std::string::npos) << "expected: " << message << "\n"
                                                            << answer.text;
    EXPECT_NE(answer.text.find(" failed"), std::string::npos) << answer.text;
  }

  MiniatureCourse course_;
};

// The names that `grade dev --help` lists, and those that only the build calls.
std::vector<std::string> dev_commands(const std::string& help) {
  std::vector<std::string> names{"plant", "derive", "dispatch"};
  const std::regex line("\n  \\./grade dev ([a-z]+) ");
  for (std::sregex_iterator at(help.begin(), help.end(), line), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

TEST_F(Gates, EveryDevCommandPrintsItsHelp) {
  const std::vector<std::string> names = dev_commands(course_.grade({"dev", "--help"}).text);
  ASSERT_EQ(names.size(), 9u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Answer answer = course_.grade({"dev", name, "--help"});
    EXPECT_EQ(answer.status, 0) << answer.text;
    EXPECT_EQ(answer.text.find("./grade dev " + name + " "), 0u) << answer.text;
    const size_t second = answer.text.find('\n') + 1;
    EXPECT_EQ(answer.text.find("  ", second), second) << answer.text;
    EXPECT_GT(answer.text.find('\n', second), second + 10) << "no summary\n" << answer.text;
    const Answer brief = course_.grade({"dev", name, "-h"});
    EXPECT_EQ(brief.status, 0) << brief.text;
    EXPECT_EQ(brief.text, answer.text);
  }
}

TEST_F(Gates, HelpOfADevCommandExplainsItsOptionsAndDoesNothingElse) {
  const std::string starter = course_.read(kStarter);
  course_.edit(kStarter, "TODO(1)", "edited");
  const std::string edited = course_.read(kStarter);
  ASSERT_NE(edited, starter);
  const Answer answer = course_.grade({"dev", "sync", "--force", "01", "-h"});
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_EQ(course_.read(kStarter), edited);
  for (const char* option : {"\n  --check ", "\n  --force ", "\n  --no-figures "})
    EXPECT_NE(answer.text.find(option), std::string::npos) << answer.text;
}

TEST_F(Gates, AnUnknownOptionOfADevCommandIsStillRefused) {
  const Answer answer = course_.grade({"dev", "sync", "--helpp"});
  EXPECT_EQ(answer.status, 2) << answer.text;
  EXPECT_NE(answer.text.find("unknown option --helpp"), std::string::npos) << answer.text;
}

TEST_F(Gates, AllAreGreenWhenEveryRuleIsKept) {
  const Answer answer = all();
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find(" passed, 0 failed\n"), std::string::npos) << answer.text;
  for (int gate = 1; gate <= 9; ++gate) {
    EXPECT_NE(answer.text.find("  gate " + std::to_string(gate) + "  "), std::string::npos)
        << "gate " << gate << " checked nothing\n"
        << answer.text;
  }
}

TEST_F(Gates, AVerdictIsReusedUntilTheProgramChanges) {
  all();
  EXPECT_NE(all().text.find("unchanged)"), std::string::npos);
  course_.replace_program("solution", "starter");
  expect_failure(all(), 4, "must pass with all checks on");
}

TEST_F(Gates, OneWantsEveryFile) {
  course_.remove("chapters/02_vector_add/01_vector_add_hints.md");
  expect_failure(files(), 1, "chapters/02_vector_add/01_vector_add_hints.md is missing");
}

TEST_F(Gates, OneWantsThreeHintSteps) {
  course_.write("chapters/02_vector_add/01_vector_add_hints.md",
                "## TODO 1\n\na\n\nb\n\nc\n\n## TODO 2\n\na\n");
  expect_failure(files(), 1, "01_vector_add_hints.md:9: TODO 2 has 1 hint step");
}

TEST_F(Gates, OneWantsNoStrayFile) {
  course_.write("chapters/02_vector_add/notes.txt", "x\n");
  expect_failure(files(), 1, "chapters/02_vector_add/notes.txt belongs to no exercise");
}

TEST_F(Gates, OneWantsFilesToBeCalledByTheirNames) {
  course_.edit(kPage, "[above](#one).", "[above](#one). As `03_saxpy.h` says.");
  expect_failure(files(), 1, std::string(kPage) + ":12: there is no \"03_saxpy.h\"");
  course_.edit(kPage, "`03_saxpy.h`", "`01_..._hints.md`");
  expect_failure(files(), 1, "there is no \"01_..._hints.md\"");
  course_.edit(kPage, "`01_..._hints.md`", "`01_vector_add.py`");
  expect_failure(files(), 1, "there is no \"01_vector_add.py\"");
  course_.edit(kPage, "`01_vector_add.py`", "`./grade run 01_vectors`");
  expect_failure(files(), 1, "there is no \"01_vectors\"");
  course_.edit(kPage, "01_vectors`", "01_vector`, `01_vector_add_hints.md`");
  EXPECT_EQ(files().status, 0) << files().text;
}

TEST_F(Gates, OneWantsIncludeGuardsThatAreTheNameOfTheirHeader) {
  constexpr char kHeader[] = "chapters/02_vector_add/01_vector_add.h";
  const std::string whole = course_.read(kHeader),
                    guard = "CHAPTERS_02_VECTOR_ADD_01_VECTOR_ADD_H_";
  for (const std::string place : {"#ifndef ", "#define ", "#endif  // "}) {
    course_.edit(kHeader, place + guard, place + "CHAPTERS_02_VECTOR_ADD_02_VECTOR_ADD_H_");
    expect_failure(files(), 1, std::string(kHeader) + ": its include guard is " + guard);
    course_.write(kHeader, whole);
  }
}

TEST_F(Gates, OneWantsNothingNeededBeforeItIsTaught) {
  course_.edit("chapters/course.json", "\"needs\": []", "\"needs\": [\"streams\"]");
  expect_failure(files(), 1, "needs \"streams\", which no earlier exercise teaches");
}

TEST_F(Gates, OneWantsTheNumberOfTodosOfTheManifest) {
  course_.edit("chapters/course.json", "\"todos\": 2", "\"todos\": 3");
  expect_failure(files(), 1, "has 2 TODOs, course.json:6 says 3");
}

TEST_F(Gates, OneListsWhatIsNotAsked) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n\"not_asked\": {\"streams\": \"It teaches what comes first.\"},");
  const Answer answer = files();
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find("01_vector_add is not asked streams"), std::string::npos)
      << answer.text;
  EXPECT_NE(answer.text.find("It teaches what comes first."), std::string::npos) << answer.text;
}

TEST_F(Gates, OneWantsTheTestThatIsNotAsked) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n\"not_asked\": {\"streams VectorAdd.IsGone\": "
               "\"It teaches what comes first.\"},");
  expect_failure(files(), 1, "is not asked \"streams\" in VectorAdd.IsGone");
}

TEST_F(Gates, OneRefusesAnUnknownKeyWithItsLine) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n      \"colour\": 1,");
  const Answer answer = files();
  EXPECT_EQ(answer.status, 2) << answer.text;
  EXPECT_NE(answer.text.find("course.json:10: unknown key \"colour\""), std::string::npos)
      << answer.text;
}

TEST_F(Gates, ZeroExercisesIsAnError) {
  course_.write("chapters/course.json",
                "{\"format\": 1, \"title\": \"T\", \"chapters\": [], \"exercises\": []}\n");
  const Answer answer = files();
  EXPECT_EQ(answer.status, 2) << answer.text;
  EXPECT_NE(answer.text.find("the course has no exercises"), std::string::npos) << answer.text;
}

TEST_F(Gates, TwoWantsTheCommittedStarterToBeTheImage) {
  course_.edit(kSolution, "constexpr int kBlock = 256;", "constexpr int kBlock = 512;");
  expect_failure(files(), 2,
                 "differs from what solutions/02_vector_add/01_vector_add.cu makes of it");
  EXPECT_EQ(course_.grade({"dev", "sync", "--check"}).status, 1);
  EXPECT_EQ(course_.grade({"dev", "sync"}).status, 0);
  expect_failure(files(), 2, "01_vector_add.cu is right, but git has an older one: git add it.");
  course_.add_to_git();
  EXPECT_EQ(files().status, 0) << files().text;
}

TEST_F(Gates, TwoKeepsAnAnswerThatIsInGit) {
  const std::string answer = course_.read(kStarter) + "// mine\n";
  course_.write(kStarter, answer);
  course_.add_to_git();
  const Answer synced = course_.grade({"dev", "sync"});
  EXPECT_NE(synced.text.find(".kept/02_vector_add/01_vector_add.1.cu"), std::string::npos)
      << synced.text;
  EXPECT_EQ(course_.read(".kept/02_vector_add/01_vector_add.1.cu"), answer);
}

TEST_F(Gates, TwoLeavesALearnersFileAlone) {
  const std::string edited = course_.read(kStarter) + "// mine\n";
  course_.write(kStarter, edited);
  EXPECT_EQ(files().status, 0) << files().text;
  const Answer answer = course_.grade({"dev", "sync"});
  EXPECT_NE(answer.text.find("left alone"), std::string::npos) << answer.text;
  EXPECT_EQ(course_.read(kStarter), edited);
}

TEST_F(Gates, TwoUsesTheChecksumsWhereThereIsNoGit) {
  course_.forget_git();
  EXPECT_EQ(files().status, 0) << files().text;
  course_.edit("chapters/checksums.txt", "  chapters/", "0  chapters/");
  expect_failure(files(), 2, "chapters/02_vector_add/01_vector_add.cu differs from");
}

TEST_F(Gates, TwoNamesTheLineOfAMarkerThatIsNotClosed) {
  course_.edit(kSolution, "  //~end\n}\n\nvoid", "}\n\nvoid");
  expect_failure(files(), 2, "01_vector_add.cu:20: //~begin inside the region");
}

TEST_F(Gates, ThreeWantsTheTableOfInstructionsToFollowTheirList) {
  const std::string mark = "# S\n\n<!-- from: opcodes grader/simulator/decode/opcodes.def -->\n";
  const std::string head = "| instruction | forms |\n| --- | --- |\n| **logic** | |\n";
  course_.write("grader/simulator/decode/opcodes.def",
                "// ---- logic\nOPCODE(and, logic, 1, \"b16 \"\n \"b32\", .sources = 2)\n");
  course_.write("grader/simulator/README.md", mark + head + "| `and` | b16 |\n<!-- end -->\n");
  expect_failure(files(), 3, "README.md:3: the table differs from opcodes");
  course_.write("grader/simulator/README.md", mark + head + "| `and` | b16 b32 |\n<!-- end -->\n");
  const Answer answer = files();
  EXPECT_EQ(answer.status, 0) << answer.text;
}

TEST_F(Gates, ThreeWantsTheTableOfSpeedsToFollowTheRun) {
  course_.write(
      "assets/benchmarks/run.json",
      "{\"card\": \"C\", \"toolkit\": \"13.0\", \"date\": \"2026-11-21\", \"runs\": [\n"
      "{\"exercise\": \"02_vector_add/01_vector_add\", \"speeds\": [{\"test\": "
      "\"VectorAdd.IsFast\", \"case\": \"n = 31\",\n\"seconds\": 0.001, \"bytes\": 4e9, \"flops\": "
      "1e9, "
      "\"ratios\": [\n{\"kind\": \"ceiling\", \"name\": \"copy rate\", \"ratio\": 0.95},\n"
      "{\"kind\": \"stage\", \"name\": \"one block\", \"ratio\": 12.5}]}]}]}\n");
  const std::string page = course_.read(kPage);
  const std::string mark = page + "\n<!-- from: speeds run.json 02_vector_add -->\n";
  const std::string rows =
      "\nC, CUDA 13.0, 2026-11-21.\n\n| solution: test | work | a call takes | rate | compared |\n"
      "| --- | --- | --- | --- | --- |\n"
      "| 01_vector_add: IsFast, n = 31 | 4 GB | 1 ms | 4 TB/s | 95 % of the copy rate |\n";
  course_.write(kPage, mark + rows + "\n<!-- end -->\n");
  expect_failure(files(), 3, "the table differs from speeds");
  course_.write(
      kPage, mark + rows + "|  |  |  |  | 12.50 times the speed of one block |\n\n<!-- end -->\n");
  const Answer answer = files();
  EXPECT_EQ(answer.status, 0) << answer.text;
}

TEST_F(Gates, ThreeWantsIndexesAndRoutesToFollowTheCourse) {
  const std::string begin = "# Ways\n\n<!-- from: route 02/01 -->\n",
                    concepts = "<!-- from: index concepts -->\n",
                    calls = "<!-- from: index calls -->\n", end = "<!-- end -->\n\n";
  course_.write("docs/ways.md", begin + end + concepts + end + calls + end);
  expect_failure(files(), 3, "docs/ways.md:3: the table differs from route 02/01");
  EXPECT_EQ(course_.grade({"dev", "sync", "--no-figures"}).status, 0);
  const std::string page = course_.read("docs/ways.md");
  const std::string link = "[02/01 vector_add](../chapters/02_vector_add/01_vector_add.cu)";
  for (const std::string& row :
       {"| " + link + " | a kernel | 15 |\n| **together** | | **15 min** |",
        "| a kernel | " + link + " |  |"}) {
    EXPECT_NE(page.find(row), std::string::npos) << row << " is not in\n" << page;
  }
  EXPECT_EQ(files().status, 0) << files().text;
  course_.write("docs/ways.md", "# Ways\n\n<!-- from: route 02/07 -->\n" + end);
  expect_failure(files(), 3, "no exercise has the number 02/07");
}

TEST_F(Gates, SyncFillsARatioOfARun) {
  course_.write("assets/benchmarks/run.json",
                "{\"runs\": [{\"exercise\": \"02_vector_add/01_vector_add\", \"speeds\": [\n"
                "{\"ratios\": [{\"name\": \"CUB Sum\", \"ratio\": 1.026}]},\n"
                "{\"ratios\": [{\"name\": \"CUB Sum\", \"ratio\": 0.5}]}]}]}\n");
  const std::string mark = "<!-- from: ratio run.json 02_vector_add/01_vector_add \"CUB Sum\"";
  course_.write("docs/page.md", mark + " -->0<!-- end -->, " + mark + " 2 -->0<!-- end -->\n");
  EXPECT_EQ(course_.grade({"dev", "sync", "--no-figures"}).status, 0);
  EXPECT_EQ(course_.read("docs/page.md"),
            mark + " -->1.03<!-- end -->, " + mark + " 2 -->0.50<!-- end -->\n");
  course_.write("docs/page.md", mark + " 3 -->0<!-- end -->\n");
  const Answer answer = course_.grade({"dev", "sync", "--no-figures"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_NE(answer.text.find("run.json has no such comparison"), std::string::npos) << answer.text;
}

TEST_F(Gates, SyncFillsATableFromAFile) {
  course_.write("assets/benchmarks/ways.json",
                "{\"columns\": [\"way\", \"run\"], \"rows\": [[\"NumPy\", \"2 ms\"], "
                "[\"CUDA\", \"9 us\"]]}\n");
  const std::string mark = "<!-- from: table ways.json -->\n";
  course_.write("docs/page.md", mark + "\n<!-- end -->\n");
  EXPECT_EQ(course_.grade({"dev", "sync", "--no-figures"}).status, 0);
  EXPECT_EQ(course_.read("docs/page.md"),
            mark +
                "\n| way | run |\n| --- | --- |\n| NumPy | 2 ms |\n| CUDA | 9 us |\n\n"
                "<!-- end -->\n");
  course_.edit("assets/benchmarks/ways.json", "9 us", "8 us");
  expect_failure(files(), 3, "the table differs from table ways.json");
}

TEST_F(Gates, ThreeWantsShortSentencesOfChaptersAndOfTheFrontPage) {
  const std::string before = course_.read(kPage);
  course_.write(kPage, before + "\n\nThis is simply true.\n");
  expect_failure(files(), 3, "\"simply\" says nothing");
  course_.write(kPage, before);
  course_.write("README.md", "# Course\n\nThis is just true.\n");
  expect_failure(files(), 3, "README.md:3: \"just\" says nothing");
}

TEST_F(Gates, ThreeWantsPagesThatSayHowToStartToSayWhatRunsThem) {
  for (const char* page : {"README.md", "setup/README.md"}) {
    const std::string name = page;
    course_.write(name, "# Course\n\n```\n./grade\n```\n");
    expect_failure(files(), 3, name + ":3: say before this block what keeps it true");
    course_.write(name, "# Course\n\n<!-- not run: needs a keyboard -->\n\n```\n./grade\n```\n");
    EXPECT_EQ(files().text.find(name + ":"), std::string::npos);
  }
}

TEST_F(Gates, ThreeWantsPagesBelowDocsToKeepTheirRules) {
  course_.write("docs/page.md", "# One\n\nThis is simply true.\n");
  expect_failure(files(), 3, "docs/page.md:3: \"simply\" says nothing");
  course_.write("docs/page.md", "# One\n\n```console\n$ ls\n```\n");
  expect_failure(files(), 3, "docs/page.md:3: say before this block what keeps it true");
  course_.write("docs/page.md", "# One\n\n<!-- from: file docs/a.txt -->\n```\nb\n```\n");
  course_.write("docs/a.txt", "a\n");
  expect_failure(files(), 3, "docs/page.md:3: the code differs from file docs/a.txt");
}

TEST_F(Gates, ThreeWantsCodeToEqualItsRegion) {
  course_.edit(kPage, "(n + kBlock - 1) / kBlock", "n / kBlock");
  expect_failure(files(), 3, "README.md:3: the code differs from region");
}

TEST_F(Gates, ThreeWantsLinksToResolve) {
  course_.edit(kPage, "(01_vector_add.cu)", "(02_saxpy.cu)");
  expect_failure(files(), 3, "the link \"02_saxpy.cu\" leads to no file");
}

TEST_F(Gates, ThreeWantsHeadingsToExist) {
  course_.edit(kPage, "(#one)", "(#two)");
  expect_failure(files(), 3, "the link \"#two\" names no heading");
}

TEST_F(Gates, FourWantsTheSolutionToPass) {
  course_.replace_program("solution", "starter");
  expect_failure(all(), 4, "solutions/02_vector_add/01_vector_add.cu must pass with all checks on");
}

TEST_F(Gates, FourWantsTheSolutionToBuild) {
  course_.write("build/sim/build.ninja",
                "rule fail\n  command = echo 'solutions/02_vector_add/01_vector_add.cu(9): error: "
                "no semicolon'; false\nbuild 02_vector_add.01_vector_add.solution: fail\n"
                "build 02_vector_add.01_vector_add.starter: phony\n"
                "build 02_vector_add.01_vector_add.derived: phony\n");
  expect_failure(all(), 4, "does not build");
}

TEST_F(Gates, FourCompilesWhatNeedsAGpuAndNeverCountsItAsPassed) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n      \"device\": \"gpu\",");
  const Answer answer = all();
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find("  gate 4  solutions   0 passed, 0 failed, 1 skipped"),
            std::string::npos)
      << answer.text;
  EXPECT_NE(answer.text.find("needs a GPU; its solution, its starter and its test compile"),
            std::string::npos)
      << answer.text;
  for (const char* gate : {"gate 5", "gate 6", "gate 7", "gate 8"}) {
    EXPECT_EQ(answer.text.find(gate), std::string::npos) << answer.text;
  }
}

TEST_F(Gates, FourSaysWhyWhatNeedsAGpuIsNotCompiled) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n      \"device\": \"gpu\",");
  course_.write("build/sim/course/02_vector_add.01_vector_add.missing",
                "needs cusolver, which is not here\n");
  const Answer answer = all();
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find("1 skipped"), std::string::npos) << answer.text;
  EXPECT_NE(answer.text.find("not compiled here either: it needs cusolver, which is not here"),
            std::string::npos)
      << answer.text;
}

TEST_F(Gates, FourLeavesOutWhatLacksALibrary) {
  course_.write("build/sim/course/02_vector_add.01_vector_add.missing",
                "needs cutlass, which is not here\n");
  const Answer answer = all();
  EXPECT_EQ(answer.status, 0) << answer.text;
  EXPECT_NE(answer.text.find("02_vector_add/01_vector_add: needs cutlass, which is not here"),
            std::string::npos)
      << answer.text;
  EXPECT_EQ(answer.text.find("gate 7"), std::string::npos) << answer.text;
}

TEST_F(Gates, FourWantsWhatNeedsAGpuToCompile) {
  course_.edit("chapters/course.json", "\"minutes\": 15,",
               "\"minutes\": 15,\n      \"device\": \"gpu\",");
  course_.write("build/sim/build.ninja",
                "ninja_required_version = 1.3\nrule fail\n  command = false\n"
                "build 02_vector_add.01_vector_add.compiled: fail\n");
  expect_failure(all(), 4, "does not build");
}

TEST_F(Gates, FiveWantsTheStarterNotToPass) {
  course_.replace_program("starter", "solution");
  expect_failure(all(), 5, "chapters/02_vector_add/01_vector_add.cu passes as it is");
}

TEST_F(Gates, FiveWantsTheStarterNotToCrash) {
  course_.write("build/sim/course/crash", "#!/bin/sh\nkill -SEGV $$\n");
  std::filesystem::permissions(course_.root() / "build/sim/course/crash",
                               std::filesystem::perms::owner_all);
  std::filesystem::rename(course_.root() / "build/sim/course/crash",
                          course_.root() / "build/sim/course/02_vector_add.01_vector_add.starter");
  expect_failure(all(), 5, "ended early outside the tests: segmentation fault");
}

TEST_F(Gates, SixWantsAnAblationToFail) {
  course_.replace_program("derived", "solution");
  expect_failure(all(), 6, "with only TODO 1 reverted still passes");
}

TEST_F(Gates, SevenWantsAMutantToBeCaught) {
  course_.replace_program("derived", "solution");
  expect_failure(all(), 7, "is not caught: every test passes");
}

TEST_F(Gates, SevenWantsAMutantToFailAsItNames) {
  course_.edit(kMutants, "expect: finding:memcheck", "expect: finding:racecheck");
  expect_failure(all(), 7, "fails, but not as it names: expected finding:racecheck");
}

TEST_F(Gates, SevenWantsTheTestOfAMutantToExist) {
  course_.edit(kMutants, "expect: VectorAdd.CoversSizesThatAreNotBlockMultiples",
               "expect: VectorAdd.NoSuchTest");
  expect_failure(all(), 7, "VectorAdd.NoSuchTest, but the test program has no such test");
}

TEST_F(Gates, SevenWantsTheLinesToFindExactlyOnce) {
  course_.edit(kMutants, "|  if (i < n) {", "|  if (i < m) {");
  expect_failure(files(), 1, "occur 0 times in the solution, expected exactly once");
  expect_failure(all(), 7, "occur 0 times in the solution, expected exactly once");
}

TEST_F(Gates, EightWantsAcceptedVariantsToPass) {
  course_.replace_program("derived", "starter");
  expect_failure(all(), 8, "variant_grid_stride.cu must pass with all checks on");
}

TEST_F(Gates, NineWantsFiguresToEqualTheirSource) {
  course_.edit("assets/benchmarks/cards.json", "4.25", "4.5");
  expect_failure(files(), 9,
                 "README.md:14: the page shows \"4.25\", but benchmark cards.json h200 copy "
                 "gives \"4.5\" now");
  EXPECT_NE(course_.grade({"dev", "sync", "--no-figures", "--check"}).status, 0);
  EXPECT_EQ(course_.grade({"dev", "sync", kPage}).status, 0);  // that page alone
  EXPECT_NE(course_.read(kPage).find("-->4.5<!--"), std::string::npos);
  EXPECT_EQ(course_.grade({"dev", "sync", "no_such_page.md"}).status, 2);
}

TEST_F(Gates, NineLooksAtTheFrontPageToo) {
  const std::string page = "# Course\n\n<!-- from: benchmark cards.json h200 copy -->";
  course_.write("README.md", page + "4.5<!-- end -->\n");
  expect_failure(files(), 9, "the page shows \"4.5\", but benchmark cards.json h200 copy");
  EXPECT_EQ(course_.grade({"dev", "sync", "--no-figures"}).status, 0);
  EXPECT_EQ(course_.read("README.md"), page + "4.25<!-- end -->\n");
}

TEST_F(Gates, NineWantsFewNewLinesPerStep) {
  const std::string exercise = "02_vector_add/01_vector_add";
  const std::string mark = "# Course\n\n<!-- from: changed " + exercise + " " + exercise;
  course_.write("README.md", mark + " 60 -->1<!-- end -->\n");
  expect_failure(files(), 9, "the page shows \"1\", but changed " + exercise);
  course_.write("README.md", mark + " -1 -->0<!-- end -->\n");
  expect_failure(files(), 9, exercise + " has 0 lines of code that " + exercise + " does not have");
}

TEST_F(Gates, NewMakesAnExerciseThatPassesTheGatesOfFiles) {
  const Answer answer = course_.grade({"dev", "new", "02_vector_add/02_scale_twice"});
  ASSERT_EQ(answer.status, 0) << answer.text;
  const std::string manifest = course_.read("chapters/course.json");
  EXPECT_NE(manifest.find("\"title\": \"Scale twice\""), std::string::npos) << manifest;
  course_.grade({"dev", "sync"});
  course_.add_to_git();
  const Answer check = files();
  EXPECT_EQ(check.status, 0) << check.text;
  // One exercise has a starter to check, its chapter two.
  const std::string starters = "gate 2  starters    ";
  for (const auto& [named, count] :
       {std::pair("02_vector_add/02_scale_twice", "1 passed"),
        std::pair("02_vector_add", "2 passed"), std::pair("02", "2 passed")}) {
    const Answer some = course_.grade({"dev", "check", named, "--files-only"});
    EXPECT_NE(some.text.find(starters + count), std::string::npos) << named << "\n" << some.text;
  }
}

}  // namespace
}  // namespace grade

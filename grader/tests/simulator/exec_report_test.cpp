// What `grade exec` does with findings: which it counts, which it knows already, what it writes.
#include "runtime/exec_report.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace warplings::sim {
namespace {

Finding race() {
  Finding finding;
  finding.check = "racecheck";
  finding.kind = "shared-race";
  finding.message = "two \"threads\" meet";
  finding.where = {"/src/library/reduce.cuh", 41};
  finding.other = {"/src/app/main.cu", 7};
  finding.kernel = "reduce_all";
  return finding;
}

bool covered(const std::string& rules, const Finding& finding) {
  Suppressions suppressions;
  EXPECT_EQ(suppressions.parse(rules), "");
  return suppressions.covers(finding);
}

TEST(Suppressions, CoverByCheckKindFileLineAndKernel) {
  EXPECT_FALSE(covered("", race()));
  EXPECT_TRUE(covered("racecheck", race()));
  EXPECT_TRUE(covered("racecheck/shared-race reduce.cuh:41 reduce_*", race()));
  EXPECT_TRUE(covered("# known\n\n  * library/*.cuh  # upstream\n", race()));
  EXPECT_FALSE(covered("memcheck", race()));
  EXPECT_FALSE(covered("racecheck/global-race", race()));
  EXPECT_FALSE(covered("racecheck reduce.cuh:42", race()));
  EXPECT_FALSE(covered("racecheck reduce.cuh:41 scan_*", race()));
  EXPECT_FALSE(covered("racecheck educe.cuh", race())) << "part of a name is not the name";
}

TEST(Suppressions, CoverARaceByEitherSide) {
  EXPECT_TRUE(covered("racecheck main.cu:7", race()));
  Finding one_sided = race();
  one_sided.other = {};
  EXPECT_FALSE(covered("racecheck main.cu:7", one_sided));
}

TEST(Suppressions, NameTheLineThatIsWrong) {
  Suppressions suppressions;
  EXPECT_NE(suppressions.parse("racecheck\nracechek f.cu\n").find("line 2: there is no check rac"),
            std::string::npos);
  EXPECT_NE(suppressions.parse("racecheck f.cu k more").find("line 1"), std::string::npos);
}

// Sets variables for its scope, and offers a file of its own.
class Configured : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "exec_report_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    for (const char* name : {"CHECKS", "SUPPRESSIONS", "JSON", "STATUS"}) {
      unsetenv((std::string("GRADE_EXEC_") + name).c_str());
    }
    std::filesystem::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    setenv(("GRADE_EXEC_" + name).c_str(), value.c_str(), 1);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  static std::vector<nlohmann::json> lines_of(const std::string& path) {
    std::ifstream file(path);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

 private:
  std::filesystem::path folder_;
};
using ExecReportTest = Configured;

TEST_F(ExecReportTest, EndsWithItsStatusOnlyForErrors) {
  ExecReport report;
  ASSERT_EQ(report.configure(exit_options_of_environment()), "");
  EXPECT_EQ(report.finish({}), 0);
  Finding note = race();
  note.is_note = true;
  EXPECT_EQ(report.finish({note}), 0);
  EXPECT_EQ(report.finish({note, race()}), 99);
}

TEST_F(ExecReportTest, CountsOnlyTheChosenChecks) {
  set("CHECKS", "memcheck,initcheck");
  ExecReport report;
  ASSERT_EQ(report.configure(exit_options_of_environment()), "");
  testing::internal::CaptureStderr();
  report.add(race());
  EXPECT_EQ(report.finish({race()}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(ExecReportTest, CountsSuppressedFindingsApart) {
  std::ofstream(path("known.txt")) << "racecheck reduce.cuh\n";
  set("SUPPRESSIONS", path("known.txt"));
  set("JSON", path("found.json"));
  ExecReport report;
  ASSERT_EQ(report.configure(exit_options_of_environment()), "");
  testing::internal::CaptureStderr();
  report.add(race());
  EXPECT_EQ(report.finish({race()}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "grade exec: no findings but 1 suppressed\n");
  const auto lines = lines_of(path("found.json"));
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["suppressed"], true);
  EXPECT_EQ(lines[0]["message"], "two \"threads\" meet");
  EXPECT_EQ(lines[0]["other_line"], 7);
  EXPECT_EQ(lines[1]["event"], "end");
  EXPECT_EQ(lines[1]["errors"], 0);
  EXPECT_EQ(lines[1]["suppressed"], 1);
}

TEST_F(ExecReportTest, RefusesWhatItCannotRead) {
  const auto problem = [] { return ExecReport().configure(exit_options_of_environment()); };
  set("CHECKS", "racecheck,rachecheck");
  EXPECT_NE(problem().find("no check rachecheck"), std::string::npos);
  set("CHECKS", "racecheck");
  EXPECT_EQ(problem(), "");
  set("STATUS", "300");
  EXPECT_NE(problem().find("300"), std::string::npos);
  set("STATUS", "7");
  set("SUPPRESSIONS", path("missing.txt"));
  EXPECT_NE(problem().find("missing.txt"), std::string::npos);
}

TEST_F(ExecReportTest, TakesAnotherStatus) {
  set("STATUS", "7");
  ExecReport report;
  ASSERT_EQ(report.configure(exit_options_of_environment()), "");
  EXPECT_EQ(report.finish({race()}), 7);
}

}  // namespace
}  // namespace warplings::sim

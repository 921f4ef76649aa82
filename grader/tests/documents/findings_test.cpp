// Every kind of finding that the simulator can report has an explanation, and no explanation is of
// a kind that it has not. The kinds are read from the sources and from the planted defects.
#include "cli/findings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include "course/manifest.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

const fs::path kCourse = PROJECT_ROOT;

std::string sources_below(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(kCourse / folder)) {
      const std::string end = entry.path().extension().string();
      if (end == ".cpp" || end == ".cu" || end == ".h" || end == ".txt") {
        text += course::read_text(entry.path());
      }
    }
  }
  return text;
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) {
    found.insert((*at)[1].str());
  }
  return found;
}

const std::vector<ExplainedFinding>& explained() {
  static const std::vector<ExplainedFinding> all = read_findings(kCourse);
  return all;
}

bool is_explained(const std::string& kind) {
  for (const ExplainedFinding& finding : explained()) {
    if (finding.is(kind)) return true;
  }
  return false;
}

TEST(Findings, OfPlantedDefectsAndMutantsAreExplained) {
  const std::string text = sources_below({"grader/tests/corpus", "grader/tests/exercises"});
  const std::set<std::string> kinds =
      matches(text, "(?:planted: \\w+ |noted: \\w+ |finding:)[a-z]+/([a-z-]+)");
  EXPECT_GT(kinds.size(), 30u);
  for (const std::string& kind : kinds) EXPECT_TRUE(is_explained(kind)) << kind;
}

// "memcheck", "double-free" in a call, kind = "...", {"mbarrier-count", and return "shared-race".
TEST(Findings, ThatTheSimulatorNamesAreExplained) {
  const std::string text = sources_below({"grader/simulator/checks", "grader/simulator/runtime"});
  std::set<std::string> kinds = matches(
      text,
      "\"(?:memcheck|initcheck|racecheck|synccheck|streamcheck|launch|api)\",\\s*\"([a-z-]+)\"");
  kinds.merge(matches(text, "kind = \"([a-z]+-[a-z-]*[a-z])\""));
  kinds.merge(matches(text, "return \\{\"([a-z]+-[a-z-]+)\",\\s*\""));
  kinds.merge(matches(text, "return \"([a-z]+-(?:race|guess|acquire-fence|value-race))\";"));
  for (const std::string& stem : matches(text, "kind = \"([a-z-]+-)\" \\+ direction")) {
    kinds.insert(stem + "read");
    kinds.insert(stem + "write");
  }
  kinds.merge(matches(sources_below({"grader/simulator/libraries"}),
                      "(?:report|explain)\\(\\s*\"([a-z]+-[a-z-]+)\""));
  for (const ExplainedFinding& finding : explained())
    kinds.erase(finding.check);  // lists of checks
  EXPECT_GT(kinds.size(), 45u);
  for (const std::string& kind : kinds) EXPECT_TRUE(is_explained(kind)) << kind;
}

TEST(Findings, AreExplainedOnceAndExist) {
  const std::string text = sources_below(
      {"grader/simulator/checks", "grader/simulator/runtime", "grader/simulator/libraries"});
  std::set<std::string> seen;
  for (const ExplainedFinding& finding : explained()) {
    EXPECT_FALSE(finding.paragraphs.empty()) << finding.kinds[0];
    for (const std::string& kind : finding.kinds) {
      EXPECT_TRUE(seen.insert(kind).second) << kind << " is explained twice";
      std::string stem = kind;
      if (course::ends_with(kind, "-read")) stem = kind.substr(0, kind.size() - 4);
      if (course::ends_with(kind, "-write")) stem = kind.substr(0, kind.size() - 5);
      const bool exists = text.find("\"" + kind + "\"") != std::string::npos ||
                          text.find("\"" + stem + "\"") != std::string::npos;
      EXPECT_TRUE(exists) << "the simulator never says " << kind;
    }
  }
}

TEST(Findings, AreOfferedForAWordThatTheyHold) {
  const std::string command =
      "GRADE_ROOT='" + kCourse.string() + "' '" GRADE_PROGRAM "' explain shared 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_NE(::pclose(pipe), 0);
  EXPECT_NE(text.find("Did you mean"), std::string::npos) << text;
  EXPECT_NE(text.find("shared-race"), std::string::npos) << text;
}

}  // namespace
}  // namespace grade

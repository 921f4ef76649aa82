// Every submission of this folder is run and must fail, for the reason that it names:
//   // fails: REGEX        a failure of a test, or the way in which the program ended
//   // simulator: REGEX    the same, there only; "passes" where the trick gains nothing
//   // gpu: REGEX
//   // banned: REGEX       it is not run at all, because its object "..."
//                         "gains nothing": it passes, but is no faster than the solution
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "cli/event_reader.h"
#include "cli/object_symbols.h"
#include "cli/process/child.h"

namespace grade {
namespace {

struct Cheat {
  std::string name, mark, text;  // file, "fails", what a failure must say
};
std::ostream& operator<<(std::ostream& out, const Cheat& cheat) { return out << cheat.name; }

bool is_gpu() { return std::string(CHEATS_DEVICE) == "gpu"; }

// The mark that counts on this device.
Cheat read_cheat(const std::filesystem::path& file) {
  static const std::regex mark_line("// (fails|simulator|gpu|banned|link): (.*)");
  Cheat cheat;
  cheat.name = file.stem();
  std::ifstream in(file);
  std::string line;
  // The marks stand in the comment at the top.
  while (std::getline(in, line) && line.rfind("//", 0) == 0) {
    std::smatch match;
    if (!std::regex_match(line, match, mark_line)) continue;
    const std::string mark = match[1];
    if (mark == (is_gpu() ? "simulator" : "gpu")) continue;
    cheat.mark = mark;
    cheat.text = match[2];
  }
  return cheat;
}

std::vector<Cheat> cheats() {
  std::vector<Cheat> found;
  for (const auto& entry : std::filesystem::directory_iterator(CHEATS_SOURCES)) {
    if (entry.path().extension() != ".cu") continue;
    const Cheat cheat = read_cheat(entry.path());
    if (cheat.mark != "link") found.push_back(cheat);
  }
  std::sort(found.begin(), found.end(),
            [](const Cheat& a, const Cheat& b) { return a.name < b.name; });
  return found;
}

std::string all_failures(const Result& result) {
  std::string text = result.early_end;
  for (const TestReport& test : result.tests) {
    for (const Failure& failure : test.failures) text += "\n" + test.name + ": " + failure.message;
  }
  return text;
}

// Ends the program once a test has failed with what `enough` fits; "" for a run of all tests.
Result run(const std::string& program, const std::string& enough = "") {
  Result result;
  EventReader reader(&result);
  const std::regex pattern(enough);
  ChildOptions options;
  options.argv = {program};
  options.own_seconds = 120;
  options.with_channel = true;
  options.on_event = [&](std::string_view line) {
    const bool decides = reader.read(line) != nullptr;
    return !decides || enough.empty() || !std::regex_search(all_failures(result), pattern);
  };
  const ChildResult child = run_child(options);
  result.output = child.out.text() + child.err.text();
  result.early_end = child.end == ChildResult::End::kExited && result.done
                         ? ""
                         : "exit(" + std::to_string(child.status) + ")";
  if (child.end == ChildResult::End::kExited && child.status == 1 && !result.done &&
      result.output.find("ended early: exit()") != std::string::npos) {
    result.early_end = "exit(0)";  // the kit turned it into a failure
  }
  return result;
}

double share_of_copy_rate(const Result& result) {
  for (const TestReport& test : result.tests) {
    for (const SpeedReport& speed : test.speeds) {
      if (!speed.ratios.empty()) return speed.ratios[0].ratio;
    }
  }
  return 0;
}

class CheatTest : public testing::TestWithParam<Cheat> {};

TEST_P(CheatTest, DoesNotPass) {
  const Cheat& cheat = GetParam();
  ASSERT_FALSE(cheat.mark.empty()) << cheat.name << ".cu does not say how it must fail";
  if (cheat.mark == "banned") {
    const std::string object = std::string(CHEATS_OBJECTS) + "/cheats." + cheat.name +
                               ".kernels.dir/" + cheat.name + ".cu.o";
    ASSERT_TRUE(std::filesystem::exists(object)) << object;
    EXPECT_TRUE(std::regex_search(refused_part(object), std::regex(cheat.text)))
        << "it is refused because it \"" << refused_part(object) << "\"";
    return;
  }
  const bool may_pass = cheat.text == "gains nothing" || cheat.text == "passes";
  const Result result =
      run(std::string(CHEATS_PROGRAMS) + "/cheats." + cheat.name, may_pass ? "" : cheat.text);
  const std::string failures = all_failures(result);
  if (may_pass) {
    EXPECT_EQ(failures, "");
    if (cheat.text == "gains nothing" && is_gpu()) {
      const Result honest = run(CHEATS_HONEST);
      EXPECT_GT(share_of_copy_rate(honest), 0);
      EXPECT_LE(share_of_copy_rate(result), 1.03 * share_of_copy_rate(honest));
    }
    return;
  }
  EXPECT_TRUE(std::regex_search(failures, std::regex(cheat.text)))
      << cheat.name << " must fail with \"" << cheat.text << "\", but:\n"
      << (failures.empty() ? "it passed" : failures);
}

INSTANTIATE_TEST_SUITE_P(Cheats, CheatTest, testing::ValuesIn(cheats()),
                         [](const auto& cheat) { return cheat.param.name; });

TEST(BannedSymbols, AnHonestObjectHasNone) {
  std::string objects;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(CHEATS_OBJECTS)) {
    const std::string name = entry.path().filename();
    if (name == "constant_answer.cu.o" || name == "other_stream.cu.o") {
      EXPECT_EQ(refused_part(entry.path()), "") << name;
      EXPECT_FALSE(undefined_symbols(entry.path()).empty());
      objects += name;
    }
  }
  EXPECT_NE(objects, "");
}

TEST(BannedSymbols, AFileThatIsNoObjectHasNone) {
  EXPECT_TRUE(undefined_symbols(std::string(CHEATS_SOURCES) + "/constant_answer.cu").empty());
  EXPECT_TRUE(undefined_symbols("/nonexistent").empty());
}

}  // namespace
}  // namespace grade

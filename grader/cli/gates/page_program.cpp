#include "cli/gates/page_program.h"

#include <cstdlib>

#include "cli/exercise_run.h"
#include "cli/gates/documents.h"
#include "cli/process/child.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kSavedAs = "saved as: ";

// "colours.cu", "./colours" or "./grade exec tree" of a program that a command before has made, and
// "colours.py", which loads what was compiled from colours.cu.
bool names(const std::string& command, const std::string& program) {
  const std::string stem = fs::path(program).stem().string();
  for (const std::string& word : {program, stem, stem + ".py"}) {
    for (size_t at = command.find(word); at != std::string::npos; at = command.find(word, at + 1)) {
      const char before = at == 0 ? ' ' : command[at - 1];
      const size_t end = at + word.size();
      const char after = end == command.size() ? ' ' : command[end];
      if ((before == ' ' || before == '/') && (after == ' ' || after == ';')) return true;
    }
  }
  return false;
}

bool runs(const std::string& command) { return command.find("./grade ") != std::string::npos; }
// What it writes instead is no recording.
bool traces(const std::string& command) {
  return command.find("./grade trace") != std::string::npos;
}

}  // namespace

fs::path folder_of_page(const fs::path& build, const fs::path& page) {
  return build / "pages" / (page.parent_path().filename().string() + "_" + page.stem().string());
}

bool is_of_page(const Mark& mark) {
  return mark.source[0] == "view" && mark.source.size() > 1 && mark.source[1].ends_with(".cu");
}

std::vector<std::string> commands_leading_to(const std::string& page, const std::string& program) {
  std::vector<std::string> before, found;
  for (const FencedBlock& block : fenced_blocks_of(page)) {
    if (block.mark != "run") continue;
    for (const ShownCommand& shown : commands_of(block)) {
      // What is behind a pipe would cut it short.
      const std::string command =
          shown.command.substr(0, std::min(shown.command.find(" 2>"), shown.command.find(" |")));
      if (!runs(command)) {
        before.push_back(command);
      } else if (names(command, program) && !traces(command)) {
        found = before;
        found.push_back(command);
      }
    }
  }
  if (!found.empty()) return found;
  before.push_back("./grade exec " + program);
  return before;
}

std::string recording_of_page(const GateContext& context, const fs::path& page,
                              const std::string& program) {
  const fs::path folder = folder_of_page(context.paths->build(Device::kSimulator), page);
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::create_symlink(fs::canonical("/proc/self/exe").parent_path() / "grade", folder / "grade");
  const std::string text = course::read_text(page);
  for (const FencedBlock& block : fenced_blocks_of(text)) {
    if (!course::starts_with(block.mark, kSavedAs)) continue;
    course::write_text(folder / block.mark.substr(kSavedAs.size()), block.body);
  }
  const fs::path recorded = folder / "recorded.json";
  std::string said;
  for (const std::string& command : commands_leading_to(text, program)) {
    ChildOptions options;
    options.argv = {"/bin/bash", "-c", "exec 2>&1\n" + command};
    options.directory = folder;
    options.own_seconds = 120;
    options.environment = {
        {"PATH", fs::path(context.paths->nvcc).parent_path().string() + ":" + std::getenv("PATH")},
        {"NO_COLOR", "1"},
        {"GRADE_SIM_VIEW", recorded.string()}};
    said = "$ " + command + "\n" + run_child(options).out.text();
  }
  if (!fs::exists(recorded)) {
    throw course::Error(shown(context, page), 0,
                        program + " is not a program of this page, or left no recording:\n" + said);
  }
  return course::read_text(recorded);
}

std::string inputs_of_page(const std::string& page) {
  std::string all;
  for (const FencedBlock& block : fenced_blocks_of(page)) {
    if (course::starts_with(block.mark, kSavedAs)) all += block.mark + "\n" + block.body;
    if (block.mark != "run") continue;
    for (const ShownCommand& command : commands_of(block)) all += command.command + "\n";
  }
  return all;
}

}  // namespace grade

#include "cli/gates/changed_lines.h"

#include <algorithm>
#include <vector>

#include "cli/diff.h"
#include "course/starter.h"

namespace grade {

namespace {

std::vector<std::string> code_of(const std::string& solution, const std::string& file) {
  std::vector<std::string> code;
  for (const course::MarkedLine& line : course::parse_marked(solution, file).lines) {
    if (line.part == course::Part::kStarterOnly || line.part == course::Part::kMarker) continue;
    const std::string text = line.text.substr(0, line.text.find("//"));
    const size_t first = text.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    code.push_back(text.substr(first, text.find_last_not_of(' ') + 1 - first));
  }
  return code;
}

}  // namespace

int changed_lines(const std::string& before, const std::string& after, const std::string& file) {
  const std::vector<DiffLine> diff = diff_lines(code_of(before, file), code_of(after, file));
  return static_cast<int>(std::count_if(diff.begin(), diff.end(),
                                        [](const DiffLine& line) { return line.sign == '+'; }));
}

}  // namespace grade

#include "cli/todo_place.h"

#include <vector>

#include "cli/diff.h"
#include "course/text.h"

namespace grade {
namespace {

// The lines that starter and solution share, and which TODO lies behind each: gaps[i] is behind
// lines[i - 1]; gaps[0] is before the first.
struct GivenLines {
  std::vector<std::string> lines;
  std::vector<int> gaps = {0};
};

GivenLines given_lines(const course::MarkedSource& source) {
  GivenLines given;
  for (const course::MarkedLine& line : source.lines) {
    if (line.part == course::Part::kBoth) {
      given.lines.push_back(line.text);
      given.gaps.push_back(0);
    } else if (line.todo != 0) {
      given.gaps.back() = line.todo;
    }
  }
  return given;
}

}  // namespace

int todo_at_line(const course::MarkedSource& source, const std::string& learner, int line) {
  const GivenLines given = given_lines(source);
  size_t behind = 0;  // how many of the given lines stand before
  int number = 0;
  for (const DiffLine& each : diff_lines(given.lines, course::split_lines(learner))) {
    if (each.sign != '-' && ++number == line) break;
    if (each.sign != '+') ++behind;
  }
  if (number < line) return 0;
  for (size_t gap = behind + 1; gap-- > 0;) {
    if (given.gaps[gap] != 0) return given.gaps[gap];
  }
  return 0;
}

int todo_written_at(const course::MarkedSource& source, const std::string& learner, int line) {
  const GivenLines given = given_lines(source);
  size_t behind = 0;
  int number = 0;
  for (const DiffLine& each : diff_lines(given.lines, course::split_lines(learner))) {
    if (each.sign != '-' && ++number == line) return each.sign == '+' ? given.gaps[behind] : 0;
    if (each.sign != '+') ++behind;
  }
  return 0;
}

}  // namespace grade

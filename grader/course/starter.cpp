#include "course/starter.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "course/text.h"

namespace course {
namespace {

class MarkerParser {
 public:
  MarkerParser(const std::string& file) : marker_(ends_with(file, ".py") ? "#~" : "//~") {
    source_.file = file;
  }

  MarkedSource parse(const std::string& text) {
    for (const std::string& line : split_lines(text)) {
      ++line_;
      const size_t indent = line.find_first_not_of(" \t");
      const size_t at = line.find(marker_);
      if (at == std::string::npos) {
        add(open_todo_ == 0 ? Part::kBoth : Part::kSolutionOnly, open_todo_, line);
      } else if (at != indent) {
        fail("the marker " + marker_ + " must be the first text of its line");
      } else {
        read_marker(line, indent, line.substr(at + marker_.size()));
      }
    }
    if (open_todo_ != 0) {
      line_ = open_line_;
      fail("this " + marker_ + "begin " + std::to_string(open_todo_) + " has no " + marker_ +
           "end");
    }
    attach_starter_lines();
    number_todos();
    return std::move(source_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(source_.file, line_, message + ".");
  }

  void add(Part part, int todo, std::string text) {
    source_.lines.push_back({part, todo, std::move(text)});
  }

  void read_marker(const std::string& line, size_t indent, const std::string& rest) {
    if (rest.empty() || rest[0] == ' ') {
      // An empty starter-only line carries no trailing blanks.
      const std::string text = rest.size() <= 1 ? "" : line.substr(0, indent) + rest.substr(1);
      add(Part::kStarterOnly, open_todo_, text);
    } else if (trim(rest) == "end") {
      if (open_todo_ == 0) fail(marker_ + "end without a " + marker_ + "begin before it");
      add(Part::kMarker, open_todo_, "");
      open_todo_ = 0;
    } else if (starts_with(rest, "begin")) {
      begin(trim(std::string_view(rest).substr(5)));
    } else {
      fail("malformed marker \"" + trim(line) + "\"; write \"" + marker_ + " text\", \"" + marker_ +
           "begin N\" or \"" + marker_ + "end\"");
    }
  }

  void begin(const std::string& number) {
    if (number.empty() || number.size() > 2 ||
        number.find_first_not_of("0123456789") != std::string::npos || std::stoi(number) == 0) {
      fail("malformed marker: " + marker_ + "begin needs the number of its TODO, such as \"" +
           marker_ + "begin 1\"");
    }
    if (open_todo_ != 0) {
      fail(marker_ + "begin inside the region that line " + std::to_string(open_line_) +
           " opened; regions do not nest, close it with " + marker_ + "end first");
    }
    open_todo_ = std::stoi(number);
    open_line_ = line_;
    todos_.insert(open_todo_);
    add(Part::kMarker, open_todo_, "");
  }

  // A run of starter-only lines stands in for the region that follows it, else for the one that it
  // follows: an ablation has to know which lines return with which TODO.
  void attach_starter_lines() {
    auto& lines = source_.lines;
    for (size_t first = 0; first < lines.size(); ++first) {
      if (lines[first].part != Part::kStarterOnly || lines[first].todo != 0) continue;
      size_t end = first;
      while (end < lines.size() && lines[end].part == Part::kStarterOnly) ++end;
      int todo = 0;
      if (end < lines.size() && lines[end].part == Part::kMarker) {
        todo = lines[end].todo;
      } else if (first > 0 && lines[first - 1].part == Part::kMarker) {
        todo = lines[first - 1].todo;
      }
      if (todo == 0) {
        line_ = static_cast<int>(first) + 1;
        fail(
            "this starter-only line touches no region, so it belongs to no TODO; move it next to "
            "a " +
            marker_ + "begin N or " + marker_ + "end");
      }
      for (size_t i = first; i < end; ++i) lines[i].todo = todo;
      first = end - 1;
    }
  }

  void number_todos() {
    int expected = 1;
    for (const int todo : todos_) {
      if (todo != expected) {
        throw Error(source_.file, 0,
                    "there is a region for TODO " + std::to_string(todo) + " but none for TODO " +
                        std::to_string(expected) + "; number the regions 1, 2, 3 without a gap.");
      }
      ++expected;
    }
    source_.todos = expected - 1;
  }

  std::string marker_;
  MarkedSource source_;
  std::set<int> todos_;
  int line_ = 0;
  int open_todo_ = 0;  // 0: outside every region
  int open_line_ = 0;
};

}  // namespace

MarkedSource parse_marked(const std::string& text, const std::string& file) {
  return MarkerParser(file).parse(text);
}

std::string starter_text(const MarkedSource& source) {
  std::string text;
  for (const MarkedLine& line : source.lines) {
    if (line.part == Part::kBoth || line.part == Part::kStarterOnly) text += line.text + "\n";
  }
  return text;
}

std::string starter_text(const std::string& solution, const std::string& file) {
  return starter_text(parse_marked(solution, file));
}

std::vector<int> untouched_todos(const MarkedSource& source, const std::string& learner) {
  std::vector<const MarkedLine*> starter;
  for (const MarkedLine& line : source.lines) {
    if (line.part == Part::kBoth || line.part == Part::kStarterOnly) starter.push_back(&line);
  }
  const auto todo_at = [&](size_t i) { return i < starter.size() ? starter[i]->todo : 0; };
  std::set<int> shown, touched;
  for (size_t first = 0; first < starter.size();) {
    const int todo = todo_at(first);
    size_t end = first + 1;
    while (todo_at(end) == todo && end < starter.size()) ++end;
    if (todo != 0) {
      // With a line behind it: who keeps the comment and writes below has begun. And with one
      // before it that is not another TODO's.
      std::string block = "\n";
      const size_t from = first > 0 && todo_at(first - 1) == 0 ? first - 1 : first;
      for (size_t i = from; i < std::min(end + 1, starter.size()); ++i) {
        block += starter[i]->text + "\n";
      }
      shown.insert(todo);
      if (("\n" + learner).find(block) == std::string::npos) touched.insert(todo);
    }
    first = end;
  }
  std::vector<int> untouched;
  std::set_difference(shown.begin(), shown.end(), touched.begin(), touched.end(),
                      std::back_inserter(untouched));
  return untouched;
}

std::string solution_text(const MarkedSource& source) {
  std::string text;
  for (const MarkedLine& line : source.lines) {
    if (line.part == Part::kBoth || line.part == Part::kSolutionOnly) text += line.text;
    text += "\n";
  }
  return text;
}

std::string ablation_text(const MarkedSource& source, int todo) {
  std::string text;
  for (const MarkedLine& line : source.lines) {
    const bool reverted = line.todo == todo;
    if (line.part == Part::kBoth || (line.part == Part::kSolutionOnly && !reverted) ||
        (line.part == Part::kStarterOnly && reverted)) {
      text += line.text;
    }
    text += "\n";
  }
  return text;
}

}  // namespace course

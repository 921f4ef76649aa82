#include "cli/problem_lines.h"

#include <algorithm>

#include "cli/terminal.h"
#include "course/text.h"

namespace grade {
namespace {

// One line of text: editors take the list apart at line ends.
std::string joined(const std::string& message) {
  std::string text = harmless(message);
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::string line;
  for (const char c : text) {
    if (c != ' ' || (!line.empty() && line.back() != ' ')) line += c;
  }
  return course::trim(line);
}

class Lines {
 public:
  void add(const std::string& file, int line, const char* severity, const std::string& message) {
    const std::string text = file + ":" + std::to_string(std::max(line, 1)) + ": " + severity +
                             ": " + joined(message) + "\n";
    if (text_.find(text) == std::string::npos) text_ += text;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Where the learner's text names that TODO; its first line where it does not any more.
int line_of_todo(const std::string& source, int todo) {
  const std::string mark = "TODO(" + std::to_string(todo) + ")";
  const std::vector<std::string> lines = course::split_lines(source);
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.find(mark) != std::string::npos;
  });
  return found == lines.end() ? 1 : static_cast<int>(found - lines.begin()) + 1;
}

// The simulator names whole paths. `file`: chapters/NN/MM.cu, where it names none.
std::string from_root(const std::string& path, const std::string& file) {
  const size_t chapters = path.rfind("/chapters/");
  return path.empty() ? file : chapters == std::string::npos ? path : path.substr(chapters + 1);
}

bool add_finding(const Finding& finding, const std::string& file, Lines* lines) {
  if (finding.expected) return false;
  const std::string at = from_root(finding.file, file);
  const std::string head = finding.check + "/" + finding.kind + ": ";
  lines->add(at, finding.line, finding.is_note ? "note" : "error", head + finding.message);
  const std::string other = from_root(finding.other_file, file);
  if (finding.other_line > 0 && (finding.other_line != finding.line || other != at)) {
    lines->add(other, finding.other_line, "note",
               head + "the other place of the one at line " + std::to_string(finding.line));
  }
  return !finding.is_note;
}

void add_test(const Result& result, const TestReport& test, const std::string& file,
              const std::string& source, Lines* lines) {
  bool explained = false;
  for (const Finding& finding : test.findings) explained |= add_finding(finding, file, lines);
  if (explained || !test.started || test.passed) return;
  const Failure* why = result.decisive(test);
  lines->add(file, line_of_todo(source, test.todo()), "error",
             test.short_name() + ": " + (why == nullptr ? "failed" : why->message));
}

}  // namespace

std::string problem_lines(const Result& result, const std::string& file,
                          const std::string& source) {
  Lines lines;
  for (const Diagnostic& diagnostic : result.build.diagnostics) {
    lines.add(diagnostic.file.empty() ? file : diagnostic.file, diagnostic.line,
              diagnostic.is_error ? "error" : "warning", diagnostic.message);
  }
  for (const TestReport& test : result.tests) add_test(result, test, file, source, &lines);
  if (!result.early_message.empty() && result.early_test.empty()) {
    lines.add(file, 1, "error", result.early_message);
  }
  if (!result.build.problem.empty()) lines.add(file, 1, "error", result.build.problem);
  return lines.text();
}

}  // namespace grade

// MM_name_hints.md: "## TODO N", then three paragraphs: where to look, the idea, almost the code.
#include "course/manifest.h"
#include "course/text.h"

namespace course {
namespace {

constexpr int kSteps = 3;

class HintReader {
 public:
  HintReader(const std::string& file, int todos) : file_(file), todos_(todos) {}

  std::vector<std::vector<std::string>> read(const std::string& text) {
    for (const std::string& line : split_lines(text)) {
      ++line_;
      if (starts_with(trim(line), "```")) in_code_ = !in_code_;
      if (!in_code_ && starts_with(line, "## ")) {
        heading(trim(line.substr(3)));
      } else if (!in_code_ && trim(line).empty()) {
        end_paragraph();
      } else if (!hints_.empty()) {
        paragraph_ += paragraph_.empty() ? line : "\n" + line;
      }
    }
    close_section();
    if (static_cast<int>(hints_.size()) != todos_) {
      throw Error(file_, 0,
                  "has hints for " + plural(hints_.size(), "TODO") + ", expected " +
                      std::to_string(todos_) + "; write one \"## TODO N\" section for each.");
    }
    return std::move(hints_);
  }

 private:
  void heading(const std::string& title) {
    close_section();
    const std::string expected = "TODO " + std::to_string(hints_.size() + 1);
    // "## TODO 1" or "## TODO 1: what it is about"
    if (title != expected && !starts_with(title, expected + ":") &&
        !starts_with(title, expected + " ")) {
      throw Error(file_, line_,
                  "heading \"## " + title + "\" found, expected \"## " + expected +
                      "\"; hints are in the order of the TODOs.");
    }
    hints_.emplace_back();
    heading_line_ = line_;
  }

  void end_paragraph() {
    // A code block belongs to the paragraph before it: together they are one step.
    if (starts_with(trim(paragraph_), "```") && !hints_.back().empty()) {
      hints_.back().back() += "\n" + paragraph_;
    } else if (!paragraph_.empty()) {
      hints_.back().push_back(paragraph_);
    }
    paragraph_.clear();
  }

  void close_section() {
    if (hints_.empty()) return;
    end_paragraph();
    if (hints_.back().size() != kSteps) {
      throw Error(file_, heading_line_,
                  "TODO " + std::to_string(hints_.size()) + " has " +
                      plural(hints_.back().size(), "hint step") +
                      ", expected 3 paragraphs: where to look, the idea, almost the code.");
    }
  }

  const std::string& file_;
  int todos_;
  int line_ = 0;
  int heading_line_ = 0;
  bool in_code_ = false;
  std::string paragraph_;
  std::vector<std::vector<std::string>> hints_;
};

}  // namespace

std::vector<std::vector<std::string>> parse_hints(const std::string& text, const std::string& file,
                                                  int todos) {
  return HintReader(file, todos).read(text);
}

}  // namespace course

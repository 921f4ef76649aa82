#include "cli/gates/documents.h"

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr const char* kFence = "```";

// Words that say nothing, or tell the reader that something is easy.
const std::regex& words_to_avoid() {
  static const std::regex words(
      "\\b(simply|just|obviously|clearly|trivially|easily|basically|essentially|actually|really|"
      "very|quite|fairly|somewhat|arguably|generally|typically|powerful|seamless|seamlessly|"
      "leverage|blazing|of course)\\b",
      std::regex::icase);
  return words;
}

std::string comment_in(const std::string& line) {
  static const std::regex kComment("^<!-- (.*) -->$");
  std::smatch match;
  return std::regex_match(line, match, kComment) ? match[1].str() : "";
}

// What a reader reads as words: code is one word, of a link its text remains.
std::string plain(std::string text) {
  static const std::regex kComment("<!--.*?-->"), kCode("`[^`]*`"),
      kLink("!?\\[([^\\]]*)\\]\\([^)]*\\)");
  text = std::regex_replace(text, kComment, "");
  text = std::regex_replace(text, kCode, "code");
  return std::regex_replace(text, kLink, "$1");
}

class ProseCheck {
 public:
  explicit ProseCheck(std::string name) : name_(std::move(name)) {}

  std::vector<std::string> run(const std::string& page) {
    static const std::regex kItem("^ *([-*]|[0-9]+\\.) .*");
    bool in_code = false;
    int number = 0;
    for (const std::string& line : course::split_lines(page)) {
      ++number;
      const bool fence = course::starts_with(line, kFence);
      if (fence) in_code = !in_code;
      const bool is_row = course::starts_with(line, "|"), is_item = std::regex_match(line, kItem);
      const bool is_heading = course::starts_with(line, "#");
      const bool is_blank = course::trim(line).empty();
      if (fence || in_code || is_row || is_item || is_heading || is_blank) finish();
      if (fence || in_code || is_blank) continue;
      if (is_row || is_heading) {
        check_words(plain(line), number);
      } else {
        if (paragraph_.empty()) begin_ = number;
        paragraph_ += line + " ";
      }
    }
    finish();
    return problems_;
  }

 private:
  void finish() {
    check_words(plain(paragraph_), begin_);
    paragraph_.clear();
  }

  void check_words(const std::string& text, int line) {
    for (std::sregex_iterator at(text.begin(), text.end(), words_to_avoid()), end; at != end;
         ++at) {
      problem(line, "\"" + at->str() + "\" says nothing; state the condition or leave it out.");
    }
  }

  void problem(int line, const std::string& what) {
    problems_.push_back(name_ + ":" + std::to_string(line) + ": " + what);
  }

  std::string name_, paragraph_;
  int begin_ = 0;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<fs::path> document_pages(const fs::path& root) {
  std::vector<fs::path> pages;
  if (!fs::exists(root / "docs")) return pages;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

std::vector<FencedBlock> fenced_blocks_of(const std::string& page) {
  std::vector<FencedBlock> blocks;
  std::string mark;
  bool inside = false;
  int number = 0;
  for (const std::string& line : course::split_lines(page)) {
    ++number;
    if (course::starts_with(line, kFence)) {
      if (!inside) blocks.push_back({number, course::trim(line.substr(3)), mark, ""});
      inside = !inside;
      mark.clear();
    } else if (inside) {
      blocks.back().body += line + "\n";
    } else if (!course::trim(line).empty()) {
      mark = comment_in(line);
    }
  }
  return blocks;
}

std::vector<ShownCommand> commands_of(const FencedBlock& block) {
  static const std::regex kStatus("^\\(exit status ([0-9]+)\\)$");
  std::vector<ShownCommand> commands;
  for (const std::string& line : course::split_lines(block.body)) {
    std::smatch status;
    if (course::starts_with(line, "$ ")) {
      commands.push_back({line.substr(2), "", 0});
    } else if (commands.empty()) {
      continue;  // document_problems() says so
    } else if (std::regex_match(line, status, kStatus)) {
      commands.back().status = std::stoi(status[1]);
    } else if (course::starts_with(line, "> ") && commands.back().output.empty()) {
      commands.back().command += "\n" + line.substr(2);  // a command of several lines
    } else {
      commands.back().output += line + "\n";
    }
  }
  return commands;
}

std::vector<std::string> prose_problems(const std::string& page, const std::string& name) {
  return ProseCheck(name).run(page);
}

std::vector<std::string> document_problems(const std::string& page, const std::string& name) {
  std::vector<std::string> problems = prose_problems(page, name);
  for (const FencedBlock& block : fenced_blocks_of(page)) {
    const std::string where = name + ":" + std::to_string(block.line) + ": ";
    const bool runs = block.mark == "run";
    if (course::starts_with(block.language, "predict ")) continue;  // filled by its own source
    if (!runs && !course::starts_with(block.mark, "saved as: ") &&
        !course::starts_with(block.mark, "from: ") &&
        !course::starts_with(block.mark, "not run: ")) {
      problems.push_back(where +
                         "say before this block what keeps it true: <!-- from: SOURCE -->, "
                         "<!-- saved as: FILE -->, <!-- run --> or <!-- not run: REASON -->.");
    }
    if (runs && !course::starts_with(block.body, "$ ")) {
      problems.push_back(where + "a block that is run begins with a command: \"$ ls\".");
    }
  }
  return problems;
}

}  // namespace grade

// Gate 3: code blocks of a page that name a source region equal it; links and pictures resolve;
// pages say no word that says nothing; fenced blocks below docs/ and in lessons say what keeps them
// true; a lesson's title has the number of its exercise; no page of a chapter with lessons gives an
// answer away.
#include <cctype>
#include <regex>
#include <set>

#include "cli/gates/documents.h"
#include "cli/gates/figures.h"
#include "cli/gates/gate.h"
#include "cli/gates/giveaway.h"
#include "cli/gates/lesson_answers.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr int kPagesGate = 3;

// The anchor that GitHub makes of a heading.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const unsigned char c : course::trim(heading)) {
    if (std::isalnum(c) || c == '_' || c == '-' || c >= 128) {
      anchor += static_cast<char>(std::tolower(c));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const std::string& page) {
  std::set<std::string> anchors;
  bool in_code = false;
  for (const std::string& line : course::split_lines(page)) {
    if (course::starts_with(line, "```")) in_code = !in_code;
    const size_t text = line.find_first_not_of('#');
    if (!in_code && text != 0 && text != std::string::npos && line[text] == ' ') {
      anchors.insert(anchor_of(line.substr(text)));
    }
  }
  return anchors;
}

class PageCheck {
 public:
  PageCheck(const GateContext& context, const fs::path& file, bool is_lesson)
      : context_(context), file_(file), name_(shown(context, file)), is_lesson_(is_lesson) {}

  Item run() {
    try {
      page_ = course::read_text(file_);
      if (is_lesson_) check_title();
      check_regions();
      check_links();
      const bool is_start = name_ == "README.md" || name_ == "setup/README.md";
      if (course::starts_with(name_, "docs/") || is_lesson_ || is_start) {
        append(document_problems(page_, name_));
      } else if (course::starts_with(name_, "chapters/")) {
        append(prose_problems(page_, name_));
      }
    } catch (const course::Error& error) {
      problems_.push_back(error.what());
    }
    return problems_.empty() ? passed(kPagesGate, name_)
                             : failed(kPagesGate, name_, course::join(problems_, "\n"));
  }

 private:
  // "# 07 Two by two" in 07_matmul_2d_tile.md.
  void check_title() {
    const std::string title = "# " + file_.filename().string().substr(0, 2);
    const std::string first = page_.substr(0, page_.find('\n'));
    if (first == title || course::starts_with(first, title + " ")) return;
    problems_.push_back(name_ + ":1: a lesson's title begins with the number of its exercise, \"" +
                        title + "\".");
  }

  void check_regions() {
    for (const Mark& mark : find_marks(page_, name_)) {
      if (!mark.is_text()) continue;
      const std::string region = source_text(context_.paths->root, mark, name_);
      if (page_.substr(mark.begin, mark.end - mark.begin) == region) continue;
      problems_.push_back(name_ + ":" + std::to_string(mark.line) + ": the " +
                          (mark.is_block ? "code" : "table") + " differs from " +
                          course::join(mark.source, " ") + "; run ./grade dev sync.");
    }
  }

  void check_links() {
    static const std::regex kInline("`[^`]*`");
    static const std::regex kLink("\\]\\(([^) ]+)( \"[^\"]*\")?\\)");
    bool in_code = false;
    int number = 0;
    for (const std::string& raw : course::split_lines(page_)) {
      ++number;
      if (course::starts_with(course::trim(raw), "```")) in_code = !in_code;
      if (in_code) continue;
      const std::string line = std::regex_replace(raw, kInline, "``");
      for (std::sregex_iterator at(line.begin(), line.end(), kLink), end; at != end; ++at) {
        check_link((*at)[1].str(), number);
      }
    }
  }

  void append(const std::vector<std::string>& more) {
    problems_.insert(problems_.end(), more.begin(), more.end());
  }

  void check_link(const std::string& link, int line) {
    if (link.find("://") != std::string::npos || course::starts_with(link, "mailto:")) return;
    const size_t hash = link.find('#');
    const std::string path = link.substr(0, hash);
    const fs::path target = path.empty() ? file_ : file_.parent_path() / path;
    const std::string where = name_ + ":" + std::to_string(line) + ": ";
    if (!fs::exists(target)) {
      problems_.push_back(where + "the link \"" + link + "\" leads to no file; correct it.");
    } else if (hash != std::string::npos && target.extension() == ".md" &&
               anchors_of(course::read_text(target)).count(link.substr(hash + 1)) == 0) {
      problems_.push_back(where + "the link \"" + link + "\" names no heading of that page.");
    }
  }

  const GateContext& context_;
  fs::path file_;
  std::string name_, page_;
  bool is_lesson_;
  std::vector<std::string> problems_;
};

// Chapters without lessons are said to be open, by name: their pages are older than the rule.
std::vector<Item> check_giveaways(const GateContext& context) {
  std::vector<Item> items;
  for (const course::Chapter& chapter : context.course->chapters) {
    const bool concerned =
        std::any_of(context.exercises.begin(), context.exercises.end(),
                    [&](const course::Exercise* e) { return e->chapter == chapter.id; });
    if (!concerned) continue;
    const std::string name = chapter.id + " gives no answer away";
    try {
      const std::vector<std::string> problems = giveaways(context, chapter);
      const std::string text = course::join(problems, "\n");
      if (problems.empty()) {
        items.push_back(passed(kPagesGate, name));
      } else if (chapter.lessons) {
        items.push_back(failed(kPagesGate, name, text));
      } else {
        items.push_back(skipped(
            kPagesGate, name,
            "open until the chapter has lessons: " + course::plural(problems.size(), "pair") +
                (context.whole_course
                     ? "; ./grade dev check " + chapter.id.substr(0, 2) + " --files-only lists them"
                     : "\n" + text)));
      }
    } catch (const course::Error& error) {
      items.push_back(failed(kPagesGate, name, error.what()));
    }
  }
  return items;
}

}  // namespace

std::vector<Item> check_readmes(const GateContext& context) {
  const fs::path root = context.paths->root;
  std::set<fs::path> pages;
  std::vector<Item> items;
  for (const course::Exercise* exercise : context.exercises) {
    const fs::path page = course::files_of(root, *exercise).readme;
    if (pages.count(page) != 0) continue;
    pages.insert(page);
    if (!fs::exists(page)) {
      items.push_back(failed(kPagesGate, shown(context, page),
                             shown(context, page) + " is missing; every chapter has a page."));
    }
  }
  if (context.whole_course) {
    for (const char* name :
         {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "setup/README.md", "grader/README.md",
          "grader/simulator/README.md", "grader/tests/classes/README.md"}) {
      pages.insert(root / name);
    }
    for (const fs::path& page : document_pages(root)) pages.insert(page);
  }
  for (const fs::path& page : pages) {
    if (fs::exists(page)) items.push_back(PageCheck(context, page, false).run());
  }
  for (const fs::path& page : lesson_pages(context)) {
    items.push_back(PageCheck(context, page, true).run());
  }
  const std::vector<Item> more = check_giveaways(context);
  items.insert(items.end(), more.begin(), more.end());
  return items;
}

}  // namespace grade

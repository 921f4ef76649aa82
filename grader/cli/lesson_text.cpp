#include "cli/lesson_text.h"

#include <algorithm>

#include "course/pattern.h"
#include "course/text.h"

namespace grade {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIndent = "    ";

class PageText {
 public:
  PageText(std::string folder, const Terminal& terminal)
      : folder_(std::move(folder)), terminal_(terminal) {}

  std::string run(const std::string& markdown) {
    for (const std::string& line : course::split_lines(markdown)) {
      if (course::starts_with(line, "```")) {
        fence(line);
      } else if (in_code_) {
        code(line);
      } else {
        prose(line);
      }
    }
    finish();
    return text_;
  }

 private:
  void fence(const std::string& line) {
    finish();
    in_code_ = !in_code_;
    asks_ = in_code_ && course::starts_with(line, "```predict");
    if (asks_) text_ += terminal_.paint(Style::kBold, "Predict") + " (./grade predict, key p):\n";
  }

  void code(const std::string& line) {
    const bool about_answer =
        course::starts_with(line, "from: ") || course::starts_with(line, "within: ");
    if (asks_ && about_answer) return;
    text_ += asks_ ? wrap(words(line), "  ", terminal_.columns)
                   : (line.empty() ? "" : std::string(kIndent)) + line + "\n";
  }

  void prose(const std::string& line) {
    static const course::Pattern kItem("^( *)([-*]|[0-9]+\\.) (.*)$"), kComment("^<!--.*-->$"),
        kPicture("^!\\[([^]]*)\\]\\(([^)]*)\\)$");
    const auto picture = kPicture.find(line), item = kItem.find(line);
    if (course::trim(line).empty()) {
      finish();
      if (!text_.empty() && !course::ends_with(text_, "\n\n")) text_ += "\n";
    } else if (kComment.matches(line)) {
      finish();
    } else if (course::starts_with(line, "#")) {
      finish();
      text_ +=
          terminal_.paint(Style::kBold, words(line.substr(line.find_first_not_of("# ")))) + "\n";
    } else if (course::starts_with(line, "|")) {
      if (table_.empty()) finish();
      table_.push_back(line);
    } else if (picture) {
      finish();
      const fs::path at = (fs::path(folder_) / picture->groups[2]).lexically_normal();
      text_ += wrap("picture: " + words(picture->groups[1]) + ": " + at.generic_string(), "  ",
                    terminal_.columns);
    } else if (item) {
      finish();
      first_ = item->groups[1] + "  " + item->groups[2] + " ";
      paragraph_ = item->groups[3];
    } else {
      if (!table_.empty()) finish();
      paragraph_ += (paragraph_.empty() ? "" : " ") + course::trim(line);
    }
  }

  static std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    for (size_t at = 1; at < row.size();) {
      size_t end = row.find('|', at);
      if (end == std::string::npos) end = row.size();
      cells.push_back(words(course::trim(row.substr(at, end - at))));
      at = end + 1;
    }
    return cells;
  }

  // Columns below one another where that fits, else one line per cell.
  void finish_table() {
    std::vector<std::vector<std::string>> rows;
    for (const std::string& line : table_) rows.push_back(cells_of(line));
    table_.clear();
    if (rows.size() < 2) return;
    rows.erase(rows.begin() + 1);  // | --- |
    std::vector<size_t> widths;
    for (const auto& row : rows) {
      widths.resize(std::max(widths.size(), row.size()), 0);
      for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    }
    size_t total = kIndent.size();
    for (const size_t width : widths) total += width + 2;
    const bool fits = total <= static_cast<size_t>(terminal_.columns) + 2;
    for (size_t r = fits ? 0 : 1; r < rows.size(); ++r) {
      text_ += fits ? row_in_columns(rows[r], widths) : row_by_cells(rows[r], rows[0]);
    }
  }

  static std::string row_in_columns(const std::vector<std::string>& row,
                                    const std::vector<size_t>& widths) {
    std::string line(kIndent);
    for (size_t i = 0; i < row.size(); ++i) line += pad(row[i], widths[i]) + "  ";
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }

  std::string row_by_cells(const std::vector<std::string>& row,
                           const std::vector<std::string>& heads) const {
    std::string text = wrap(row.empty() ? "" : row[0], std::string(kIndent), terminal_.columns);
    for (size_t i = 1; i < row.size(); ++i) {
      const std::string head = i < heads.size() && !heads[i].empty() ? heads[i] + ": " : "";
      text += wrap(head + row[i], std::string(kIndent) + "  ", terminal_.columns);
    }
    return text;
  }

  void finish() {
    if (!table_.empty()) finish_table();
    if (!paragraph_.empty()) text_ += wrap(words(paragraph_), first_, terminal_.columns);
    paragraph_.clear();
    first_.clear();
  }

  // Without emphasis, comments and the targets of links.
  static std::string words(const std::string& text) {
    static const course::Pattern kLink("!?\\[([^]]*)\\]\\([^)]*\\)"), kBold("\\*\\*([^*]+)\\*\\*"),
        kItalic("(^|[[:space:](\"])\\*([^*[:space:]][^*]*)\\*");
    std::string plain = text;
    for (size_t begin = 0; (begin = plain.find("<!--", begin)) != std::string::npos;) {
      const size_t end = plain.find("-->", begin);
      if (end == std::string::npos) break;
      plain.erase(begin, end + 3 - begin);
    }
    return kItalic.leave_groups(kBold.leave_groups(kLink.leave_groups(plain)));
  }

  std::string folder_;
  const Terminal& terminal_;
  std::string text_, paragraph_, first_;
  std::vector<std::string> table_;
  bool in_code_ = false, asks_ = false;
};

}  // namespace

std::string page_text(const std::string& markdown, const std::string& folder,
                      const Terminal& terminal) {
  return PageText(folder, terminal).run(markdown);
}

std::string page_of(App& app, const course::Exercise& exercise) {
  const course::ExerciseFiles files = course::files_of("", exercise);
  return (has_lesson(app, exercise) ? files.lesson : files.readme).generic_string();
}

bool has_lesson(App& app, const course::Exercise& exercise) {
  return fs::exists(course::files_of(app.paths().root, exercise).lesson);
}

course::Lesson read_lesson(App& app, const course::Exercise& exercise) {
  const fs::path file = course::files_of(app.paths().root, exercise).lesson;
  if (!fs::exists(file)) {
    throw course::Error("", 0,
                        exercise.id + " has no lesson of its own yet; chapters/" +
                            exercise.chapter + "/README.md is the page of its chapter.");
  }
  return course::parse_lesson(course::read_text(file), file.string());
}

std::string lesson_text(App& app, const course::Exercise& exercise) {
  const Terminal& terminal = app.terminal();
  const std::string folder = "chapters/" + exercise.chapter;
  const fs::path chapter = course::files_of(app.paths().root, exercise).readme;
  if (!has_lesson(app, exercise) && fs::exists(chapter)) {
    return page_text(course::read_text(chapter), folder, terminal);
  }
  const course::Lesson lesson = read_lesson(app, exercise);
  std::string text = page_text(lesson.text, folder, terminal);
  while (course::ends_with(text, "\n\n")) text.pop_back();
  if (lesson.after.empty()) return text;
  text += "\n" + terminal.paint(Style::kBold, "After you pass") + "\n";
  if (!app.progress().is_passed(exercise.id)) {
    return text + wrap(
                      "What the reference does and why, what production code does today, and an "
                      "experiment: folded until the exercise passes.",
                      "", terminal.columns);
  }
  return text + page_text(lesson.after, folder, terminal);
}

}  // namespace grade

#include "cli/watch/pager.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <vector>

#include "cli/views.h"
#include "course/text.h"

namespace grade {
namespace {

std::string in_lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Asks at the foot of the screen what to look for; nullopt: nothing.
std::optional<std::string> asked_words(Console& console) {
  print(console.terminal().moves ? "\r\x1b[K/" : "\n/");
  const std::optional<std::string> words = console.line();
  if (!words) return std::nullopt;
  return in_lower_case(*words);
}

// The next of `count` places after `from` that `fits`, round the end; `from` where none does.
size_t next_place(size_t from, size_t count, int step, const std::function<bool(size_t)>& fits) {
  for (size_t i = 1; i <= count; ++i) {
    const size_t at = step > 0 ? (from + i) % count : (from + count - i) % count;
    if (fits(at)) return at;
  }
  return from;
}

std::vector<std::string> lines_for(const std::string& text, const Terminal& terminal) {
  std::vector<std::string> lines;
  for (const std::string& line : course::split_lines(text)) {
    const bool fits = width_of(line) <= static_cast<size_t>(terminal.width);
    for (std::string& piece :
         course::split_lines(fits ? line + "\n" : wrap(line, "", terminal.width, true))) {
      lines.push_back(std::move(piece));
    }
  }
  return lines;
}

class Pager {
 public:
  Pager(Console& console, std::string text) : console_(console), text_(std::move(text)) {}

  void run() {
    while (true) {
      lines_ = lines_for(text_, console_.terminal());
      room_ = static_cast<size_t>(std::max(console_.rows() - 2, 3));
      top_ = std::min(top_, last_top());
      draw();
      const char key = console_.key();
      if (key == 0 || (key != kRedraw && lines_.size() <= room_)) return;
      if (!move(key)) return;
    }
  }

 private:
  size_t last_top() const { return lines_.size() > room_ ? lines_.size() - room_ : 0; }

  void draw() {
    const size_t end = std::min(top_ + room_, lines_.size());
    std::string screen;
    for (size_t i = top_; i < end; ++i) screen += lines_[i] + "\n";
    const std::string where = std::to_string(top_ + 1) + "-" + std::to_string(end) + " of " +
                              std::to_string(lines_.size());
    const std::string on = top_ < last_top() ? "space: on  " : "";
    const std::string foot = lines_.size() <= room_ ? "Any key goes back."
                                                    : on + "b: back  /: search  q: leave  " + where;
    const size_t columns = static_cast<size_t>(console_.terminal().width);
    console_.show(screen + "\n" + console_.terminal().paint(Style::kDim, cut(foot, columns)));
  }

  // False where the key leaves.
  bool move(char key) {
    switch (key) {
      case 'q':
      case kEscape:
        return false;
      case ' ':
      case 'f':
      case kPageDown:
        if (top_ == last_top()) return key != ' ';
        top_ = std::min(top_ + room_, last_top());
        return true;
      case 'b':
      case kPageUp:
        top_ -= std::min(top_, room_);
        return true;
      case 'j':
      case '\n':
      case '\r':
      case kDown:
        top_ = std::min(top_ + 1, last_top());
        return true;
      case 'k':
      case kUp:
        top_ -= std::min<size_t>(top_, 1);
        return true;
      case 'g':
      case kHome:
        top_ = 0;
        return true;
      case 'G':
      case kEnd:
        top_ = last_top();
        return true;
      case '/':
        if (const auto words = asked_words(console_)) words_ = *words;
        search(1);
        return true;
      case 'n':
        search(1);
        return true;
      case 'N':
        search(-1);
        return true;
      default:
        return true;
    }
  }

  void search(int step) {
    if (words_.empty()) return;
    top_ = std::min(last_top(), next_place(top_, lines_.size(), step, [&](size_t at) {
                      return in_lower_case(lines_[at]).find(words_) != std::string::npos;
                    }));
  }

  Console& console_;
  std::string text_, words_;
  std::vector<std::string> lines_;
  size_t top_ = 0, room_ = 0;
};

class Chooser {
 public:
  Chooser(App& app, Console& console) : app_(app), console_(console), place_(list_place(app)) {
    const auto& all = app_.course().exercises;
    if (place_.here != nullptr) cursor_ = static_cast<size_t>(place_.here - all.data());
  }

  const course::Exercise* run() {
    while (true) {
      draw();
      const char key = console_.key();
      if (key == '\n' || key == '\r') return &app_.course().exercises[cursor_];
      if (key == 0 || key == 'q' || key == kEscape) return nullptr;
      move(key);
    }
  }

 private:
  // All rows, with that of the cursor in the middle of the screen.
  void draw() {
    const auto& all = app_.course().exercises;
    std::vector<std::string> rows;
    size_t at = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || all[i].chapter != all[i - 1].chapter) {
        rows.push_back(chapter_row(app_, all[i].chapter));
      }
      if (i == cursor_) at = rows.size();
      rows.push_back(list_row(app_, all[i], place_, i == cursor_));
    }
    page_ = static_cast<size_t>(std::max(console_.rows() - 2, 3));
    const size_t last = rows.size() > page_ ? rows.size() - page_ : 0;
    const size_t first = std::min(at - std::min(at, page_ / 2), last);
    std::string screen;
    for (size_t i = first; i < std::min(first + page_, rows.size()); ++i) screen += rows[i];
    console_.show(
        screen + "\n" +
        console_.terminal().paint(Style::kDim, "arrows: move  /: search  enter: open  q: back  " +
                                                   std::to_string(app_.progress().passed.size()) +
                                                   " of " + std::to_string(all.size())));
  }

  void move(char key) {
    const size_t last = app_.course().exercises.size() - 1;
    switch (key) {
      case 'j':
      case kDown:
        cursor_ = std::min(cursor_ + 1, last);
        break;
      case 'k':
      case kUp:
        cursor_ -= std::min<size_t>(cursor_, 1);
        break;
      case ' ':
      case kPageDown:
        cursor_ = std::min(cursor_ + page_, last);
        break;
      case 'b':
      case kPageUp:
        cursor_ -= std::min(cursor_, page_);
        break;
      case 'g':
      case kHome:
        cursor_ = 0;
        break;
      case 'G':
      case kEnd:
        cursor_ = last;
        break;
      case '/':
        if (const auto words = asked_words(console_)) words_ = *words;
        search(1);
        break;
      case 'n':
        search(1);
        break;
      case 'N':
        search(-1);
        break;
      default:
        break;
    }
  }

  void search(int step) {
    const auto& all = app_.course().exercises;
    if (words_.empty()) return;
    cursor_ = next_place(cursor_, all.size(), step, [&](size_t at) {
      return in_lower_case(all[at].id + " " + all[at].title).find(words_) != std::string::npos;
    });
  }

  App& app_;
  Console& console_;
  ListPlace place_;
  std::string words_;
  size_t cursor_ = 0, page_ = 1;
};

}  // namespace

void page(Console& console, const std::string& text) { Pager(console, text).run(); }

const course::Exercise* choose_exercise(App& app, Console& console) {
  return Chooser(app, console).run();
}

}  // namespace grade

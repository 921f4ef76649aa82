// grade watch [EX]: grades at every save, until q.
#include <poll.h>

#include <algorithm>
#include <optional>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/lesson_text.h"
#include "cli/predictions.h"
#include "cli/process/interrupt.h"
#include "cli/verdict.h"
#include "cli/views.h"
#include "cli/watch/file_watcher.h"
#include "cli/watch/raw_terminal.h"
#include "course/text.h"

namespace grade {
namespace {

class Watch {
 public:
  Watch(App& app, const course::Exercise& exercise) : app_(app) { open(exercise); }

  int run() {
    while (!quits_) {
      if (pending_) grade_now();
      if (quits_) break;
      if (!pending_) {
        draw();
        wait();
      }
    }
    const int signal = Interrupts::instance().signal();
    print("\n");
    constexpr int kSignalled = 128;
    return signal == 0 ? kPass : kSignalled + signal;
  }

 private:
  void open(const course::Exercise& exercise) {
    exercise_ = &exercise;
    app_.choose(exercise);
    watcher_.emplace(course::files_of(app_.paths().root, exercise).starter);
    grading_.reset();
    problem_.clear();
    note_.clear();
    pending_ = true;
  }

  std::string file() const { return "chapters/" + exercise_->id + exercise_->extension(); }

  // ---- grading ----------------------------------------------------------------------------------

  void grade_now() {
    watcher_->settle();
    pending_ = false;
    note_.clear();
    clear_screen();
    print(header() + app_.terminal().paint(Style::kBold, exercise_->id) + "\n");
    GradingHooks hooks;
    hooks.watched = {watcher_->fd(), Interrupts::instance().fd()};
    if (raw_.fd() >= 0) hooks.watched.push_back(raw_.fd());
    hooks.interrupted = [this] { return must_stop(); };
    hooks.on_progress = [this](const std::string& what) {
      print("\r\x1b[K  " + app_.terminal().paint(Style::kDim, what + " ..."));
    };
    hooks.on_progress("building");
    problem_.clear();
    try {
      const Grading grading = grade_exercise(app_, *exercise_, hooks);
      if (!grading.cancelled()) grading_ = grading;
    } catch (const course::Error& error) {  // the course's own files, or a full disk
      problem_ = error.what();
    } catch (const UsageError& error) {
      problem_ = error.what();
    }
    // Keys that were pressed meanwhile.
    std::string keys;
    std::swap(keys, keys_);
    for (const char key : keys) press(key);
  }

  // While children run: true ends them.
  bool must_stop() {
    if (Interrupts::instance().ended()) quits_ = true;
    if (watcher_->changed()) pending_ = true;
    keys_ += raw_.keys();
    if (raw_.closed() || keys_.find('q') != std::string::npos) quits_ = true;
    return quits_ || pending_;
  }

  // ---- the screen -------------------------------------------------------------------------------

  static void clear_screen() { print("\x1b[2J\x1b[H"); }

  std::string header() {
    const auto& all = app_.course().exercises;
    const auto done = std::count_if(all.begin(), all.end(), [&](const course::Exercise& exercise) {
      return app_.progress().is_passed(exercise.id);
    });
    constexpr int kBar = 40;
    const size_t filled = static_cast<size_t>(done * kBar / static_cast<long>(all.size()));
    return app_.course().title + "  [" + std::string(filled, '#') +
           std::string(kBar - filled, '-') + "]  " + std::to_string(done) + " of " +
           std::to_string(all.size()) + "\n\n";
  }

  std::string keys_line() {
    std::string text;
    if (grading_ && grading_->passed()) text += "n: next  ";
    if (has_lesson(app_, *exercise_)) text += "r: read  p: predict  ";
    return text + "h: hint  l: list  c: check all  x: reset  q: quit";
  }

  std::string verdict() {
    if (!problem_.empty()) return wrap(problem_, "  STOP  ", app_.terminal().columns);
    if (!grading_) return "";
    std::string text;
    for (const Result& result : grading_->results) {
      text += verdict_text(result, app_.terminal());
    }
    text += what_was_left_out(*grading_, app_.terminal());
    if (grading_->passed()) {
      const course::Exercise* next = app_.next_after(*exercise_);
      text +=
          next_line("n", next == nullptr ? "all exercises are passed" : next->id, app_.terminal());
      text += "        ./grade compare " + exercise_->name + " shows the reference beside yours\n";
    } else if (grading_->todo > 0) {
      text += next_line("h", "hint for TODO " + std::to_string(grading_->todo), app_.terminal());
      const std::string explain = explain_command_for(grading_->results.back());
      if (!explain.empty()) text += "        " + explain + "\n";
    }
    return text;
  }

  // At most `rows` lines, the first ones.
  static std::string fit(const std::string& text, int rows) {
    std::vector<std::string> lines = course::split_lines(text);
    const size_t most = static_cast<size_t>(std::max(rows, 3));
    if (lines.size() <= most) return text;
    lines.resize(most - 1);
    return course::join(lines, "\n") + "\n        ... ./grade run shows all\n";
  }

  void draw() {
    app_.terminal() = Terminal::of_stdout(app_.options().colour);
    const std::string head = header();
    const std::string note = note_.empty() ? "" : "\n" + note_;
    const std::string foot =
        "\n" + app_.terminal().paint(Style::kDim, "Edit and save " + file()) + "\n" + keys_line();
    const auto lines = [](const std::string& text) {
      return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    };
    const int room = raw_.rows() - lines(head) - lines(foot) - 1;
    // A hint that was asked for matters more than the end of a long verdict.
    std::string middle = fit(verdict(), std::max(room - lines(note), 3));
    middle += fit(note, std::max(room - lines(middle), 3));
    clear_screen();
    print(head + middle + foot);
  }

  // Shows `text` instead of the verdict until a key is pressed. With more lines than the window,
  // those around the line that starts with '>'.
  void page(const std::string& text) {
    std::vector<std::string> lines = course::split_lines(text);
    const size_t room = static_cast<size_t>(std::max(raw_.rows() - 2, 3));
    if (lines.size() > room) {
      const auto here = std::find_if(lines.begin(), lines.end(),
                                     [](const std::string& line) { return line.starts_with('>'); });
      const size_t at = static_cast<size_t>(here - lines.begin()) % lines.size();
      const size_t first = std::min(at < room / 2 ? 0 : at - room / 2, lines.size() - room);
      lines = {lines.begin() + static_cast<long>(first),
               lines.begin() + static_cast<long>(first + room)};
    }
    clear_screen();
    print(course::join(lines, "\n") + "\n" +
          app_.terminal().paint(Style::kDim, "Any key goes back."));
    next_key();
  }

  // ---- keys -------------------------------------------------------------------------------------

  // One round of waiting; true if it was for a key.
  bool poll_once() {
    pollfd polled[] = {{watcher_->fd(), POLLIN, 0},
                       {Interrupts::instance().fd(), POLLIN, 0},
                       {raw_.fd(), POLLIN, 0}};
    ::poll(polled, 3, -1);
    if (Interrupts::instance().ended()) quits_ = true;
    if (watcher_->changed()) pending_ = true;
    return polled[2].revents != 0;
  }

  void wait() {
    while (!quits_ && !pending_) {
      if (poll_once()) {
        const std::string keys = raw_.keys();
        if (raw_.closed()) quits_ = true;
        for (const char key : keys) press(key);
        return;
      }
      if (Interrupts::instance().resized()) return;
    }
  }

  // What is pressed next; "" when something else ended the wait.
  std::string next_keys() {
    while (!quits_ && !pending_) {
      if (!poll_once()) continue;
      const std::string keys = raw_.keys();
      if (raw_.closed()) quits_ = true;
      if (!keys.empty()) return keys;
    }
    return "";
  }

  char next_key() {
    const std::string keys = next_keys();
    return keys.empty() ? 0 : keys.front();
  }

  void press(char key) {
    switch (key) {
      case 'q':
        quits_ = true;
        break;
      case 'n':
        next_exercise();
        break;
      case 'h':
        hint();
        break;
      case 'l':
        page(list_text(app_));
        break;
      case 'r':
        read();
        break;
      case 'p':
        predict();
        break;
      case 'c':
        check_all();
        break;
      case 'x':
        reset();
        break;
      default:
        break;  // draws again
    }
  }

  void next_exercise() {
    if (!grading_ || !grading_->passed()) {
      note_ = "Not passed yet. h gives a hint; ./grade watch EX opens another one.\n";
      return;
    }
    const course::Exercise* next = app_.next_after(*exercise_);
    if (next == nullptr) {
      note_ = "All exercises are passed.\n";
      return;
    }
    open(*next);
  }

  void hint() {
    if (!grading_) return;
    try {
      note_ = hint_text(app_, *exercise_, grading_->todo, "h");
    } catch (const course::Error& error) {
      note_ = wrap(error.what(), "", app_.terminal().columns);
    }
  }

  // A screen of the lesson at a time: b goes back, q leaves.
  void read() {
    try {
      const std::vector<std::string> screens =
          screens_of(lesson_text(app_, *exercise_), raw_.rows());
      for (size_t at = 0; at < screens.size();) {
        clear_screen();
        print(screens[at] + app_.terminal().paint(Style::kDim, "space: on  b: back  q: leave  " +
                                                                   std::to_string(at + 1) + " of " +
                                                                   std::to_string(screens.size())));
        const char key = next_key();
        if (key == 0 || key == 'q') return;
        at = key != 'b' ? at + 1 : at - (at > 0 ? 1 : 0);
      }
    } catch (const course::Error& error) {
      note_ = wrap(error.what(), "", app_.terminal().columns);
    }
  }

  void predict() {
    try {
      const std::vector<OpenQuestion> open = questions_of(app_, *exercise_, false);
      if (open.empty()) note_ = "Nothing is left to predict here; ./grade predict asks again.\n";
      for (const OpenQuestion& question : open) {
        std::string said;
        while (said.empty()) {
          clear_screen();
          print(question_text(question, app_.terminal()));
          const std::optional<std::string> line = typed_line();
          if (!line) return;
          said = answer_text(app_, *exercise_, question, *line);
        }
        print("\n" + said + app_.terminal().paint(Style::kDim, "Any key goes on."));
        if (next_key() == 0) return;
      }
    } catch (const course::Error& error) {
      note_ = wrap(error.what(), "", app_.terminal().columns);
    }
  }

  // What is typed before Enter; nullopt where something else ends it, or an empty line does.
  std::optional<std::string> typed_line() {
    constexpr char kDelete = 127;
    std::string line;
    for (std::string keys = next_keys(); !keys.empty(); keys = next_keys()) {
      for (const char key : keys) {
        if (key == '\n' || key == '\r') return line.empty() ? std::nullopt : std::optional(line);
        if ((key == kDelete || key == '\b') && !line.empty()) {
          print("\b \b");
          line.pop_back();
        } else if (key >= ' ' && key != kDelete) {
          line += key;
          print(std::string(1, key));
        }
      }
    }
    return std::nullopt;
  }

  void check_all() {
    clear_screen();
    print(app_.terminal().paint(Style::kBold, "Grading all exercises that are not passed") + "\n" +
          app_.terminal().paint(Style::kDim, "Any key stops it.") + "\n");
    GradingHooks hooks = default_hooks(app_);
    if (raw_.fd() >= 0) hooks.watched.push_back(raw_.fd());
    bool stopped = false;
    hooks.interrupted = [&] {
      if (Interrupts::instance().ended()) quits_ = true;
      stopped = stopped || !raw_.keys().empty();
      if (raw_.closed()) quits_ = true;
      return quits_ || stopped;
    };
    grade::check_all(app_, hooks);
    if (quits_ || stopped) return;
    print(app_.terminal().paint(Style::kDim, "Any key goes back."));
    next_key();
  }

  void reset() {
    clear_screen();
    print("Replace " + file() + "\nby the starter? A copy of yours is kept. [y/N] ");
    if (next_key() != 'y') return;
    try {
      note_ = reset_exercise(app_, *exercise_);
    } catch (const course::Error& error) {
      note_ = wrap(error.what(), "", app_.terminal().columns);
    }
  }

  App& app_;
  RawTerminal raw_;
  const course::Exercise* exercise_ = nullptr;
  std::optional<FileWatcher> watcher_;
  std::optional<Grading> grading_;
  std::string problem_, note_, keys_;
  bool pending_ = false, quits_ = false;
};

}  // namespace

int watch_command(App& app) {
  if (!app.terminal().is_terminal) {
    throw UsageError("watch needs a terminal; ./grade run grades once.");
  }
  if (app.options().json) throw UsageError("watch has no --json; ./grade run --json has.");
  Interrupts::instance();
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print("All " + std::to_string(app.course().exercises.size()) +
          " exercises are passed. ./grade watch EX opens one again.\n");
    return kPass;
  }
  return Watch(app, *exercise).run();
}

}  // namespace grade

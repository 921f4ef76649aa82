// grade watch [EX]: grades at every save, until q.
#include <algorithm>
#include <optional>
#include <utility>

#include "cli/app.h"
#include "cli/browser.h"
#include "cli/chapter_end.h"
#include "cli/commands.h"
#include "cli/grading.h"
#include "cli/lesson_text.h"
#include "cli/predictions.h"
#include "cli/process/interrupt.h"
#include "cli/progress_line.h"
#include "cli/python_program.h"
#include "cli/verdict.h"
#include "cli/views.h"
#include "cli/watch/console.h"
#include "cli/watch/failing_thread.h"
#include "cli/watch/open_page.h"
#include "cli/watch/pager.h"
#include "cli/watch/screens.h"
#include "course/text.h"

namespace grade {
namespace {

// What a command of ours complained about, without how far it was meanwhile.
std::string complaints_of(const ChildResult& result) {
  std::string text = result.error;
  for (const std::string& line : course::split_lines(result.err.text())) {
    if (!course::ends_with(line, " ...")) text += line + "\n";
  }
  return text;
}

// ": building, 1 of 3" from "grade: building, 1 of 3, a.cu, 16 s ..."; `before` where `text` has
// none.
std::string progress_in(std::string_view text, const std::string& before) {
  constexpr std::string_view kEnd = " ...\n", kName = "grade: ";
  const size_t end = text.rfind(kEnd);
  if (end == std::string_view::npos) return before;
  const size_t begin = text.rfind(kName, end);
  if (begin == std::string_view::npos) return before;
  return ": " + harmless(text.substr(begin + kName.size(), end - begin - kName.size()));
}

class Watch {
 public:
  Watch(App& app, const course::Exercise& exercise) : app_(app), console_(app) { open(exercise); }

  int run(bool first_start) {
    while (first_start) {
      console_.show(welcome_text(app_, *exercise_));
      first_start = console_.key() == kRedraw;
    }
    while (!console_.quits()) {
      if (pending_ || console_.saved()) grade_now();
      if (console_.quits() || console_.saved()) continue;
      draw();
      press(console_.key());
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
    console_.follow(course::files_of(app_.paths().root, exercise).starter);
    grading_.reset();
    problem_.clear();
    note_.clear();
    chapter_ends_ = false;
    pending_ = true;
  }

  std::string file() const { return "chapters/" + exercise_->id + exercise_->extension(); }

  // ---- grading ----------------------------------------------------------------------------------

  void grade_now() {
    console_.take_save();
    pending_ = false;
    note_ = std::exchange(note_after_grading_, "");
    problem_.clear();
    console_.show(header_text(app_) + app_.terminal().paint(Style::kBold, exercise_->id) + "\n");
    ProgressLine line(app_.terminal());
    GradingHooks hooks = child_hooks(&line);
    hooks.on_progress("building");
    try {
      const Grading grading = grade_exercise(app_, *exercise_, hooks);
      if (!grading.cancelled()) {
        chapter_ends_ = chapter_ends_ || ends_chapter(app_, *exercise_, grading);
        grading_ = grading;
      }
    } catch (const course::Error& error) {  // the course's own files, or a full disk
      problem_ = error.what();
    } catch (const UsageError& error) {
      problem_ = error.what();
    }
  }

  GradingHooks child_hooks(ProgressLine* line) {
    GradingHooks hooks;
    hooks.watched = console_.watched();
    hooks.interrupted = [this] { return console_.must_stop(); };
    hooks.on_progress = [line](const std::string& what) { line->show("  " + what); };
    return hooks;
  }

  // ---- the screen -------------------------------------------------------------------------------

  bool passed() const { return grading_ && grading_->passed(); }

  // The run of the simulator that failed, which trace and view can show; nullptr if there is none.
  const Result* failing_run() const {
    if (!grading_ || passed() || runs_without_simulator(*exercise_)) return nullptr;
    const Result& last = grading_->results.back();
    const bool ran = last.device == Device::kSimulator && last.outcome == Outcome::kFailed;
    return ran && last.first_failed() != nullptr ? &last : nullptr;
  }

  const Finding* finding() const {
    return grading_ && !passed() ? finding_told(grading_->results.back()) : nullptr;
  }

  std::string keys() {
    std::vector<std::string> keys;
    const auto add = [&](bool shown, const char* key) {
      if (shown) keys.emplace_back(key);
    };
    add(passed(), "n: next");
    add(passed(), "d: difference");
    add(true, "r: read");
    add(has_lesson(app_, *exercise_), "p: predict");
    add(!passed(), "h: hint");
    add(finding() != nullptr, "e: explain");
    add(failing_run() != nullptr, "t: trace");
    add(grading_ && can_be_viewed(), "v: view");
    add(grading_.has_value(), "m: more");
    add(true, "l: list");
    add(true, "?: all keys");
    add(true, "q: quit");
    return keys_line(keys, app_.terminal());
  }

  bool can_be_viewed() const {
    return find_command("view") != nullptr && !runs_without_simulator(*exercise_) &&
           !exercise_->gpu_only;
  }

  std::string verdict(const Extent& extent) {
    if (!problem_.empty()) return wrap(problem_, "  STOP  ", app_.terminal().columns);
    if (!grading_) return "";
    std::string text;
    for (const Result& result : grading_->results) {
      text += verdict_text(result, app_.terminal(), extent);
    }
    return text + what_was_left_out(*grading_, app_.terminal());
  }

  std::string what_next() {
    if (passed()) {
      const course::Exercise* next = app_.next_after(*exercise_);
      const course::Chapter& chapter = chapter_of(app_, *exercise_);
      return next_line("n",
                       chapter_ends_     ? "the end of the chapter: " + chapter.title
                       : next == nullptr ? "the end of the course"
                                         : next->id,
                       app_.terminal());
    }
    if (grading_->todo == 0) return "";
    const std::string text =
        next_line("h", "hint for TODO " + std::to_string(grading_->todo), app_.terminal());
    const Finding* told = finding();
    if (told == nullptr) return text;
    return text + wrap(pad("e", 15) + "  (" + told->kind + ": what it means)", "        ",
                       app_.terminal().columns);
  }

  void draw() {
    const std::string head = header_text(app_);
    const std::string note = note_.empty() ? "" : "\n" + note_;
    const std::string foot = "\n" + files_text(app_, *exercise_) + keys();
    const auto lines = [](const std::string& text) {
      return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    };
    const std::string next = grading_ && problem_.empty() ? what_next() : "";
    const int room = console_.rows() - lines(head) - lines(next) - lines(foot) - 1;
    // A hint that was asked for matters more than the end of a long verdict.
    std::string middle =
        first_rows(verdict({false, "key m"}), std::max(room - lines(note), 3)) + next;
    // Of a hint the last step was asked for.
    if (!note.empty()) {
      middle += "\n" + title_and_last_rows(note_, room + lines(next) - lines(middle) - 1);
    }
    console_.show(head + middle + foot);
  }

  // ---- keys -------------------------------------------------------------------------------------

  void press(char key) {
    switch (key) {
      case 'q':
        console_.quit();
        break;
      case 'n':
        next_exercise();
        break;
      case 'h':
        hint();
        break;
      case 'l':
        if (const course::Exercise* chosen = choose_exercise(app_, console_)) open(*chosen);
        break;
      case 'r':
        tell([this] { page(console_, lesson_text(app_, *exercise_)); });
        break;
      case 'o':
        note_ = wrap(open_page(app_, *exercise_), "", app_.terminal().columns);
        break;
      case 'p':
        tell([this] { predict(); });
        break;
      case 'e':
        explain();
        break;
      case 't':
        trace();
        break;
      case 'v':
        if (can_be_viewed()) view();
        break;
      case 'm':
        if (grading_) {
          page(console_, verdict({true, ""}) + what_next() + (note_.empty() ? "" : "\n" + note_));
        }
        break;
      case 'd':
        difference();
        break;
      case 'c':
        check_all();
        break;
      case 'x':
        reset();
        break;
      case '?':
        page(console_, keys_help(app_));
        break;
      default:
        break;  // draws again
    }
  }

  // What goes wrong becomes a note.
  template <class Work>
  void tell(const Work& work) {
    try {
      work();
    } catch (const course::Error& error) {
      note_ = wrap(error.what(), "", app_.terminal().columns);
    }
  }

  void next_exercise() {
    if (!passed()) {
      note_ = "Not passed yet. h gives a hint, l opens another exercise.\n";
      return;
    }
    if (chapter_ends_) page(console_, chapter_end_text(app_, chapter_of(app_, *exercise_)));
    chapter_ends_ = false;
    const course::Exercise* next = app_.next_after(*exercise_);
    if (next == nullptr) {
      page(console_, course_end_text(app_));
    } else {
      open(*next);
    }
  }

  void hint() {
    if (!grading_) return;
    tell([this] { note_ = hint_text(app_, *exercise_, grading_->todo, "h"); });
  }

  void explain() {
    const Finding* told = finding();
    if (told == nullptr) {
      note_ = "The verdict names no finding of the simulator that could be explained.\n";
      return;
    }
    tell([&] { page(console_, explanation_of(app_, told->kind)); });
  }

  void trace() {
    const Result* run = failing_run();
    if (run == nullptr) {
      note_ = "There is no failing run of the simulator to trace. ./grade trace traces any.\n";
      return;
    }
    std::vector<std::string> arguments = {"trace", exercise_->id};
    for (const std::string& each : trace_arguments(*run)) arguments.push_back(each);
    show_command(arguments);
  }

  void difference() {
    if (passed()) {
      show_command({"compare", exercise_->id});
    } else {
      note_ = "The reference is shown once the exercise passes.\n";
    }
  }

  // In the browser; without one, as text.
  void view() {
    if (!has_browser()) {
      show_command({"view", exercise_->id, "--text"});
      return;
    }
    const ChildResult result = run_command({"view", exercise_->id});
    if (result.end == ChildResult::End::kCancelled) return;
    // Its last line is the file.
    const std::string text = course::trim(result.out.text());
    const std::string file = text.substr(text.rfind('\n') + 1);
    if (!result.ok()) {
      page(console_, text + "\n" + complaints_of(result));
    } else if (open_in_browser(file)) {
      note_ = wrap("Opened " + file, "", app_.terminal().columns);
    } else {
      note_ = wrap("The browser did not start. The pictures are in " + file, "",
                   app_.terminal().columns);
    }
  }

  // What another command of ours prints.
  void show_command(const std::vector<std::string>& arguments) {
    const ChildResult result = run_command(arguments);
    if (result.end == ChildResult::End::kCancelled) return;
    const std::string text = result.out.text();
    page(console_, text.empty() ? complaints_of(result) : text);
  }

  // Another command of ours, as a process; its end is kCancelled where something else is to be
  // done.
  ChildResult run_command(std::vector<std::string> arguments) {
    const std::string said = "./grade " + course::join(arguments, " ");
    console_.show(header_text(app_) + app_.terminal().paint(Style::kBold, exercise_->id) + "\n");
    ProgressLine line(app_.terminal());
    ChildOptions options;
    arguments.insert(arguments.begin(), std::filesystem::read_symlink("/proc/self/exe").string());
    options.argv = std::move(arguments);
    options.environment = {{"COLUMNS", std::to_string(app_.terminal().columns)}};
    options.output_kept = 4 << 20;
    options.grace_seconds = 3;
    options.watched = console_.watched();
    options.interrupted = [this] { return console_.must_stop(); };
    const NinjaProgress clock;
    std::string now;  // what the command says of itself
    options.on_output = [&](std::string_view text) { now = progress_in(text, now); };
    options.on_tick = [&] { line.show("  " + said + ", " + clock.text() + now); };
    return run_child(options);
  }

  void predict() {
    const std::vector<OpenQuestion> open = questions_of(app_, *exercise_, false);
    if (open.empty()) note_ = "Nothing is left to predict here; ./grade predict asks again.\n";
    for (const OpenQuestion& question : open) {
      std::string said;
      while (said.empty()) {
        console_.show(question_text(question, app_.terminal()));
        const std::optional<std::string> line = console_.line();
        if (!line) return;
        said = answer_text(app_, *exercise_, question, *line);
      }
      print("\n" + said + app_.terminal().paint(Style::kDim, "Any key goes on."));
      if (console_.key() == 0) return;
    }
  }

  void check_all() {
    console_.show(app_.terminal().paint(Style::kBold, "Grading all exercises that are not passed") +
                  "\n" + app_.terminal().paint(Style::kDim, "Any key stops it.") + "\n");
    GradingHooks hooks = default_hooks(app_);
    hooks.watched = console_.watched();
    bool stopped = false;
    hooks.interrupted = [&] { return stopped = stopped || console_.any_key_stops(); };
    grade::check_all(app_, hooks);
    if (stopped) return;
    print(app_.terminal().paint(Style::kDim, "Any key goes back."));
    console_.key();
  }

  void reset() {
    console_.show("Replace " + file() + "\nby the starter? A copy of yours is kept. [y/N] ");
    if (console_.key() != 'y') return;
    // The write is a save: the note is shown beside the verdict that follows.
    tell([this] { note_after_grading_ = reset_exercise(app_, *exercise_); });
    pending_ = true;
  }

  App& app_;
  Console console_;
  const course::Exercise* exercise_ = nullptr;
  std::optional<Grading> grading_;
  std::string problem_, note_, note_after_grading_;
  bool pending_ = false, chapter_ends_ = false;
};

}  // namespace

int watch_command(App& app) {
  if (!app.terminal().is_terminal) {
    throw UsageError("watch needs a terminal; ./grade run grades once.");
  }
  if (app.options().json) throw UsageError("watch has no --json; ./grade run --json has.");
  Interrupts::instance();
  const bool first_start = !std::filesystem::exists(app.paths().root / ".progress");
  const course::Exercise* exercise = app.chosen();
  if (exercise == nullptr) {
    print(course_end_text(app));
    return kPass;
  }
  return Watch(app, *exercise).run(first_start);
}

}  // namespace grade

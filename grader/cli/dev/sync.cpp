// grade dev sync [--check] [--force] [EX | PAGE.md]: starters, their checksums and the figures of
// pages, made again from the solutions; of one exercise or one page, where it is named. A starter
// that someone has edited is listed and left alone.
#include "cli/dev/dev.h"
#include "cli/gates/documents.h"
#include "cli/gates/figures.h"
#include "cli/gates/images.h"
#include "cli/gates/lesson_answers.h"
#include "cli/kept.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

class Sync {
 public:
  Sync(App& app, bool check, bool force, Marks marks)
      : app_(app), check_(check), force_(force), marks_(marks) {
    with_git_ = has_git(app.paths().root);
  }

  void starter(const course::Exercise& exercise) {
    const course::ExerciseFiles files = course::files_of(app_.paths().root, exercise);
    if (!fs::exists(files.solution)) {
      problems_ += name(files.solution) + " is missing; write it first.\n";
      return;
    }
    const std::string image =
        course::starter_text(course::read_text(files.solution), name(files.solution));
    sums_ += checksum_of(image) + "  " + name(files.starter) + "\n";
    if (!fs::exists(files.starter)) return write(files.starter, image);
    const std::string now = course::read_text(files.starter);
    if (now == image) return;
    if (force_ || is_unedited(files.starter, now)) {
      keep_answer(files.starter, now);
      return write(files.starter, image);
    }
    edited_ += "  " + name(files.starter) + "\n";
  }

  // Of the whole course only: the list names every starter.
  void checksums() { replace(checksum_file(app_.paths().root), sums_); }

  void page(const fs::path& file, const GateContext& context) {
    if (!fs::exists(file)) return;
    const std::string now = course::read_text(file);
    const FilledPage filled = fill_figures(context, file, now, marks_);
    for (const std::string& problem : filled.problems) problems_ += problem + "\n";
    for (const auto& [picture, drawn] : filled.pictures) write(picture, drawn);
    if (filled.text != now) write(file, filled.text);
  }

  // The answers to what its lesson asks.
  void answers(const course::Exercise& exercise, const GateContext& context) {
    const FilledAnswers filled = fill_answers(context, exercise, marks_);
    for (const std::string& problem : filled.problems) problems_ += problem + "\n";
    const fs::path file = course::files_of(app_.paths().root, exercise).answers;
    if (!filled.text.empty() && filled.problems.empty()) replace(file, filled.text);
  }

  void lesson(const course::Exercise& exercise, const GateContext& context) {
    page(course::files_of(app_.paths().root, exercise).lesson, context);
    answers(exercise, context);
  }

  int finish() const {
    std::string text = changed_;
    if (!kept_.empty()) text += "Kept, what stood there before and was no starter:\n" + kept_;
    if (!edited_.empty()) {
      text += "Edited, so left alone (--force replaces them, ./grade reset EX keeps a copy):\n" +
              edited_;
    }
    if (!problems_.empty()) text += problems_;
    if (changed_.empty() && problems_.empty()) text += "Everything is up to date.\n";
    print(text);
    const bool stale = check_ && !changed_.empty();
    if (stale) print("Run ./grade dev sync and commit what it writes.\n");
    return stale || !problems_.empty() ? kFail : kPass;
  }

 private:
  // An answer that somebody has put into git is no starter that this course ever made.
  void keep_answer(const fs::path& file, const std::string& now) {
    if (check_ || listed_checksum(app_.paths().root, file) == checksum_of(now)) return;
    kept_ += "  " + keep_copy(app_.paths(), file).string() + "\n";
  }

  std::string name(const fs::path& file) const {
    return file.lexically_proximate(app_.paths().root).generic_string();
  }

  bool is_unedited(const fs::path& file, const std::string& now) const {
    if (with_git_) {
      const auto committed = committed_text(app_.paths().root, file);
      return committed && *committed == now;
    }
    return listed_checksum(app_.paths().root, file) == checksum_of(now);
  }

  void replace(const fs::path& file, const std::string& text) {
    if (!fs::exists(file) || course::read_text(file) != text) write(file, text);
  }

  void write(const fs::path& file, const std::string& text) {
    changed_ += std::string(check_ ? "stale    " : "wrote    ") + name(file) + "\n";
    if (!check_) course::write_text(file, text);
  }

  App& app_;
  bool check_, force_, with_git_ = false;
  Marks marks_;
  std::string changed_, kept_, edited_, problems_, sums_;
};

}  // namespace

int dev_sync(App& app, const DevArguments& arguments) {
  Sync sync(app, arguments.has("--check"), arguments.has("--force"),
            arguments.has("--no-figures") ? Marks::kThatNeedNoRun : Marks::kAll);
  GateContext context;
  context.paths = &app.paths();
  context.course = &app.course();
  const std::string operand = arguments.operands.empty() ? "" : arguments.operands.front();
  if (fs::path(operand).extension() == ".md") {  // the figures of one page
    const fs::path page = app.paths().root / operand;
    if (!fs::exists(page)) throw UsageError("There is no page " + operand + ".");
    sync.page(page, context);
    return sync.finish();
  }
  if (!arguments.operands.empty()) {
    const course::Exercise& exercise = app.named(arguments.operands.front());
    sync.starter(exercise);
    sync.lesson(exercise, context);
    return sync.finish();
  }
  for (const course::Exercise& exercise : app.course().exercises) sync.starter(exercise);
  sync.checksums();
  sync.page(app.paths().root / "README.md", context);
  sync.page(app.paths().root / "CONTRIBUTING.md", context);
  sync.page(app.paths().root / "grader" / "simulator" / "README.md", context);
  sync.page(app.paths().root / "grader" / "tests" / "classes" / "README.md", context);
  for (const fs::path& page : document_pages(app.paths().root)) sync.page(page, context);
  for (const course::Chapter& chapter : app.course().chapters) {
    sync.page(app.paths().root / "chapters" / chapter.id / "README.md", context);
  }
  for (const course::Exercise& exercise : app.course().exercises) sync.lesson(exercise, context);
  return sync.finish();
}

}  // namespace grade

// Gate 9: a figure in a page that comes from a run is marked with what produced it, and equals it.
#include <algorithm>
#include <iterator>
#include <set>

#include "cli/app.h"
#include "cli/gates/documents.h"
#include "cli/gates/figures.h"
#include "cli/gates/gate.h"
#include "cli/gates/lesson_answers.h"
#include "cli/gates/page_program.h"
#include "cli/gates/view_picture.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr int kFiguresGate = 9;

bool concerns(const GateContext& context, const Mark& mark) {
  if (context.whole_course || mark.source[0] == "benchmark" || mark.source[0] == "ratio")
    return true;
  return std::any_of(context.exercises.begin(), context.exercises.end(),
                     [&](const course::Exercise* e) {
                       return e->id == mark.source[1].substr(0, mark.source[1].find('@'));
                     });
}

// Whether it runs what is derived from a solution whose derived programs are asked on another day.
bool is_left_to_another_day(const GateContext& context, const Mark& mark) {
  if (mark.source.size() < 2) return false;
  const size_t at = mark.source[1].find('@');
  const bool is_derived = at != std::string::npos || mark.source[0] == "screen";
  const course::Exercise* exercise = context.course->find(mark.source[1].substr(0, at));
  return is_derived && exercise != nullptr && !asks_derived(context, *exercise);
}

// A picture of a program of the page itself, as it was found right before.
class KnownPictures {
 public:
  explicit KnownPictures(const GateContext& context) : cache_(context) {
    const fs::path folder = context.paths->build(Device::kSimulator) / "lib";
    std::error_code error;
    programs_.push_back(fs::canonical("/proc/self/exe"));  // draws it
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      if (entry.is_regular_file() && !entry.is_symlink()) programs_.push_back(entry.path());
    }
    std::sort(programs_.begin(), programs_.end());
  }
  std::string key(const Mark& mark, const std::string& page, const std::string& drawn) {
    Job job;
    job.gate = kFiguresGate;
    job.expectation = course::join(mark.source, " ") + "\n" + inputs_of_page(page) + drawn;
    return cache_.key(programs_, job);
  }
  bool knows(const std::string& key) const { return cache_.passed(key); }
  void remember(const std::string& key) const { cache_.remember(key); }

 private:
  VerdictCache cache_;
  std::vector<fs::path> programs_;
};

Item check_picture(const GateContext& context, KnownPictures& known, const std::string& page,
                   const fs::path& file, const Mark& mark) {
  const std::string where = shown(context, file) + ":" + std::to_string(mark.line);
  try {
    const fs::path drawn = picture_file(file, mark, page.substr(mark.begin, mark.end - mark.begin));
    const std::string before = fs::exists(drawn) ? course::read_text(drawn) : "";
    const std::string key = is_of_page(mark) ? known.key(mark, page, before) : "";
    if (!key.empty() && known.knows(key)) {
      Item item = passed(kFiguresGate, where);
      item.reused = true;
      return item;
    }
    const std::string now = picture_of_run(context, mark, file);
    if (before == now) {
      if (!key.empty()) known.remember(key);
      return passed(kFiguresGate, where);
    }
    return failed(kFiguresGate, where,
                  where + ": " + shown(context, drawn) + " is not what " +
                      course::join(mark.source, " ") +
                      " draws now; run ./grade dev sync and look at it again.");
  } catch (const course::Error& error) {
    return failed(kFiguresGate, where, error.what());
  }
}

Item check_mark(const GateContext& context, const std::string& page, const std::string& name,
                const Mark& mark) {
  const std::string where = name + ":" + std::to_string(mark.line);
  try {
    const std::string now = page.substr(mark.begin, mark.end - mark.begin);
    const std::string value = value_of(context, mark, name);
    if (without_times(now) == without_times(value)) return passed(kFiguresGate, where);
    return failed(kFiguresGate, where,
                  where + ": the page shows \"" + now + "\", but " +
                      course::join(mark.source, " ") + " gives \"" + value +
                      "\" now; run ./grade dev sync and read the text around it again.");
  } catch (const course::Error& error) {
    return failed(kFiguresGate, where, error.what());
  }
}

// Figures and pictures of a page for which a program runs.
std::vector<Item> check_runs_of_page(const GateContext& context, KnownPictures& known,
                                     const fs::path& file) {
  std::vector<Item> items;
  if (!fs::exists(file)) return items;  // gate 3 says so
  const std::string page = course::read_text(file), name = shown(context, file);
  try {
    for (const Mark& mark : find_marks(page, name)) {
      const bool is_asked = is_of_page(mark) || concerns(context, mark);
      if (!mark.needs_a_run() || !is_asked || is_left_to_another_day(context, mark)) continue;
      items.push_back(is_picture(mark) ? check_picture(context, known, page, file, mark)
                                       : check_mark(context, page, name, mark));
    }
  } catch (const course::Error&) {  // told by check_figures_of_files
  }
  return items;
}

// Each question of a lesson still has the answer that is kept for it: those that a run gives, or
// those that need none.
std::vector<Item> check_answers(const GateContext& context, const course::Exercise& exercise,
                                bool by_runs) {
  std::vector<Item> items;
  const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
  if (!fs::exists(files.lesson) || !fs::exists(files.answers)) return items;  // gate 1 says so
  const std::string name = shown(context, files.lesson);
  const std::string lacks = why_not_built(*context.paths, context.device, exercise);
  if (by_runs && !lacks.empty()) {
    return {skipped(kFiguresGate, name, "its answers: the exercise " + lacks)};
  }
  try {
    const auto answers =
        course::parse_answers(course::read_text(files.answers), shown(context, files.answers));
    for (const course::Prediction& question :
         course::parse_lesson(course::read_text(files.lesson), name).predictions) {
      const Mark source = source_of(question, name);
      if (source.needs_a_run() != by_runs) continue;
      if (by_runs && is_left_to_another_day(context, source)) continue;
      const std::string where = name + ":" + std::to_string(question.line);
      const course::PredictionAnswer* known = course::find_answer(answers, question.id);
      const std::string now = value_of(context, source, name);
      if (known != nullptr && known->value == now) {
        items.push_back(passed(kFiguresGate, where));
      } else {
        items.push_back(failed(kFiguresGate, where,
                               where + ": the answer to " + question.id + " is " + now +
                                   " now; run ./grade dev sync and read its reason again."));
      }
    }
  } catch (const course::Error& error) {
    items.push_back(failed(kFiguresGate, name, error.what()));
  }
  return items;
}

}  // namespace

namespace {

// Lessons show runs, not drawings of what a run might be. Each has a picture that a run has drawn,
// or says why there is none.
std::vector<Item> check_that_runs_are_drawn(const GateContext& context) {
  const size_t least = context.course->exercises.size() * 92 / 100;  // 150 of 164
  constexpr const char* kWhat = "its run is drawn";
  size_t pictures = 0, excused = 0;
  std::vector<Item> items;
  for (const fs::path& file : lesson_pages(context)) {
    const std::string page = course::read_text(file), name = shown(context, file);
    size_t drawn = 0;
    try {
      const std::vector<Mark> marks = find_marks(page, name);
      drawn = static_cast<size_t>(std::count_if(marks.begin(), marks.end(), is_picture));
    } catch (const course::Error&) {  // its page is named above
      continue;
    }
    pictures += drawn;
    const std::string reason = reason_for_no_picture(page);
    if (!reason.empty()) ++excused;
    if (drawn == 0 && reason.empty()) {
      items.push_back(failed(
          kFiguresGate, name + ": " + kWhat,
          name + " shows no picture that comes from a run: put one below the output of its small "
                 "program, or <!-- no picture: REASON --> (CONTRIBUTING, \"Pages\")."));
    } else if (drawn > 0 && !reason.empty()) {
      items.push_back(failed(kFiguresGate, name + ": " + kWhat,
                             name + " has a picture, and says why it has none."));
    }
  }
  if (!context.whole_course) return items;
  const std::string name = std::to_string(pictures) + " pictures in lessons come from runs, " +
                           std::to_string(excused) + " lessons say why they have none";
  items.push_back(pictures >= least ? passed(kFiguresGate, name)
                                    : failed(kFiguresGate, name,
                                             name + "; at least " + std::to_string(least) +
                                                 " pictures should come from runs."));
  return items;
}

}  // namespace

namespace {

// Pages whose marks gate 9 compares; gate 3 has those that are text of a file.
std::set<fs::path> pages_with_figures(const GateContext& context) {
  std::set<fs::path> pages;
  for (const course::Exercise* exercise : context.exercises) {
    pages.insert(course::files_of(context.paths->root, *exercise).readme);
  }
  for (const fs::path& page : lesson_pages(context)) pages.insert(page);
  if (context.whole_course) {
    pages.insert(context.paths->root / "README.md");
    for (const fs::path& page : document_pages(context.paths->root)) pages.insert(page);
  }
  return pages;
}

}  // namespace

std::vector<Item> check_figures_of_files(const GateContext& context) {
  std::vector<Item> items;
  for (const fs::path& file : pages_with_figures(context)) {
    if (!fs::exists(file)) continue;  // gate 3 says so
    const std::string page = course::read_text(file), name = shown(context, file);
    try {
      for (const Mark& mark : find_marks(page, name)) {
        if (mark.is_text() || mark.needs_a_run() || !concerns(context, mark)) continue;
        items.push_back(check_mark(context, page, name, mark));
      }
    } catch (const course::Error& error) {
      items.push_back(failed(kFiguresGate, name, error.what()));
    }
  }
  for (const course::Exercise* exercise : context.exercises) {
    const std::vector<Item> answers = check_answers(context, *exercise, /*by_runs=*/false);
    items.insert(items.end(), answers.begin(), answers.end());
  }
  return items;
}

// On all cores: each page has a folder of its own for the programs that it shows.
std::vector<Item> check_figures(const GateContext& context) {
  const std::set<fs::path> found = pages_with_figures(context);
  const std::vector<fs::path> pages(found.begin(), found.end());
  KnownPictures known(context);
  std::vector<std::vector<Item>> items(pages.size() + context.exercises.size());
  in_parallel(items.size(), [&](size_t i) {
    items[i] = i < pages.size()
                   ? check_runs_of_page(context, known, pages[i])
                   : check_answers(context, *context.exercises[i - pages.size()], /*by_runs=*/true);
  });
  items.push_back(check_that_runs_are_drawn(context));
  std::vector<Item> all;
  for (std::vector<Item>& some : items) {
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace grade

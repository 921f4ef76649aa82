// Gate 9: a figure in a page that comes from a run is marked with what produced it, and equals it.
#include <set>

#include "cli/app.h"
#include "cli/gates/documents.h"
#include "cli/gates/figures.h"
#include "cli/gates/gate.h"
#include "cli/gates/lesson_answers.h"
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

Item check_picture(const GateContext& context, const std::string& page, const fs::path& file,
                   const std::string& name, const Mark& mark) {
  const std::string where = name + ":" + std::to_string(mark.line);
  try {
    const fs::path drawn = picture_file(file, mark, page.substr(mark.begin, mark.end - mark.begin));
    const std::string now = picture_of_run(context, mark, name);
    if (fs::exists(drawn) && course::read_text(drawn) == now) return passed(kFiguresGate, where);
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

// Each question of a lesson still has the answer that is kept for it.
std::vector<Item> check_answers(const GateContext& context, const course::Exercise& exercise) {
  std::vector<Item> items;
  const course::ExerciseFiles files = course::files_of(context.paths->root, exercise);
  if (!fs::exists(files.lesson) || !fs::exists(files.answers)) return items;  // gate 1 says so
  const std::string name = shown(context, files.lesson);
  const std::string lacks = why_not_built(*context.paths, context.device, exercise);
  if (!lacks.empty()) return {skipped(kFiguresGate, name, "its answers: the exercise " + lacks)};
  try {
    const auto answers =
        course::parse_answers(course::read_text(files.answers), shown(context, files.answers));
    for (const course::Prediction& question :
         course::parse_lesson(course::read_text(files.lesson), name).predictions) {
      const std::string where = name + ":" + std::to_string(question.line);
      const course::PredictionAnswer* known = course::find_answer(answers, question.id);
      const std::string now = true_answer(context, question, name);
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

std::vector<Item> check_figures(const GateContext& context) {
  std::vector<Item> items;
  std::set<fs::path> pages;
  for (const course::Exercise* exercise : context.exercises) {
    pages.insert(course::files_of(context.paths->root, *exercise).readme);
  }
  for (const fs::path& page : lesson_pages(context)) pages.insert(page);
  if (context.whole_course) {
    pages.insert(context.paths->root / "README.md");
    for (const fs::path& page : document_pages(context.paths->root)) pages.insert(page);
  }
  for (const fs::path& file : pages) {
    if (!fs::exists(file)) continue;  // gate 3 says so
    const std::string page = course::read_text(file), name = shown(context, file);
    try {
      for (const Mark& mark : find_marks(page, name)) {
        if (!mark.is_text() && concerns(context, mark)) {
          items.push_back(is_picture(mark) ? check_picture(context, page, file, name, mark)
                                           : check_mark(context, page, name, mark));
        }
      }
    } catch (const course::Error& error) {
      items.push_back(failed(kFiguresGate, name, error.what()));
    }
  }
  for (const course::Exercise* exercise : context.exercises) {
    const std::vector<Item> more = check_answers(context, *exercise);
    items.insert(items.end(), more.begin(), more.end());
  }
  return items;
}

}  // namespace grade

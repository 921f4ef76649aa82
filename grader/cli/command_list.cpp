// grade list: states of all exercises.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/predictions.h"
#include "cli/views.h"

namespace grade {
namespace {

constexpr int kFormat = 1;

std::string list_json(App& app) {
  const course::Exercise* current = app.current();
  std::vector<std::string> items;
  for (const course::Exercise& exercise : app.course().exercises) {
    JsonOut out;
    out.text("id", exercise.id).text("title", exercise.title).number("minutes", exercise.minutes);
    const auto passed = app.progress().passed.find(exercise.id);
    const bool done = passed != app.progress().passed.end();
    out.text("state", done ? "passed" : &exercise == current ? "current" : "pending");
    if (done) out.text("passed_at", passed->second);
    items.push_back(
        out.boolean("bonus", exercise.bonus).boolean("gpu_only", exercise.gpu_only).str());
  }
  return JsonOut()
             .number("format", kFormat)
             .text("kind", "list")
             .text("current", current == nullptr ? "" : current->id)
             .raw("exercises", json_array(items))
             .str() +
         "\n";
}

std::string chapter_title(const course::Course& course, const std::string& id) {
  for (const course::Chapter& chapter : course.chapters) {
    if (chapter.id == id) return chapter.title;
  }
  return "";
}

}  // namespace

std::string list_text(App& app) {
  const Terminal& terminal = app.terminal();
  const course::Exercise* current = app.current();
  std::string text, chapter;
  size_t done = 0;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (exercise.chapter != chapter) {
      chapter = exercise.chapter;
      text += terminal.paint(Style::kBold, chapter + "  " + chapter_title(app.course(), chapter)) +
              "\n";
    }
    const bool passed = app.progress().is_passed(exercise.id);
    done += passed ? 1 : 0;
    const bool here = &exercise == current;
    const std::string state = passed ? terminal.paint(Style::kGood, "passed ")
                              : here ? terminal.paint(Style::kNote, "current")
                                     : "       ";
    std::string facts = std::to_string(exercise.minutes) + " min";
    if (exercise.bonus) facts += ", bonus";
    if (exercise.gpu_only) facts += ", GPU";
    const size_t room = static_cast<size_t>(terminal.columns) - 40;
    std::string title = exercise.title;
    if (width_of(title) + width_of(facts) + 2 > room)
      title = title.substr(0, room - facts.size() - 5) + "...";
    text += std::string(here ? "> " : "  ") + state + "  " + pad(exercise.name, 28) + " " +
            pad(title, room - width_of(facts) - 1) + " " + facts + "\n";
  }
  return text + std::to_string(done) + " of " + std::to_string(app.course().exercises.size()) +
         " passed\n";
}

int list_command(App& app) {
  if (app.options().predictions) {
    print(predictions_text(app));
    return kPass;
  }
  print(app.options().json ? list_json(app) : list_text(app));
  return kPass;
}

}  // namespace grade

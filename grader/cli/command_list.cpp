// grade list: states of all exercises.
#include "cli/app.h"
#include "cli/commands.h"
#include "cli/json_out.h"
#include "cli/predictions.h"
#include "cli/views.h"

namespace grade {
namespace {

constexpr int kListFormat = 1;

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
             .number("format", kListFormat)
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

std::string list_row(App& app, const course::Exercise& exercise, const ListPlace& place,
                     bool marked) {
  const Terminal& terminal = app.terminal();
  const bool passed = app.progress().is_passed(exercise.id);
  const bool here = &exercise == place.here;
  const std::string state = passed                    ? terminal.paint(Style::kGood, "passed ")
                            : here                    ? terminal.paint(Style::kNote, "current")
                            : &exercise == place.next ? terminal.paint(Style::kNote, "next   ")
                                                      : "       ";
  std::string facts = std::to_string(exercise.minutes) + " min";
  if (exercise.bonus) facts += ", bonus";
  if (exercise.gpu_only) facts += ", GPU";
  const std::string left =
      std::string(marked ? "> " : "  ") + state + "  " + pad(exercise.name, 28) + " ";
  constexpr size_t kLeft = 40, kTitle = 20;
  const size_t room = static_cast<size_t>(terminal.columns) - kLeft - width_of(facts);
  // The title says what the name says: a narrow window does without it.
  const std::string title = room > kTitle ? cut(exercise.title, room - 2) : "";
  return left + pad(title, room > kTitle ? room : 0) + facts + "\n";
}

ListPlace list_place(App& app) {
  const course::Exercise* chosen = app.course().find(app.progress().current);
  const course::Exercise* next = app.current();
  return {chosen == nullptr ? next : chosen, next};
}

std::string chapter_row(App& app, const std::string& id) {
  const std::string text = id + "  " + chapter_title(app.course(), id);
  return app.terminal().paint(Style::kBold,
                              cut(text, static_cast<size_t>(app.terminal().columns))) +
         "\n";
}

std::string list_text(App& app) {
  const ListPlace place = list_place(app);
  std::string text, chapter;
  size_t done = 0;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (exercise.chapter != chapter) text += chapter_row(app, exercise.chapter);
    chapter = exercise.chapter;
    done += app.progress().is_passed(exercise.id) ? 1 : 0;
    text += list_row(app, exercise, place, &exercise == place.here);
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

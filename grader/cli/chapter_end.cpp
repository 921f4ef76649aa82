#include "cli/chapter_end.h"

#include <algorithm>
#include <ctime>
#include <optional>
#include <vector>

#include "cli/speed_text.h"
#include "course/text.h"

namespace grade {
namespace {

constexpr int kStepsPerTodo = 3;

// What .progress knows of an exercise, or of several.
struct Figures {
  std::string name;
  int planned = 0;                // minutes
  std::optional<double> minutes;  // from the pass before to this one
  int hints = 0, steps = 0;       // shown, and all there are
  int right = 0, predicted = 0;

  Figures& operator+=(const Figures& other) {
    if (other.minutes) minutes = minutes.value_or(0) + *other.minutes;
    planned += other.planned;
    hints += other.hints;
    steps += other.steps;
    right += other.right;
    predicted += other.predicted;
    return *this;
  }
};

std::time_t time_of(const std::string& text) {
  std::tm utc{};
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr ? 0 : ::timegm(&utc);
}

// Since the pass before it; nothing where there was none, or a pause in between.
std::optional<double> minutes_of(App& app, const std::string& id) {
  constexpr double kLongest = 180;  // minutes at one exercise; more is a pause
  const auto& passed = app.progress().passed;
  const auto own = passed.find(id);
  if (own == passed.end()) return std::nullopt;
  const std::time_t end = time_of(own->second);
  std::time_t begin = 0;
  for (const auto& [other, text] : passed) {
    const std::time_t time = time_of(text);
    if (other != id && time <= end) begin = std::max(begin, time);
  }
  const double minutes = std::difftime(end, begin) / 60;
  return begin == 0 || minutes > kLongest ? std::nullopt : std::optional(minutes);
}

Figures figures_of(App& app, const course::Exercise& exercise) {
  Figures figures;
  figures.name = exercise.name;
  figures.planned = exercise.minutes;
  figures.minutes = minutes_of(app, exercise.id);
  figures.steps = kStepsPerTodo * exercise.todos;
  for (const auto& [key, steps] : app.progress().hints) {
    if (key.first == exercise.id) figures.hints += steps;
  }
  for (const auto& [key, right] : app.progress().predictions) {
    if (key.first != exercise.id) continue;
    ++figures.predicted;
    figures.right += right ? 1 : 0;
  }
  return figures;
}

std::string of_all(int part, int all) {
  return all == 0 ? "-" : std::to_string(part) + " of " + std::to_string(all);
}

// A bar of the minutes that were taken, with a mark where the planned ones end.
std::string bar(const Figures& figures, double minutes_per_mark, size_t width) {
  const auto marks = [&](double minutes) {
    return std::min(width - 1, static_cast<size_t>(minutes / minutes_per_mark + 0.5));
  };
  std::string text(width, ' ');
  if (figures.minutes) std::fill_n(text.begin(), marks(*figures.minutes), '#');
  text[marks(figures.planned)] = '|';
  return text;
}

std::string minutes_text(const Figures& figures) {
  char text[16] = "-";
  if (figures.minutes) std::snprintf(text, sizeof text, "%.0f", *figures.minutes);
  return text;
}

// As wide as the terminal: the bars take what room the figures leave, and are left out where that
// is next to nothing.
std::string table(const std::vector<Figures>& rows, const Terminal& terminal) {
  constexpr size_t kBetween = 2, kNarrowest = 5;
  size_t name = 0, minutes = width_of("min"), hints = width_of("hints"),
         predicted = width_of("predicted");
  double most = 1;
  for (const Figures& row : rows) {
    name = std::max(name, width_of(row.name));
    minutes = std::max(minutes, minutes_text(row).size());
    hints = std::max(hints, of_all(row.hints, row.steps).size());
    predicted = std::max(predicted, of_all(row.right, row.predicted).size());
    most = std::max({most, static_cast<double>(row.planned), row.minutes.value_or(0)});
  }
  const size_t figures = minutes + hints + predicted + 4 * kBetween;
  const size_t columns = static_cast<size_t>(terminal.columns);
  name = std::min(name, columns - std::min(columns, figures));
  const size_t left = columns - std::min(columns, figures + name + kBetween);
  const size_t width = left < kNarrowest ? 0 : left;
  const auto row_text = [&](const std::string& bars, const std::string& what, const std::string& a,
                            const std::string& b, const std::string& c) {
    return "  " + pad(cut(what, name), name + (width > 0 ? kBetween : 0)) + pad(bars, width) +
           pad_left(a, minutes + kBetween) + pad_left(b, hints + kBetween) +
           pad_left(c, predicted + kBetween) + "\n";
  };
  const double minutes_per_mark =
      width > 0 ? std::max(most / static_cast<double>(width - 1), 0.5) : 0;
  std::string text = row_text("", "", "min", "hints", "predicted");
  for (const Figures& row : rows) {
    text +=
        row_text(width > 0 ? bar(row, minutes_per_mark, width) : "", row.name, minutes_text(row),
                 of_all(row.hints, row.steps), of_all(row.right, row.predicted));
  }
  return text + wrap(std::string(width > 0 ? "#" : "min") +
                         ": minutes since the pass before, without pauses. " +
                         (width > 0 ? "|: as planned. " : "") +
                         "hints: steps that were shown. predicted: right of all.",
                     "  ", terminal.columns);
}

// "You will be able to ..." of a chapter's page, as it is now.
std::string what_was_learnt(App& app, const course::Chapter& chapter) {
  constexpr const char* kPromise = "**You will be able to** ";
  const std::filesystem::path page = app.paths().root / "chapters" / chapter.id / "README.md";
  if (!std::filesystem::exists(page)) return "";
  for (const std::string& line : course::split_lines(course::read_text(page))) {
    if (!course::starts_with(line, kPromise)) continue;
    const std::string rest = line.substr(std::string(kPromise).size());
    return "You can now " + course::replace_all(course::replace_all(rest, "You will ", "You can "),
                                                " you will ", " you now ");
  }
  return "";
}

std::string best_times(App& app, const std::string& chapter) {
  std::string text;
  for (const auto& [key, seconds] : app.progress().best) {
    if (!course::starts_with(key.first, chapter + "/")) continue;
    text += "  " + pad(key.first.substr(chapter.size() + 1), 28) + " " + time_text(seconds) +
            " a call, " + key.second + "\n";
  }
  return text.empty() ? "" : "\nYour best times\n" + text;
}

bool is_done(App& app, const std::string& chapter, bool with_bonus) {
  const auto& all = app.course().exercises;
  return std::all_of(all.begin(), all.end(), [&](const course::Exercise& exercise) {
    return exercise.chapter != chapter || app.progress().is_passed(exercise.id) ||
           (exercise.bonus && !with_bonus) || !missing_here(exercise).empty();
  });
}

std::string number_of(const course::Chapter& chapter) {
  return chapter.id.substr(0, chapter.id.find('_'));
}

}  // namespace

const course::Chapter& chapter_of(App& app, const course::Exercise& exercise) {
  for (const course::Chapter& chapter : app.course().chapters) {
    if (chapter.id == exercise.chapter) return chapter;
  }
  throw course::Error("chapters/course.json", 0, exercise.id + " is in no chapter.");
}

bool ends_chapter(App& app, const course::Exercise& exercise, const Grading& grading) {
  if (!grading.first_pass) return false;
  return is_done(app, exercise.chapter, exercise.bonus);
}

std::string chapter_end_text(App& app, const course::Chapter& chapter) {
  const Terminal& terminal = app.terminal();
  const std::string done =
      terminal.paint(Style::kGood, "Chapter " + number_of(chapter) + " is done");
  std::string text = wrap(done + ": " + chapter.title, "", terminal.columns) + "\n";
  const std::string learnt = what_was_learnt(app, chapter);
  if (!learnt.empty()) text += wrap(learnt, "", terminal.columns) + "\n";
  std::vector<Figures> rows;
  for (const course::Exercise& exercise : app.course().exercises) {
    if (exercise.chapter == chapter.id) rows.push_back(figures_of(app, exercise));
  }
  text += "Your figures\n" + table(rows, terminal) + best_times(app, chapter.id);
  const course::Exercise* next = app.current();
  if (next == nullptr) return text;
  const course::Chapter& other = chapter_of(app, *next);
  if (other.id == chapter.id) return text + "\nNext: " + next->id + ", a bonus.\n";
  return text + "\n" +
         wrap("Next: chapter " + number_of(other) + ", " + other.title + ": chapters/" + other.id +
                  "/README.md",
              "", terminal.columns);
}

std::string course_end_text(App& app) {
  const Terminal& terminal = app.terminal();
  std::vector<Figures> rows;
  for (const course::Chapter& chapter : app.course().chapters) {
    rows.emplace_back().name = chapter.id;
    for (const course::Exercise& exercise : app.course().exercises) {
      if (exercise.chapter == chapter.id) rows.back() += figures_of(app, exercise);
    }
  }
  const size_t all = app.course().exercises.size(), passed = app.progress().passed.size();
  const std::string what = passed >= all ? "All " + course::plural(all, "exercise") + " are passed"
                                         : "All that this machine can grade is passed";
  return terminal.paint(Style::kGood, "The end of the course") + "\n\n" +
         wrap(what + (passed >= all ? "."
                                    : ", " + std::to_string(passed) + " of " + std::to_string(all) +
                                          "; ./grade check-all says what the others need."),
              "", terminal.columns) +
         "\nYour figures\n" + table(rows, terminal) + "\n" +
         wrap(
             "docs/background/next_steps.md says where to go from here. ./grade watch EX opens an "
             "exercise again, ./grade compare EX shows the reference beside yours.",
             "", terminal.columns);
}

}  // namespace grade

#include "cli/watch/screens.h"

#include <algorithm>

#include "cli/commands.h"
#include "cli/lesson_text.h"
#include "course/text.h"

namespace grade {

std::string welcome_text(App& app, const course::Exercise& exercise) {
  const Terminal& terminal = app.terminal();
  const int columns = terminal.columns;
  std::string text =
      terminal.paint(Style::kBold, "Welcome to " + app.course().title + ".") + "\n\n";
  text += wrap(
              "You learn CUDA C++ by making kernels pass, one small exercise at a time. No GPU is "
              "needed.",
              "", columns) +
          "\n";
  text += wrap(page_of(app, exercise), "  Read  ", columns);
  text += wrap("is the page of the first exercise: here with r, or in your editor.", "        ",
               columns);
  text += wrap("chapters/" + exercise.id + exercise.extension(), "  Edit  ", columns);
  text += wrap("in your own editor, beside this window.", "        ", columns);
  text += wrap("and it is graded: here you read what is right, and what is wrong and why.",
               "  Save  ", columns);
  text += "\n" + wrap("h gives a hint, ? shows all keys, q quits. ./grade goes on where you were.",
                      "", columns);
  text += wrap("All of this is in " + app.paths().root.string(), "", columns);
  return text + "\n" + terminal.paint(Style::kDim, "Any key begins.");
}

std::string header_text(App& app) {
  const auto& all = app.course().exercises;
  const auto done = std::count_if(all.begin(), all.end(), [&](const course::Exercise& exercise) {
    return app.progress().is_passed(exercise.id);
  });
  const std::string count = std::to_string(done) + " of " + std::to_string(all.size());
  const std::string title = app.course().title;
  constexpr size_t kWidest = 40, kBrackets = 6;
  const size_t taken = width_of(title) + count.size() + kBrackets;
  const size_t width =
      std::min(kWidest, static_cast<size_t>(app.terminal().columns) - std::min<size_t>(taken, 30));
  const size_t filled = static_cast<size_t>(done) * width / all.size();
  return title + "  [" + std::string(filled, '#') + std::string(width - filled, '-') + "]  " +
         count + "\n\n";
}

std::string files_text(App& app, const course::Exercise& exercise) {
  const int columns = app.terminal().columns;
  return wrap(page_of(app, exercise), "Read  ", columns) +
         wrap("chapters/" + exercise.id + exercise.extension(), "Edit  ", columns);
}

std::string keys_help(App& app) {
  const bool has_view = find_command("view") != nullptr;
  const std::vector<std::pair<std::string, std::string>> keys = {
      {"r", "read the page of the exercise here"},
      {"o", "open that page in a browser"},
      {"p", "predict what its lesson asks, before a run tells"},
      {"h", "a hint, each time one step further"},
      {"e", "explain the finding that the verdict names"},
      {"t", "trace the failing thread, step by step"},
      {"v", has_view ? "view the run in pictures" : ""},
      {"m", "more: the whole verdict, all that was printed"},
      {"d", "the difference from the reference, after a pass"},
      {"n", "the next exercise, after a pass"},
      {"l", "list all exercises: move, search, open one"},
      {"c", "check all exercises that are not passed"},
      {"x", "the starter again; a copy of your file is kept"},
      {"q", "quit; ./grade goes on where you were"},
  };
  std::string text = app.terminal().paint(Style::kBold, "Keys") + "\n";
  for (const auto& [key, what] : keys) {
    if (!what.empty()) text += wrap(what, "  " + key + "  ", app.terminal().columns);
  }
  return text + "\n" +
         wrap(
             "In another terminal, ./grade --help lists all commands. ./grade profile counts what "
             "each line of your kernel costs.",
             "", app.terminal().columns);
}

std::string keys_line(const std::vector<std::string>& keys, const Terminal& terminal) {
  std::string text;
  size_t at = 0;
  for (const std::string& key : keys) {
    const bool fits = at + 2 + key.size() <= static_cast<size_t>(terminal.columns);
    text += text.empty() ? "" : fits ? "  " : "\n";
    at = text.empty() || !fits ? key.size() : at + 2 + key.size();
    text += key;
  }
  return text;
}

std::string first_rows(const std::string& text, int rows) {
  std::vector<std::string> lines = course::split_lines(text);
  const size_t most = static_cast<size_t>(std::max(rows, 3));
  if (lines.size() <= most) return text;
  const size_t rest = lines.size() - (most - 1);
  lines.resize(most - 1);
  return course::join(lines, "\n") + "\n        ... and " + course::plural(rest, "line") +
         " more: key m\n";
}

std::string title_and_last_rows(const std::string& text, int rows) {
  std::vector<std::string> lines = course::split_lines(text);
  const size_t most = static_cast<size_t>(std::max(rows, 3));
  if (lines.size() <= most) return text;
  const size_t left_out = lines.size() - (most - 1);
  lines.erase(lines.begin() + 1, lines.begin() + 1 + static_cast<std::ptrdiff_t>(left_out));
  lines.insert(lines.begin() + 1,
               "        ... " + course::plural(left_out, "line") + " before: key m");
  return course::join(lines, "\n") + "\n";
}

}  // namespace grade

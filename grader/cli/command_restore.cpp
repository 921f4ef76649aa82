// grade restore [EX [N]]: what reset and update kept of your files, and one of them back.
#include <sys/stat.h>

#include <algorithm>
#include <ctime>

#include "cli/app.h"
#include "cli/commands.h"
#include "cli/kept.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::string when_kept(const fs::path& file) {
  struct stat facts = {};
  if (::stat(file.c_str(), &facts) != 0) return "";
  std::tm local{};
  ::localtime_r(&facts.st_mtim.tv_sec, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

std::string kept_list(App& app) {
  std::string text;
  for (const course::Exercise& exercise : app.course().exercises) {
    for (const KeptCopy& copy : copies_of(app.paths(), exercise)) {
      text += "  " + when_kept(app.paths().root / copy.file) + "  " + copy.file.string() + "\n";
    }
  }
  if (text.empty()) return "No copy of a file of yours is kept: nothing has replaced one yet.\n";
  return "Copies of your files that something replaced\n" + text +
         "./grade restore EX brings the newest of an exercise back, ./grade restore EX N\n"
         "copy N; what is there now is kept, too.\n";
}

KeptCopy wanted_copy(const std::vector<KeptCopy>& copies, const std::string& number,
                     const std::string& id) {
  const auto found = std::find_if(copies.begin(), copies.end(), [&](const KeptCopy& copy) {
    return number.empty() || std::to_string(copy.number) == number;
  });
  if (found != copies.end()) return *found;
  throw UsageError(copies.empty() ? "no copy of " + id + " is kept."
                                  : "of " + id + " copies 1 to " + std::to_string(copies.size()) +
                                        " are kept, not \"" + harmless(number) + "\".");
}

// Nothing is kept of what can be had again.
bool is_worth_keeping(const course::ExerciseFiles& files, const std::string& text) {
  return text != course::starter_text(course::read_text(files.solution), files.solution.string());
}

}  // namespace

int restore_command(App& app) {
  const std::vector<std::string>& operands = app.options().operands;
  if (operands.empty()) {
    print(kept_list(app));
    return kPass;
  }
  const course::Exercise& exercise = app.named(operands[0]);
  const std::vector<KeptCopy> copies = copies_of(app.paths(), exercise);
  const KeptCopy copy = wanted_copy(copies, operands.size() > 1 ? operands[1] : "", exercise.id);
  const std::string text = course::read_text(app.paths().root / copy.file);
  const course::ExerciseFiles files = course::files_of(app.paths().root, exercise);
  const std::string name = "chapters/" + exercise.id + exercise.extension();
  const std::string now = fs::exists(files.starter) ? course::read_text(files.starter) : "";
  if (now == text) {
    print(name + " is that copy already.\n");
    return kPass;
  }
  std::string kept;
  if (!now.empty() && is_worth_keeping(files, now)) {
    kept = "What was there is kept as " + keep_copy(app.paths(), files.starter).string() + ".\n";
  }
  course::write_text(files.starter, text);
  print(name + " is " + copy.file.string() + " again.\n" + kept);
  return kPass;
}

}  // namespace grade

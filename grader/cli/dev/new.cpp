// grade dev new NN_topic/MM_name: a small exercise that passes every gate, for its author to
// rewrite.
#include "cli/dev/dev.h"
#include "cli/dev/new_templates.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

// "02_global_index" -> "GlobalIndex"
std::string pascal_case(const std::string& name) {
  std::string text;
  bool upper = true;
  for (const char c : name.substr(3)) {
    if (c == '_') {
      upper = true;
    } else {
      text += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      upper = false;
    }
  }
  return text;
}

// "02_global_index" -> "Global index"
std::string title_of(const std::string& name) {
  const std::string words = course::replace_all(name.substr(3), "_", " ");
  return pascal_case(name).substr(0, 1) + words.substr(std::min<size_t>(1, words.size()));
}

std::string upper_case(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    if (c == '/') c = '_';
  }
  return text;
}

std::string filled(std::string text, const course::Exercise& exercise) {
  text = course::replace_all(text, "@ID@", exercise.id);
  text = course::replace_all(text, "@FILE@", exercise.name);
  text = course::replace_all(text, "@NUMBERS@",
                             exercise.chapter.substr(0, 2) + "/" + exercise.name.substr(0, 2));
  text = course::replace_all(text, "@NUMBER@", exercise.name.substr(0, 2));
  text = course::replace_all(text, "@NAME@", exercise.name.substr(3));
  text = course::replace_all(text, "@SUITE@", pascal_case(exercise.name));
  text = course::replace_all(text, "@TITLE@", title_of(exercise.name));
  return course::replace_all(text, "@GUARD@", "CHAPTERS_" + upper_case(exercise.id) + "_H_");
}

// Line `number` (from 1) begins here.
size_t position_of_line(const std::string& text, int number) {
  size_t at = 0;
  for (int line = 1; line < number; ++line) at = text.find('\n', at) + 1;
  return at;
}

// course.json with the exercise after the last one of its chapter, everything else untouched.
std::string with_entry(const std::string& json, const course::Course& course,
                       const course::Exercise& exercise) {
  const std::string entry = filled(kCourseEntry, exercise);
  for (const course::Exercise& other : course.exercises) {
    if (other.chapter <= exercise.chapter) continue;
    const size_t at = json.find_first_not_of(' ', position_of_line(json, other.line));
    return json.substr(0, at) + entry + ",\n    " + json.substr(at);
  }
  const size_t last = json.rfind('}', json.rfind(']'));
  return json.substr(0, last + 1) + ",\n    " + entry + json.substr(last + 1);
}

course::Exercise parse_id(App& app, const std::string& id) {
  const size_t slash = id.find('/');
  course::Exercise exercise;
  exercise.id = id;
  exercise.chapter = id.substr(0, slash);
  if (slash != std::string::npos) exercise.name = id.substr(slash + 1);
  const bool known =
      std::any_of(app.course().chapters.begin(), app.course().chapters.end(),
                  [&](const auto& chapter) { return chapter.id == exercise.chapter; });
  if (!known) {
    throw UsageError("no chapter is called \"" + harmless(exercise.chapter) +
                     "\"; add it to \"chapters\" of chapters/course.json first.");
  }
  if (app.course().find(id) != nullptr) throw UsageError(id + " exists already.");
  return exercise;
}

}  // namespace

int dev_new(App& app, const DevArguments& arguments) {
  if (arguments.operands.empty()) throw UsageError("name it: ./grade dev new NN_topic/MM_name");
  const course::Exercise exercise = parse_id(app, arguments.operands.front());
  const fs::path root = app.paths().root, manifest = root / "chapters" / "course.json";
  const std::string json = with_entry(course::read_text(manifest), app.course(), exercise);
  course::parse_course(json, manifest.string());  // also refuses a malformed name

  const course::ExerciseFiles files = course::files_of(root, exercise);
  const std::string solution = filled(kSolution, exercise);
  std::vector<std::pair<fs::path, std::string>> written = {
      {files.solution, solution},
      {files.starter, course::starter_text(solution, files.solution.string())},
      {files.header, filled(kHeader, exercise)},
      {files.test, filled(kTest, exercise)},
      {files.hints, filled(kHints, exercise)},
      {files.gates / "mutants.txt", filled(kMutants, exercise)},
      {files.gates / "variant_grid_stride.cu", filled(kVariant, exercise)}};
  for (const course::Chapter& chapter : app.course().chapters) {
    if (chapter.id != exercise.chapter || !chapter.lessons) continue;
    written.emplace_back(files.lesson, filled(kLesson, exercise));
    written.emplace_back(files.answers, filled(kAnswers, exercise));
  }
  for (const auto& [file, text] : written) {
    if (fs::exists(file))
      throw course::Error(file.string(), 0, "exists already; remove or rename it.");
  }
  std::string report = "wrote\n";
  for (const auto& [file, text] : written) {
    course::write_text(file, text);
    report += "  " + file.lexically_proximate(root).generic_string() + "\n";
  }
  course::write_text(manifest, json);
  print(report + "  chapters/course.json (the entry of " + exercise.id + ")\n" +
        "It passes every gate once it is in git's index:\n"
        "  git add .; ./grade dev sync; ./grade dev check " +
        exercise.name +
        "\n"
        "Now rewrite it, the solution first. CONTRIBUTING.md shows the way.\n");
  return kPass;
}

}  // namespace grade

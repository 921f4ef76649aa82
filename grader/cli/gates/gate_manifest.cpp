// Gate 1: unique ids (the reader of course.json), files on both sides, no stray file, three hint
// steps for every TODO, nothing needed before it is taught, no name of a file that is not there.
// What an exercise is not asked is listed with its reason.
#include <algorithm>
#include <regex>
#include <set>

#include "cli/gates/class_table.h"
#include "cli/gates/file_names.h"
#include "cli/gates/gate.h"
#include "cli/gates/lesson_answers.h"
#include "course/starter.h"
#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

constexpr int kManifestGate = 1;

class ExerciseFilesCheck {
 public:
  ExerciseFilesCheck(const GateContext& context, const course::Exercise& exercise)
      : context_(context),
        exercise_(exercise),
        files_(course::files_of(context.paths->root, exercise)) {}

  Item run() {
    try {
      need_files();
      check_todos();
      course::parse_hints(course::read_text(files_.hints), shown(context_, files_.hints),
                          exercise_.todos);
      check_mutants();
      const std::vector<std::string> more = answer_problems(context_, exercise_);
      problems_.insert(problems_.end(), more.begin(), more.end());
      check_not_asked();
      check_largest_sizes();
    } catch (const course::Error& error) {
      problems_.push_back(error.what());
    }
    if (problems_.empty()) return passed(kManifestGate, exercise_.id);
    return failed(kManifestGate, exercise_.id, course::join(problems_, "\n"));
  }

 private:
  void need_files() {
    for (const fs::path& file : {files_.starter, files_.header, files_.test, files_.hints,
                                 files_.solution, files_.gates / "mutants.txt"}) {
      if (file.empty() || fs::is_regular_file(file)) continue;
      if (file == files_.starter) {
        problems_.push_back(shown(context_, file) + " is missing; run ./grade dev sync.");
      } else {
        problems_.push_back(shown(context_, file) + " is missing; every exercise has one.");
      }
    }
    if (has_lessons() && !fs::is_regular_file(files_.lesson)) {
      problems_.push_back(shown(context_, files_.lesson) +
                          " is missing; every exercise of this chapter has a lesson.");
    }
    // Without the solution nothing else can be said.
    if (!fs::is_regular_file(files_.solution))
      throw course::Error("", 0, "nothing more was checked.");
  }

  bool has_lessons() const {
    return std::any_of(
        context_.course->chapters.begin(), context_.course->chapters.end(),
        [&](const course::Chapter& c) { return c.id == exercise_.chapter && c.lessons; });
  }

  void check_todos() {
    const std::string name = shown(context_, files_.solution);
    const course::MarkedSource source =
        course::parse_marked(course::read_text(files_.solution), name);
    if (source.todos != exercise_.todos) {
      problems_.push_back(name + " has " +
                          course::plural(static_cast<size_t>(source.todos), "TODO") +
                          ", course.json:" + std::to_string(exercise_.line) + " says " +
                          std::to_string(exercise_.todos) + "; correct one of them.");
    }
    const std::string starter = course::starter_text(source);
    for (int todo = 1; todo <= source.todos; ++todo) {
      const std::string mark = "TODO(" + std::to_string(todo) + ")";
      if (!exercise_.capstone && starter.find(mark) == std::string::npos) {
        problems_.push_back(name + ": the starter nowhere says " + mark +
                            "; write it in a starter-only line of that region.");
      }
    }
  }

  void check_mutants() {
    constexpr size_t kLeast = 3;
    const fs::path file = files_.gates / "mutants.txt";
    size_t mutants = 0, variants = 0;
    for (const course::Derived& derived : course::derive(context_.paths->root, exercise_)) {
      mutants += derived.what == course::Derived::What::kMutant ? 1 : 0;
      variants += derived.what == course::Derived::What::kVariant ? 1 : 0;
    }
    if (mutants < kLeast) {
      problems_.push_back(shown(context_, file) + " has " + course::plural(mutants, "mutant") +
                          ", expected at least 3 of different kinds.");
    }
    if (variants == 0) {
      problems_.push_back(shown(context_, files_.gates) + " holds no variant_NAME" +
                          exercise_.extension() + "; write one correct solution in another way.");
    }
  }

  // A test that is named must be there, or the reason outlives what it is about.
  void check_not_asked() {
    const std::string test = course::read_text(files_.test);
    for (const course::NotAsked& one : exercise_.not_asked) {
      if (one.test.empty()) continue;
      const size_t dot = one.test.find('.');
      const std::regex definition("TEST(_F|_P)?\\(" + one.test.substr(0, dot) + ",\\s*" +
                                  one.test.substr(dot + 1) + "\\)");
      if (std::regex_search(test, definition)) continue;
      problems_.push_back("chapters/course.json:" + std::to_string(exercise_.line) + ": " +
                          exercise_.id + " is not asked \"" + one.key + "\" in " + one.test +
                          ", but its test file has no such test; correct the name.");
    }
  }

  // A header that names a large size has a test that asks for it, or a reason why none does.
  void check_largest_sizes() {
    if (exercise_.exempt("huge_arrays") != nullptr || !fs::exists(files_.header)) return;
    static const std::regex size(R"(2\^(1[6-9]|2[0-9]|3[01])|10\^9|65,?53[56])");
    std::smatch found;
    const std::string header = course::read_text(files_.header);
    if (!std::regex_search(header, found, size)) return;
    const auto& all = course::answer_classes();
    const auto one = std::find_if(all.begin(), all.end(), [](const course::AnswerClass& each) {
      return std::string(each.key) == "huge_arrays";
    });
    if (arises(*context_.course, exercise_, *one)) return;
    problems_.push_back(shown(context_, files_.header) + " allows sizes up to " + found.str() +
                        ", and no test asks for them: add a case of kit::at_largest "
                        "(grader/kit/largest.h), or \"huge_arrays\" to \"not_asked\" with the "
                        "reason.");
  }

  const GateContext& context_;
  const course::Exercise& exercise_;
  const course::ExerciseFiles files_;
  std::vector<std::string> problems_;
};

// Every file of chapters/ and solutions/ that the manifest accounts for.
class StrayFiles {
 public:
  explicit StrayFiles(const GateContext& context) : context_(context) {
    const fs::path root = context.paths->root;
    known_.insert((root / "chapters" / "course.json").string());
    known_.insert((root / "chapters" / "checksums.txt").string());
    for (const course::Chapter& chapter : context.course->chapters) {
      for (const char* name : {"README.md", "support.h", "support.cu", "support.py"}) {
        known_.insert((root / "chapters" / chapter.id / name).string());
      }
    }
    for (const course::Exercise& exercise : context.course->exercises) {
      const course::ExerciseFiles files = course::files_of(root, exercise);
      for (const fs::path& file : {files.starter, files.header, files.test, files.hints,
                                   files.solution, files.lesson, files.answers}) {
        known_.insert(file.string());
      }
      for (const char* given : {"_baseline.cu", "_baseline.py", "_support.h", "_support.cu",
                                "_forward.cu", "_backward.cu", "_main.cpp", ".sbatch"}) {
        fs::path file = files.starter;
        known_.insert(file.replace_filename(exercise.name + given).string());
      }
      folders_.insert(files.gates.string());
    }
  }

  std::vector<std::string> problems() {
    const fs::path root = context_.paths->root;
    for (const char* folder : {"chapters", "solutions"}) look(root / folder);
    for (const fs::path& chapter : entries(root / "grader" / "tests" / "exercises")) {
      for (const fs::path& exercise : entries(chapter)) {
        if (folders_.count(exercise.string()) == 0) stray(exercise);
      }
    }
    return problems_;
  }

 private:
  static std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> found;
    if (!fs::is_directory(folder)) return found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      // What editors leave behind is nobody's exercise.
      const bool hidden = name[0] == '.' || name.back() == '~';
      if (!hidden && name != "__pycache__") found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  void look(const fs::path& folder) {
    for (const fs::path& entry : entries(folder)) {
      if (fs::is_directory(entry)) {
        if (entry.filename() != "test") look(entry);  // what the tests of a chapter share
      } else if (known_.count(entry.string()) == 0) {
        stray(entry);
      }
    }
  }

  void stray(const fs::path& path) {
    problems_.push_back(shown(context_, path) +
                        " belongs to no exercise of chapters/course.json; list it or remove it.");
  }

  const GateContext& context_;
  std::set<std::string> known_, folders_;
  std::vector<std::string> problems_;
};

std::vector<std::string> order_problems(const GateContext& context) {
  std::vector<std::string> problems;
  std::set<std::string> taught;
  for (const course::Exercise& exercise : context.course->exercises) {
    for (const std::string& need : exercise.needs) {
      if (taught.count(need) != 0) continue;
      problems.push_back("chapters/course.json:" + std::to_string(exercise.line) + ": " +
                         exercise.id + " needs \"" + need +
                         "\", which no earlier exercise teaches; move it or correct the name.");
    }
    taught.insert(exercise.teaches.begin(), exercise.teaches.end());
  }
  return problems;
}

}  // namespace

std::vector<Item> check_manifest(const GateContext& context) {
  std::vector<Item> items;
  for (const course::Exercise* exercise : context.exercises) {
    items.push_back(ExerciseFilesCheck(context, *exercise).run());
    for (const course::NotAsked& one : exercise->not_asked) {
      const std::string where = one.test.empty() ? "" : " in " + one.test;
      items.push_back(
          skipped(kManifestGate, exercise->id + " is not asked " + one.key + where, one.reason));
    }
  }
  if (!context.whole_course) return items;
  const auto add = [&](const char* name, const std::vector<std::string>& problems) {
    items.push_back(problems.empty() ? passed(kManifestGate, name)
                                     : failed(kManifestGate, name, course::join(problems, "\n")));
  };
  add("no stray files", StrayFiles(context).problems());
  add("files are called by the names that they have", name_problems(context));
  add("nothing is needed before it is taught", order_problems(context));
  std::vector<std::string> empty;
  for (const course::Chapter& chapter : context.course->chapters) {
    const bool used =
        std::any_of(context.course->exercises.begin(), context.course->exercises.end(),
                    [&](const course::Exercise& e) { return e.chapter == chapter.id; });
    if (!used) {
      empty.push_back("chapters/course.json:" + std::to_string(chapter.line) + ": chapter " +
                      chapter.id + " has no exercise; add one or remove it.");
    }
  }
  add("every chapter has exercises", empty);
  return items;
}

}  // namespace grade

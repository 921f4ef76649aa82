#include "cli/gates/class_table.h"

#include <algorithm>
#include <sstream>
#include <vector>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

bool is_class(const std::string& key) {
  const auto& all = course::answer_classes();
  return std::any_of(all.begin(), all.end(),
                     [&](const course::AnswerClass& one) { return one.key == key; });
}

// "- *called again*: 01/01 (in HelloThreads.Prints), 03/05: the reason"; the same reason once.
std::string reasons(const course::Course& course) {
  std::string text;
  for (const course::AnswerClass& answer_class : course::answer_classes()) {
    std::vector<std::string> order;
    std::map<std::string, std::vector<std::string>> places;
    for (const course::Exercise& exercise : course.exercises) {
      for (const course::NotAsked& one : exercise.not_asked) {
        if (one.key != answer_class.key) continue;
        if (places.count(one.reason) == 0) order.push_back(one.reason);
        places[one.reason].push_back(exercise.number() +
                                     (one.test.empty() ? "" : " in `" + one.test + "`"));
      }
    }
    for (const std::string& reason : order) {
      text += std::string("- *") + answer_class.title + "*, " + course::join(places[reason], ", ") +
              ": " + reason + "\n";
    }
  }
  return text.empty() ? text : "\nNot asked, and why:\n\n" + text;
}

}  // namespace

fs::path PlantedAnswers::file(const fs::path& root) {
  return root / "grader" / "tests" / "classes" / "planted.txt";
}

PlantedAnswers PlantedAnswers::read(const course::Course& course) {
  PlantedAnswers planted;
  const fs::path path = file(course.root);
  if (!fs::exists(path)) return planted;
  int number = 0;
  for (const std::string& line : course::split_lines(course::read_text(path))) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string exercise, key, plant, more;
    in >> exercise >> key >> plant >> more;
    if (plant.empty() || !more.empty() || course.find(exercise) == nullptr || !is_class(key)) {
      throw course::Error(path.string(), number,
                          "this line names no exercise and class; run ./grade dev classes.");
    }
    planted.plants_[exercise][key].insert(plant);
  }
  return planted;
}

const std::set<std::string>& PlantedAnswers::of(const std::string& exercise,
                                                const std::string& key) const {
  static const std::set<std::string> kNone;
  const auto at = plants_.find(exercise);
  if (at == plants_.end()) return kNone;
  const auto found = at->second.find(key);
  return found == at->second.end() ? kNone : found->second;
}

void PlantedAnswers::replace(const std::string& exercise, const std::string& key,
                             std::set<std::string> plants) {
  plants_[exercise][key] = std::move(plants);
}

std::string PlantedAnswers::text(const course::Course& course) const {
  std::string text =
      "# Planted answers that were refused in the words of their class; ./grade dev classes "
      "writes this.\n";
  for (const course::Exercise& exercise : course.exercises) {
    for (const course::AnswerClass& one : course::answer_classes()) {
      for (const std::string& plant : of(exercise.id, one.key)) {
        text += exercise.id + " " + one.key + " " + plant + "\n";
      }
    }
  }
  return text;
}

bool arises(const course::Course& course, const course::Exercise& exercise,
            const course::AnswerClass& answer_class) {
  if (answer_class.words.empty()) return true;
  const course::ExerciseFiles files = course::files_of(course.root, exercise);
  for (const fs::path& file : {files.header, files.test}) {
    const std::string text = fs::exists(file) ? course::read_text(file) : "";
    for (const char* word : answer_class.words) {
      if (text.find(word) != std::string::npos) return true;
    }
  }
  return false;
}

std::string class_cell(const course::Course& course, const course::Exercise& exercise,
                       const course::AnswerClass& answer_class, const PlantedAnswers& planted) {
  if (exercise.kind == course::Kind::kPython) return "Python";
  if (exercise.gpu_only) return "GPU";
  if (exercise.exempt(answer_class.key) != nullptr) return "no";
  if (!planted.of(exercise.id, answer_class.key).empty()) return "shown";
  const bool by_tests = answer_class.asker == course::AnswerClass::kTests;
  return by_tests || !arises(course, exercise, answer_class) ? "" : "asked";
}

std::string class_table(const course::Course& course) {
  const PlantedAnswers planted = PlantedAnswers::read(course);
  std::string head = "| exercise |", rule = "| --- |", sums = "| **shown, of those asked** |";
  for (const course::AnswerClass& one : course::answer_classes()) {
    head += std::string(" ") + one.title + " |";
    rule += " --- |";
    size_t asked = 0, shown = 0;
    for (const course::Exercise& exercise : course.exercises) {
      const std::string cell = class_cell(course, exercise, one, planted);
      shown += cell == "shown" ? 1 : 0;
      asked += cell == "shown" || cell == "asked" ? 1 : 0;
    }
    sums += " " + std::to_string(shown) + " of " + std::to_string(asked) + " |";
  }
  std::string table = head + "\n" + rule + "\n" + sums + "\n";
  for (const course::Exercise& exercise : course.exercises) {
    table += "| " + exercise.number() + " |";
    for (const course::AnswerClass& one : course::answer_classes()) {
      table += " " + class_cell(course, exercise, one, planted) + " |";
    }
    table += "\n";
  }
  return table + reasons(course);
}

}  // namespace grade

#include "cli/gates/index_table.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>

#include "course/text.h"

namespace grade {

namespace fs = std::filesystem;

namespace {

std::string linked(const course::Exercise& exercise) {
  return "[" + exercise.number() + " " + exercise.name.substr(3) + "](../chapters/" + exercise.id +
         exercise.extension() + ")";
}

std::string minutes_text(int minutes) {
  if (minutes < 60) return std::to_string(minutes) + " min";
  return std::to_string(minutes / 60) + " h " + std::to_string(minutes % 60) + " min";
}

// Capital and small letters side by side.
struct ByLetters {
  bool operator()(const std::string& a, const std::string& b) const {
    const auto less = [](unsigned char x, unsigned char y) {
      return std::tolower(x) < std::tolower(y);
    };
    if (std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), less)) return true;
    if (std::lexicographical_compare(b.begin(), b.end(), a.begin(), a.end(), less)) return false;
    return a < b;
  }
};
template <class T>
using Index = std::map<std::string, T, ByLetters>;

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Comments name calls that the code does not make.
std::string without_comments(const std::string& source) {
  std::string text;
  for (const std::string& line : course::split_lines(source)) {
    text += line.substr(0, line.find("//")) + "\n";
  }
  return text;
}

std::vector<std::string> calls_in(const std::string& source) {
  static const std::regex kCall(
      "\\b((?:cuda|cublas|cublasLt|cublasXt|cudnn|cufft|curand|cusolver|nccl|nvtx|nvrtc|atomic)"
      "[A-Z]\\w*|__[a-z]\\w*|cg::\\w+)\\s*(?:<[^<>;]*>)?\\(");
  std::vector<std::string> calls;
  const std::string text = without_comments(source);
  for (std::sregex_iterator at(text.begin(), text.end(), kCall), end; at != end; ++at) {
    const std::string call = (*at)[1].str();
    if (!contains(calls, call)) calls.push_back(call);
  }
  return calls;
}

// The exercises of one stop.
std::vector<const course::Exercise*> exercises_at(const course::Course& course,
                                                  const std::string& stop) {
  std::vector<const course::Exercise*> found;
  for (const course::Exercise& exercise : course.exercises) {
    const std::string number = exercise.number();
    if (number == stop || number.substr(0, 3) + "*" == stop) found.push_back(&exercise);
  }
  return found;
}

}  // namespace

std::string concept_table(const course::Course& course) {
  struct Places {
    std::vector<std::string> taught, needed;
  };
  Index<Places> places;
  for (const course::Exercise& exercise : course.exercises) {
    for (const std::string& word : exercise.teaches) {
      places[word].taught.push_back(linked(exercise));
    }
    for (const std::string& word : exercise.needs) {
      places[word].needed.push_back(exercise.number());
    }
  }
  std::string table = "| concept | taught in | needed in |\n| --- | --- | --- |\n";
  for (const auto& [word, where] : places) {
    table += "| " + word + " | " + course::join(where.taught, ", ") + " | " +
             course::join(where.needed, ", ") + " |\n";
  }
  return table;
}

std::string call_table(const course::Course& course) {
  Index<std::vector<std::string>> users;
  for (const course::Exercise& exercise : course.exercises) {
    const fs::path solution = course::files_of(course.root, exercise).solution;
    if (!fs::exists(solution)) continue;
    for (const std::string& call : calls_in(course::read_text(solution))) {
      users[call].push_back(exercise.number());
    }
  }
  std::string table = "| call | exercises |\n| --- | --- |\n";
  for (const auto& [call, exercises] : users) {
    table += "| `" + call + "` | " + course::join(exercises, ", ") + " |\n";
  }
  return table;
}

std::string route_table(const course::Course& course, const std::vector<std::string>& stops) {
  std::string table = "| exercise | you learn | minutes |\n| --- | --- | --- |\n";
  int minutes = 0;
  for (const std::string& stop : stops) {
    const auto exercises = exercises_at(course, stop);
    if (exercises.empty()) {
      throw course::Error("chapters/course.json", 0, "no exercise has the number " + stop + ".");
    }
    for (const course::Exercise* exercise : exercises) {
      table += "| " + linked(*exercise) + " | " + course::join(exercise->teaches, ", ") + " | " +
               std::to_string(exercise->minutes) + " |\n";
      minutes += exercise->minutes;
    }
  }
  return table + "| **together** | | **" + minutes_text(minutes) + "** |\n";
}

}  // namespace grade

// The table exercise x class of grader/tests/classes/README.md.
#ifndef WARPLINGS_CLI_GATES_CLASS_TABLE_H_
#define WARPLINGS_CLI_GATES_CLASS_TABLE_H_

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "course/manifest.h"

namespace grade {

// grader/tests/classes/planted.txt: "EXERCISE CLASS PLANT" for every planted answer that was
// refused in the words of its class. `./grade dev classes` writes it.
class PlantedAnswers {
 public:
  // Of a file that is not there: none. Throws course::Error for a line that names nothing known.
  static PlantedAnswers read(const course::Course& course);
  static std::filesystem::path file(const std::filesystem::path& root);

  const std::set<std::string>& of(const std::string& exercise, const std::string& key) const;
  // Replaces what is known of one exercise and one class.
  void replace(const std::string& exercise, const std::string& key, std::set<std::string> plants);
  std::string text(const course::Course& course) const;

 private:
  std::map<std::string, std::map<std::string, std::set<std::string>>> plants_;
};

// The exercise has what the class asks about: statuses, an array beyond 2^31 elements.
bool arises(const course::Course& course, const course::Exercise& exercise,
            const course::AnswerClass& answer_class);
// What a cell says: how far an exercise is asked a class, and whether a planted answer shows it.
std::string class_cell(const course::Course& course, const course::Exercise& exercise,
                       const course::AnswerClass& answer_class, const PlantedAnswers& planted);
// The counts, the table and the list of what is not asked, with its reasons.
std::string class_table(const course::Course& course);

}  // namespace grade
#endif  // WARPLINGS_CLI_GATES_CLASS_TABLE_H_

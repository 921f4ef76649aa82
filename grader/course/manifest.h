// chapters/course.json: the order and the facts of every exercise.
#ifndef WARPLINGS_COURSE_MANIFEST_H_
#define WARPLINGS_COURSE_MANIFEST_H_

#include <filesystem>
#include <string>
#include <vector>

#include "course/error.h"

namespace course {

// A question that the kit asks of every answer, unless the manifest says why not ("not_asked").
// grader/tests/classes/README.md has them in words.
struct AnswerClass {
  const char* key;    // in course.json: "second_call"
  const char* title;  // of a column: "called again"
  const char* mark;   // how each of its messages begins
  // Who asks: the kit, wherever the header or the test has one of `words` (everywhere without any),
  // or tests of their own accord, which a planted answer has to show.
  enum Asker { kKit, kTests } asker;
  std::vector<const char*> words;
  // Wrong answers that ./grade dev classes makes of every solution (grader/tests/classes).
  std::vector<const char*> plants;
};
const std::vector<AnswerClass>& answer_classes();

// A class that an exercise, or one of its tests, is not asked.
struct NotAsked {
  std::string key;
  std::string test;  // "Suite.Name"; "" the whole exercise
  std::string reason;
};

enum class Kind { kKernel, kFix, kAnswer, kHost, kPython };

struct Exercise {
  std::string id;       // "02_vector_add/01_vector_add"
  std::string chapter;  // "02_vector_add"
  std::string name;     // "01_vector_add"
  std::string title;
  int minutes = 0;
  Kind kind = Kind::kKernel;
  int todos = 0;
  std::vector<std::string> teaches;
  std::vector<std::string> needs;  // each taught by an earlier exercise
  bool speed = false;
  bool bonus = false;
  bool capstone = false;   // ends a chapter: an empty file, whose starter has no TODO
  bool gpu_only = false;   // "device": "gpu"
  int gpus = 1;            // the least that it needs on a GPU; 0: it uses none
  int simulated_gpus = 1;  // devices of the simulator; as many unless it says otherwise
  int arch = 80;           // compute capability times ten
  bool only_arch = false;  // "arch": "90a": uses what no other architecture has
  std::vector<std::string> flags;
  std::vector<std::string> libraries;
  bool judged_by_simulator_only = false;  // "judge": "simulator"
  std::vector<std::string> links;
  std::vector<std::string> python;     // modules that a Python exercise imports: "numpy"
  std::vector<std::string> baselines;  // earlier exercises, or libraries: "cub", "cublas", "cudnn"
  std::vector<NotAsked> not_asked;
  int line = 0;  // of the object in course.json

  std::string number() const;     // "02/01"
  std::string target() const;     // "02_vector_add.01_vector_add"
  std::string extension() const;  // ".cu", or ".py" for kPython
  // Why the exercise as a whole is not asked a class, or nullptr.
  const NotAsked* exempt(const std::string& key) const;
};

struct Chapter {
  std::string id;
  std::string title;
  bool lessons = false;  // every exercise has a lesson, and no page gives an answer away
  int line = 0;
};

struct Course {
  std::filesystem::path root;
  std::string title;
  std::vector<Chapter> chapters;
  std::vector<Exercise> exercises;  // in the order in which they are taken

  const Exercise* find(const std::string& id) const;  // exact id, or nullptr
  // Exact id, unique prefix or unique substring; all candidates otherwise (empty: none).
  std::vector<const Exercise*> match(const std::string& text) const;
  // Ids nearest to a wrong name, best first.
  std::vector<std::string> near(const std::string& text, size_t most = 3) const;
};

// Reads ROOT/chapters/course.json. Throws course::Error with file and line.
Course load_course(const std::filesystem::path& root);
Course parse_course(const std::string& text, const std::string& file);

// Where the files of an exercise are. Absolute if root is.
struct ExerciseFiles {
  std::filesystem::path starter;   // chapters/NN/MM.cu: the learner's file
  std::filesystem::path header;    // chapters/NN/MM.h (absent in Python)
  std::filesystem::path test;      // chapters/NN/MM_test.cpp
  std::filesystem::path hints;     // chapters/NN/MM_hints.md
  std::filesystem::path solution;  // solutions/NN/MM.cu
  std::filesystem::path gates;     // grader/tests/exercises/NN/MM: mutants.txt, variant_*.cu
  std::filesystem::path readme;    // chapters/NN/README.md
  std::filesystem::path lesson;    // chapters/NN/MM.md (there where the chapter has lessons)
  std::filesystem::path answers;   // solutions/NN/MM_answers.txt, to what its lesson asks
};
ExerciseFiles files_of(const std::filesystem::path& root, const Exercise& exercise);

// Hints: steps[todo - 1][step]. Throws course::Error when a "## TODO N" section is missing,
// out of order or does not hold exactly three paragraphs.
std::vector<std::vector<std::string>> parse_hints(const std::string& text, const std::string& file,
                                                  int todos);

// Whole file as text; throws course::Error.
std::string read_text(const std::filesystem::path& file);
// Written to a temporary neighbour and renamed, so a reader never sees half. Throws course::Error.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace course
#endif  // WARPLINGS_COURSE_MANIFEST_H_

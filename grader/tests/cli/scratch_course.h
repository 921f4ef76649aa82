// A course of its own in a temporary folder, driven through the real `grade` program. Nothing in
// the clone's chapters/ is touched.
#ifndef WARPLINGS_TESTS_CLI_SCRATCH_COURSE_H_
#define WARPLINGS_TESTS_CLI_SCRATCH_COURSE_H_

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/process/child.h"

namespace grade::test {

namespace fs = std::filesystem;

// What a command did.
struct Ran {
  int status = -1;
  std::string out, err;
  double seconds = 0;
};

// Three exercises whose programs are the test double fake_program.cpp; "building" one copies it.
class ScratchCourse {
 public:
  // In a new folder of `place`.
  explicit ScratchCourse(const fs::path& place = fs::temp_directory_path());
  virtual ~ScratchCourse();
  ScratchCourse(const ScratchCourse&) = delete;
  ScratchCourse& operator=(const ScratchCourse&) = delete;

  static constexpr const char* kFirst = "01_begin/01_first";

  const fs::path& root() const { return root_; }
  fs::path learner_file(const std::string& id = kFirst) const;
  // Saves the learner's file as an editor does: written beside, then renamed.
  void save(const std::string& text, const std::string& id = kFirst) const;
  // Writes the test file that a script of the stand-in would come with.
  void declare_tests(const std::string& text, const std::string& id) const;
  Ran grade(std::vector<std::string> arguments) const;
  // The environment that the launcher would set, and the variables below.
  std::vector<std::pair<std::string, std::string>> environment() const;
  void set(const std::string& name, const std::string& value);
  std::string progress() const;  // text of .progress, "" if there is none

 protected:
  fs::path root_;

 private:
  std::vector<std::pair<std::string, std::string>> variables_;
};

std::string read_file(const fs::path& file);
void write_file(const fs::path& file, const std::string& text);
inline bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}
// The longest line, in columns.
size_t widest(const std::string& text);

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_CLI_SCRATCH_COURSE_H_

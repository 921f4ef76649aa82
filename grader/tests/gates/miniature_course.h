// A course of one exercise in a folder of its own, for breaking one rule at a time.
#ifndef WARPLINGS_TESTS_GATES_MINIATURE_COURSE_H_
#define WARPLINGS_TESTS_GATES_MINIATURE_COURSE_H_

#include <filesystem>
#include <string>
#include <vector>

namespace grade {

struct Answer {
  int status = -1;
  std::string text;  // stdout and stderr
};

class MiniatureCourse {
 public:
  MiniatureCourse();
  ~MiniatureCourse();
  MiniatureCourse(const MiniatureCourse&) = delete;
  MiniatureCourse& operator=(const MiniatureCourse&) = delete;

  const std::filesystem::path& root() const { return root_; }
  std::string read(const std::string& file) const;
  void write(const std::string& file, const std::string& text) const;
  // The only occurrence of `from` becomes `to`.
  void edit(const std::string& file, const std::string& from, const std::string& to) const;
  void remove(const std::string& file) const;
  // Everything goes to the index of git, as a commit would.
  void add_to_git() const;
  void forget_git() const;

  // The built program NAME ("solution", "starter", "derived") becomes a script that runs `as`
  // without its --variant.
  void replace_program(const std::string& name, const std::string& as) const;

  // Runs `grade ARGUMENTS` here.
  Answer grade(const std::vector<std::string>& arguments) const;

 private:
  std::filesystem::path root_;
};

}  // namespace grade
#endif  // WARPLINGS_TESTS_GATES_MINIATURE_COURSE_H_

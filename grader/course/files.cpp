// Files of the course: where they are, and reading and writing them whole.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "course/manifest.h"

namespace course {

namespace fs = std::filesystem;

ExerciseFiles files_of(const fs::path& root, const Exercise& exercise) {
  const fs::path chapter = root / "chapters" / exercise.chapter;
  const bool python = exercise.kind == Kind::kPython;
  ExerciseFiles files;
  files.starter = chapter / (exercise.name + exercise.extension());
  if (!python) files.header = chapter / (exercise.name + ".h");
  files.test = chapter / (exercise.name + (python ? "_test.py" : "_test.cpp"));
  files.hints = chapter / (exercise.name + "_hints.md");
  files.solution = root / "solutions" / exercise.chapter / (exercise.name + exercise.extension());
  files.gates = root / "grader" / "tests" / "exercises" / exercise.chapter / exercise.name;
  files.readme = chapter / "README.md";
  files.lesson = chapter / (exercise.name + ".md");
  files.answers = root / "solutions" / exercise.chapter / (exercise.name + "_answers.txt");
  return files;
}

std::string read_text(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    throw Error(file.string(), 0, "is a folder, expected a file.");
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    throw Error(file.string(), 0, std::string("cannot be read: ") + std::strerror(errno) + ".");
  }
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

namespace {

[[noreturn]] void fail_write(const fs::path& file, int error) {
  throw Error(file.string(), 0,
              std::string("cannot be written: ") + std::strerror(error) +
                  ". Check the free space and the permissions of the folder.");
}

}  // namespace

void write_text(const fs::path& file, const std::string& text) {
  std::error_code ignored;
  fs::create_directories(file.parent_path(), ignored);
  // The process id keeps two graders that run at once apart.
  const std::string temporary = file.string() + ".tmp" + std::to_string(getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) fail_write(file, errno);
  size_t done = 0;
  int error = 0;
  while (done < text.size() && error == 0) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (error == 0 && ::fsync(fd) != 0) error = errno;
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail_write(file, error);
  }
}

}  // namespace course

// The one exception type of the course library: something in the course's files is wrong.
#ifndef WARPLINGS_COURSE_ERROR_H_
#define WARPLINGS_COURSE_ERROR_H_

#include <stdexcept>
#include <string>

namespace course {

// what() reads "file:line: what happened; what to do", without "line" where none is known (0).
class Error : public std::runtime_error {
 public:
  Error(const std::string& file, int line, const std::string& message);
  const std::string& file() const { return file_; }
  int line() const { return line_; }

 private:
  std::string file_;
  int line_;
};

}  // namespace course
#endif  // WARPLINGS_COURSE_ERROR_H_

// `grade` in a pseudo-terminal, as a learner sits before it.
#ifndef WARPLINGS_TESTS_CLI_PTY_SESSION_H_
#define WARPLINGS_TESTS_CLI_PTY_SESSION_H_

#include <sys/types.h>
#include <termios.h>

#include <functional>
#include <string>
#include <vector>

#include "scratch_course.h"
#include "screen.h"

namespace grade::test {

class PtySession {
 public:
  // Starts `grade arguments` for `course` in a terminal of that size.
  PtySession(const ScratchCourse& course, std::vector<std::string> arguments, int rows = 24,
             int columns = 80);
  ~PtySession();
  PtySession(const PtySession&) = delete;
  PtySession& operator=(const PtySession&) = delete;

  // Reads until the screen shows `words`; false after `seconds`, or when the program has ended.
  bool wait_for(const std::string& words, double seconds = 20);
  // Reads until `condition` holds.
  bool wait_until(const std::function<bool()>& condition, double seconds = 20);
  void type(const std::string& keys) const;
  void resize(int rows, int columns);
  // Waits for the end. The exit status, -1 after `seconds`, 1000 + N for signal N.
  int wait_for_end(double seconds = 20);

  const Screen& screen() const { return screen_; }
  const std::string& bytes() const { return bytes_; }  // all that was written
  // Modes of the terminal now, and before the program started.
  termios modes() const;
  const termios& modes_before() const { return before_; }
  pid_t pid() const { return pid_; }

 private:
  void read_some(int milliseconds);

  Screen screen_;
  std::string bytes_;
  int terminal_ = -1, slave_ = -1;
  pid_t pid_ = -1;
  termios before_ = {};
};

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_CLI_PTY_SESSION_H_

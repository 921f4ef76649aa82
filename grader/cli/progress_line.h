// What takes time now: on a terminal one line that rewrites itself, elsewhere a line on stderr now
// and then, so that a log stays short.
#ifndef WARPLINGS_CLI_PROGRESS_LINE_H_
#define WARPLINGS_CLI_PROGRESS_LINE_H_

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/terminal.h"

namespace grade {

// May be called by several threads.
class ProgressLine {
 public:
  explicit ProgressLine(const Terminal& terminal) : terminal_(terminal) {}

  void show(const std::string& what);
  void clear();  // on a terminal

 private:
  const Terminal terminal_;
  std::mutex mutex_;
  std::string shown_;
  std::chrono::steady_clock::time_point last_;
};

// Where a build of Ninja is.
class NinjaProgress {
 public:
  // Ninja's "[12/80] Building CXX object a/b.cpp.o" as it comes; NINJA_STATUS is "[%f/%t] ".
  void read(std::string_view text);
  // "12 of 80, b.cpp, 14 s"; the seconds alone before Ninja has said anything.
  std::string text() const;
  double seconds() const;

 private:
  std::string count_, file_, rest_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace grade
#endif  // WARPLINGS_CLI_PROGRESS_LINE_H_

// Watch mode in a pseudo-terminal, for a scratch course.
#ifndef WARPLINGS_TESTS_CLI_WATCH_MODE_H_
#define WARPLINGS_TESTS_CLI_WATCH_MODE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "pty_session.h"
#include "scratch_course.h"

namespace grade::test {

// What an exercise shows at the foot of the screen, whatever its verdict.
inline constexpr const char* kKeys = "q: quit";

class WatchMode : public testing::Test {
 protected:
  // Not the first start, which welcomes.
  void SetUp() override { write_file(course_.root() / ".progress", "# begun\n"); }

  void open(int rows = 24, int columns = 80) {
    session_ = std::make_unique<PtySession>(course_, std::vector<std::string>{}, rows, columns);
  }

  void leave() {
    session_->type("q");
    expect_end(0);
  }

  void expect_screen(const std::string& words) {
    EXPECT_TRUE(session_->wait_for(words)) << words << "\n--- on\n" << session_->screen().text();
  }

  // Nothing scrolled away, nothing that a terminal would not understand.
  void expect_tidy() {
    EXPECT_EQ(session_->screen().scrolled(), 0) << session_->screen().text();
    EXPECT_EQ(session_->screen().unknown(), "");
  }

  void expect_end(int status) {
    EXPECT_EQ(session_->wait_for_end(), status) << session_->screen().text();
    const termios now = session_->modes(), before = session_->modes_before();
    EXPECT_EQ(now.c_lflag, before.c_lflag);
    EXPECT_EQ(now.c_iflag, before.c_iflag);
    EXPECT_EQ(now.c_oflag, before.c_oflag);
    EXPECT_EQ(std::memcmp(now.c_cc, before.c_cc, sizeof now.c_cc), 0);
  }

  // The process id that a slow build wrote.
  pid_t builder(const std::string& target = "01_begin.01_first") {
    const fs::path file = course_.root() / "build/sim/course" / (target + ".pid");
    EXPECT_TRUE(session_->wait_until([&] { return !read_file(file).empty(); }));
    return static_cast<pid_t>(std::atoi(read_file(file).c_str()));
  }

  ScratchCourse course_;
  std::unique_ptr<PtySession> session_;
};

}  // namespace grade::test
#endif  // WARPLINGS_TESTS_CLI_WATCH_MODE_H_

#include "pty_session.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

namespace grade::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTick = 20;  // ms

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

PtySession::PtySession(const ScratchCourse& course, std::vector<std::string> arguments, int rows,
                       int columns)
    : screen_(rows, columns) {
  const winsize size = {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0,
                        0};
  // The slave stays open here, so that its modes can be read after the program has ended.
  if (::openpty(&terminal_, &slave_, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error("openpty failed");
  }
  ::tcgetattr(slave_, &before_);
  arguments.insert(arguments.begin(), GRADE_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const auto environment = course.environment();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ > 0) return;
  ::close(terminal_);
  if (::login_tty(slave_) != 0) ::_exit(126);
  ::setenv("TERM", "xterm-256color", 1);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

PtySession::~PtySession() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(terminal_);
  ::close(slave_);
}

void PtySession::read_some(int milliseconds) {
  pollfd polled = {terminal_, POLLIN, 0};
  if (::poll(&polled, 1, milliseconds) <= 0) return;
  char buffer[4096];
  const ssize_t count = ::read(terminal_, buffer, sizeof buffer);
  if (count <= 0) return;
  bytes_.append(buffer, static_cast<size_t>(count));
  screen_.write({buffer, static_cast<size_t>(count)});
}

bool PtySession::wait_until(const std::function<bool()>& condition, double seconds) {
  const Clock::time_point start = Clock::now();
  while (!condition()) {
    if (seconds_since(start) > seconds) return false;
    read_some(kTick);
  }
  return true;
}

bool PtySession::wait_for(const std::string& words, double seconds) {
  return wait_until([&] { return screen_.shows(words); }, seconds);
}

void PtySession::type(const std::string& keys) const {
  if (::write(terminal_, keys.data(), keys.size()) < 0) throw std::runtime_error("write failed");
}

void PtySession::resize(int rows, int columns) {
  const winsize size = {static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0,
                        0};
  screen_.resize(rows, columns);
  ::ioctl(terminal_, TIOCSWINSZ, &size);
}

int PtySession::wait_for_end(double seconds) {
  constexpr int kSignalled = 1000;
  int status = 0;
  const bool ended = wait_until([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }, seconds);
  if (!ended) return -1;
  pid_ = -1;
  read_some(0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

termios PtySession::modes() const {
  termios now = {};
  ::tcgetattr(slave_, &now);
  return now;
}

}  // namespace grade::test

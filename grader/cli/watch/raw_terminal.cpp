#include "cli/watch/raw_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace grade {

RawTerminal::RawTerminal() {
  if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
  fd_ = STDIN_FILENO;
  termios raw = before_;
  raw.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;  // a stopped watch would leave the shell without echo
  ::tcsetattr(fd_, TCSADRAIN, &raw);
}

RawTerminal::~RawTerminal() {
  // FLUSH: keys that were meant for us must not reach the shell.
  if (fd_ >= 0) ::tcsetattr(fd_, TCSAFLUSH, &before_);
}

std::string RawTerminal::keys() {
  std::string keys;
  pollfd polled = {fd_, POLLIN, 0};
  if (fd_ < 0 || ::poll(&polled, 1, 0) <= 0) return keys;
  char buffer[64];
  const ssize_t count = ::read(fd_, buffer, sizeof buffer);
  closed_ = count <= 0;
  for (ssize_t i = 0; i < count; ++i) {
    if (buffer[i] == '\x1b') break;
    keys += buffer[i];
  }
  return keys;
}

int RawTerminal::rows() const {
  constexpr int kUsual = 24;
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return kUsual;
  return size.ws_row;
}

}  // namespace grade

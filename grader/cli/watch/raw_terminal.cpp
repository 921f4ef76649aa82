#include "cli/watch/raw_terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace grade {

namespace {

// Adds the key that `bytes` begins with; returns how many bytes it has. Of an escape sequence that
// is none of ours nothing is added.
size_t take_key(std::string_view bytes, std::string* keys) {
  constexpr std::pair<std::string_view, Key> kSequences[] = {
      {"[A", kUp},      {"OA", kUp},        {"[B", kDown}, {"OB", kDown},
      {"[5~", kPageUp}, {"[6~", kPageDown}, {"[H", kHome}, {"OH", kHome},
      {"[1~", kHome},   {"[F", kEnd},       {"OF", kEnd},  {"[4~", kEnd}};
  if (bytes[0] != kEscape || bytes.size() == 1) {
    *keys += bytes[0];
    return 1;
  }
  for (const auto& [sequence, key] : kSequences) {
    if (!bytes.substr(1).starts_with(sequence)) continue;
    *keys += key;
    return 1 + sequence.size();
  }
  if (bytes[1] != '[' && bytes[1] != 'O') return 2;  // Alt and a letter
  size_t end = 2;
  while (end < bytes.size() && (bytes[end] < '@' || bytes[end] > '~')) ++end;
  return std::min(end + 1, bytes.size());
}

}  // namespace

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
  for (size_t i = 0; count > 0 && i < static_cast<size_t>(count);) {
    i += take_key({buffer + i, static_cast<size_t>(count) - i}, &keys);
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

// Keys one by one and without echo, until destroyed. Ctrl-C stays a signal.
#ifndef WARPLINGS_CLI_WATCH_RAW_TERMINAL_H_
#define WARPLINGS_CLI_WATCH_RAW_TERMINAL_H_

#include <termios.h>

#include <string>

namespace grade {

enum Key : char {
  kHome = '\x01',      // Ctrl-A, as Emacs and readline have it
  kPageUp = '\x02',    // Ctrl-B
  kEnd = '\x05',       // Ctrl-E
  kPageDown = '\x06',  // Ctrl-F
  kRedraw = '\x0c',    // Ctrl-L
  kDown = '\x0e',      // Ctrl-N
  kUp = '\x10',        // Ctrl-P
  kEscape = '\x1b',
};

class RawTerminal {
 public:
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  // -1 where stdin is no terminal: then there are no keys.
  int fd() const { return fd_; }
  // All keys that were pressed, "" if none; sets closed() when the terminal went away. Arrows and
  // their neighbours come as the control characters of Key.
  std::string keys();
  bool closed() const { return closed_; }
  int rows() const;  // of the window, 24 if unknown

 private:
  int fd_ = -1;
  bool closed_ = false;
  termios before_ = {};
};

}  // namespace grade
#endif  // WARPLINGS_CLI_WATCH_RAW_TERMINAL_H_

// The private line to the grader: JSON lines on a file descriptor that the grader opened, each with
// the nonce that it chose. Nothing the learner prints can be taken for a result.
#ifndef WARPLINGS_KIT_CHANNEL_H_
#define WARPLINGS_KIT_CHANNEL_H_

#include <string>

#include "kit/json.h"

namespace kit {

class Channel {
 public:
  // Reads GRADE_CHANNEL ("FD:NONCE") and removes it from the environment, so that the code under
  // test does not see it. Without the variable every event is dropped.
  static Channel from_environment();

  bool open() const { return fd_ >= 0; }
  // Writes one line at once: what was sent survives a crash of the program.
  void send(const std::string& event, const JsonObject& fields) const;
  // The line that send() would write; for handlers that may not allocate.
  std::string line(const std::string& event, const JsonObject& fields) const;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
  std::string nonce_;  // as JSON
};

// write(2) until everything is out; only async-signal-safe calls.
void write_all(int fd, const char* data, size_t size);

}  // namespace kit

#endif  // WARPLINGS_KIT_CHANNEL_H_

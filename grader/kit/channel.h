// The private line to the grader: JSON lines on a descriptor that the grader opened, each behind a
// seal that only the two can make. Nothing the learner prints can be taken for a result.
#ifndef WARPLINGS_KIT_CHANNEL_H_
#define WARPLINGS_KIT_CHANNEL_H_

#include <string>
#include <string_view>

#include "kit/json.h"
#include "kit/seal.h"

namespace kit {

class Channel {
 public:
  // The socket that GRADE_CHANNEL names. The key is read from it, once: in a program before any
  // constructor has run, so that the code under test never sees it. Without one every event is
  // dropped.
  static Channel from_environment();

  bool open() const { return fd_ >= 0; }
  // Writes one line at once: what was sent survives a crash of the program.
  void send(const std::string& event, const JsonObject& fields);
  // The text of a line, to be written later by a handler that may not allocate.
  static std::string line(const std::string& event, const JsonObject& fields);
  // Seals the text and writes it. Async-signal-safe.
  void write_line(std::string_view text);

 private:
  int fd_ = -1;
  SealKey key_;
  uint64_t sent_ = 0;
};

// write(2) until everything is out; only async-signal-safe calls.
void write_all(int fd, const char* data, size_t size);

}  // namespace kit

#endif  // WARPLINGS_KIT_CHANNEL_H_

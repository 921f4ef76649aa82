// Reading ends of a child's pipes.
#ifndef WARPLINGS_CLI_PROCESS_STREAM_H_
#define WARPLINGS_CLI_PROCESS_STREAM_H_

#include <string>
#include <string_view>

#include "cli/process/child.h"
#include "kit/seal.h"

namespace grade {

// A descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;
};
// Both ends closed on exec. Throws std::system_error.
Pipe make_pipe();

// A channel: what the child writes to `write` comes out of `read`, and the key already lies in the
// other direction, where only whoever reads first finds it.
Pipe make_channel(const std::string& key);

// Keeps the head and the tail of what is added.
void keep(Capture& capture, std::string_view bytes, size_t kept);

// Cuts the channel into lines and drops every line without its seal (kit/seal.h): whatever finds
// the descriptor cannot forge a result.
class ChannelReader {
 public:
  explicit ChannelReader(const kit::SealKey& key) : key_(key) {}
  // False as soon as `on_event` returned false.
  bool add(std::string_view bytes, const std::function<bool(std::string_view)>& on_event);
  bool saw_event() const { return saw_event_; }
  void forget_event() { saw_event_ = false; }

 private:
  kit::SealKey key_;
  uint64_t next_ = 0;  // number of the line that comes
  std::string rest_;
  bool saw_event_ = false;
};

// 32 hex digits that nobody can guess.
std::string make_key();

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_STREAM_H_

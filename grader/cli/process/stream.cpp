#include "cli/process/stream.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <system_error>
#include <utility>

namespace grade {

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Pipe make_channel(const std::string& key) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ||
      ::write(ends[0], key.data(), key.size()) != static_cast<ssize_t>(key.size())) {
    throw std::system_error(errno, std::generic_category(), "cannot make a channel");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

void keep(Capture& capture, std::string_view bytes, size_t kept) {
  capture.total += bytes.size();
  if (capture.head.size() < kept) {
    const size_t part = std::min(kept - capture.head.size(), bytes.size());
    capture.head.append(bytes.substr(0, part));
    bytes.remove_prefix(part);
  }
  capture.tail.append(bytes);
  if (capture.tail.size() > 2 * kept) capture.tail.erase(0, capture.tail.size() - kept);
}

std::string Capture::text() const {
  const uint64_t missing = total - head.size() - tail.size();
  if (missing == 0) return head + tail;
  return head + "\n... " + std::to_string(missing) + " bytes not shown ...\n" + tail;
}

bool ChannelReader::add(std::string_view bytes,
                        const std::function<bool(std::string_view)>& on_event) {
  // A line longer than this is not ours: one message has a few hundred bytes.
  constexpr size_t kLongestLine = 1 << 20;
  rest_.append(bytes);
  size_t begin = 0;
  for (size_t end; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const std::string_view line(rest_.data() + begin, end - begin + 1);
    if (line.size() <= kit::kSealDigits) continue;
    const std::string_view text = line.substr(kit::kSealDigits + 1);
    char seal[kit::kSealDigits];
    kit::write_seal(kit::seal_of(key_, next_, text), seal);
    if (line.substr(0, kit::kSealDigits) != std::string_view(seal, sizeof seal)) continue;
    ++next_;
    saw_event_ = true;
    if (on_event && !on_event(text)) return false;
  }
  rest_.erase(0, begin);
  if (rest_.size() > kLongestLine) rest_.clear();
  return true;
}

std::string make_key() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::random_device random;
  std::string key;
  for (int i = 0; i < 32; ++i) key += kDigits[random() % 16];
  return key;
}

}  // namespace grade

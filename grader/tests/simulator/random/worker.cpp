#include "worker.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace warplings::sim::random {
namespace {

// Loaded modules stay: a fresh process now and then keeps memory small.
constexpr int kRunsPerProcess = 250;
// A random kernel executes fewer than a million: one that needs more does not end.
constexpr const char* kMostWarpInstructions = "5000000";

bool write_all(int fd, const void* bytes, size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size != 0) {
    const ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool read_all(int fd, void* bytes, size_t size) {
  auto* at = static_cast<char*>(bytes);
  while (size != 0) {
    const ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

template <class Bytes>
bool write_sized(int fd, const Bytes& bytes) {
  const uint64_t size = bytes.size();
  return write_all(fd, &size, sizeof(size)) && write_all(fd, bytes.data(), bytes.size());
}
template <class Bytes>
bool read_sized(int fd, Bytes* bytes) {
  uint64_t size = 0;
  if (!read_all(fd, &size, sizeof(size))) return false;
  bytes->resize(size);
  return read_all(fd, bytes->data(), bytes->size());
}

std::string end_of(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("the simulator crashed: ") + strsignal(WTERMSIG(status));
  }
  return "the simulator ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

bool Worker::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    socket_ = ends[1];
    if (!value_.empty()) setenv(variable_.c_str(), value_.c_str(), 1);
    setenv("GRADE_SIM_MAX_WARP_INSTRUCTIONS", kMostWarpInstructions, 1);
    serve();
  }
  close(ends[1]);
  socket_ = ends[0];
  served_ = 0;
  return process_ > 0;
}

void Worker::stop() {
  if (process_ <= 0) return;
  // Not by the end of the socket: other workers hold a copy of it.
  kill(process_, SIGKILL);
  close(socket_);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
}

void Worker::serve() {
  while (true) {
    Fixture fixture;
    std::vector<uint8_t> output;
    uint32_t has_input = 0;
    uint64_t size = 0;
    const bool complete =
        read_sized(socket_, &fixture.path) && read_sized(socket_, &fixture.text) &&
        read_sized(socket_, &fixture.input) &&
        read_all(socket_, fixture.grid, sizeof(fixture.grid)) &&
        read_all(socket_, fixture.block, sizeof(fixture.block)) &&
        read_all(socket_, &has_input, sizeof(has_input)) && read_all(socket_, &size, sizeof(size));
    if (!complete) _exit(0);
    fixture.has_input = has_input != 0;
    output.resize(size);
    std::string problem;
    try {
      problem = run_on_simulator(fixture, &output);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (!write_sized(socket_, problem) || !write_sized(socket_, output)) _exit(0);
  }
}

std::string Worker::run(const Fixture& fixture, std::vector<uint8_t>* output) {
  if (served_ >= kRunsPerProcess) stop();
  if (process_ <= 0 && !start()) return "a process for the simulator cannot be started";
  ++served_;
  const uint32_t has_input = fixture.has_input ? 1 : 0;
  const uint64_t size = output->size();
  std::string problem;
  const bool done = write_sized(socket_, fixture.path) && write_sized(socket_, fixture.text) &&
                    write_sized(socket_, fixture.input) &&
                    write_all(socket_, fixture.grid, sizeof(fixture.grid)) &&
                    write_all(socket_, fixture.block, sizeof(fixture.block)) &&
                    write_all(socket_, &has_input, sizeof(has_input)) &&
                    write_all(socket_, &size, sizeof(size)) && read_sized(socket_, &problem) &&
                    read_sized(socket_, output);
  if (done) return problem;
  int status = 0;
  close(socket_);
  waitpid(process_, &status, 0);
  process_ = -1;
  return end_of(status);
}

}  // namespace warplings::sim::random

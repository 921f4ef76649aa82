#include "cli/process/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "cli/process/stream.h"

namespace grade {
namespace {

int write_end = -1;  // the handler has no other way to reach it

void on_signal(int number) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const ssize_t written = ::write(write_end, &byte, 1);
  errno = saved;
}

}  // namespace

Interrupts& Interrupts::instance() {
  static Interrupts only;
  return only;
}

Interrupts::Interrupts() {
  Pipe pipe = make_pipe();
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(pipe.write.get(), F_SETFL, O_NONBLOCK);
  read_ = pipe.read.release();
  write_end = pipe.write.release();
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) {
    struct sigaction before = {};
    ::sigaction(number, nullptr, &before);
    // Started in the background by a shell without job control: stays deaf, as every program does.
    if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  }
}

void Interrupts::drain() {
  unsigned char bytes[64];
  for (ssize_t count; (count = ::read(read_, bytes, sizeof bytes)) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] == SIGWINCH) {
        resized_ = true;
      } else {
        signal_ = bytes[i];
      }
    }
  }
}

bool Interrupts::ended() {
  drain();
  return signal_ != 0;
}

bool Interrupts::resized() {
  drain();
  return std::exchange(resized_, false);
}

}  // namespace grade

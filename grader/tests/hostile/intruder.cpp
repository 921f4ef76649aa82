// Does one forbidden thing, named by its argument, and says "done" or why it could not.
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

namespace {

long write_to(const std::string& file) {
  return ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

long start_a_child_that_stays() {
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::setsid();
  ::setpgid(0, 0);
  ::signal(SIGTERM, SIG_IGN);
  for (int fd = 0; fd < 3; ++fd) ::close(fd);
  for (;;) ::pause();
}

long limit_the_grader() {
  const rlimit none = {0, 0};
  return ::prlimit(::getppid(), RLIMIT_CPU, &none, nullptr);
}

long read_the_grader() {
  char byte = 0;
  iovec here = {&byte, 1}, there = {const_cast<char*>("x"), 1};
  return ::process_vm_readv(::getppid(), &here, 1, &there, 1, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", file = argc > 2 ? argv[2] : "";
  const std::string grader = "/proc/" + std::to_string(::getppid());
  const std::map<std::string, std::function<long()>> deeds = {
      {"kill", [] { return ::kill(::getppid(), SIGKILL); }},
      {"kill-group", [] { return ::kill(-::getpgid(::getppid()), SIGKILL); }},
      {"kill-all", [] { return ::kill(-1, SIGURG); }},
      {"queue", [] { return ::sigqueue(::getppid(), SIGKILL, {}); }},
      {"ptrace", [] { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }},
      {"limit", limit_the_grader},
      {"read", read_the_grader},
      {"memory", [&] { return ::open((grader + "/mem").c_str(), O_RDWR); }},
      {"write", [&] { return write_to(file); }},
      {"remove", [&] { return ::unlink(file.c_str()); }},
      {"rename", [&] { return ::rename(file.c_str(), (file + "~").c_str()); }},
      {"link", [&] { return ::symlink("/etc/passwd", (file + "~").c_str()); }},
      {"folder", [&] { return ::mkdir((file + ".d").c_str(), 0777); }},
      {"truncate", [&] { return ::truncate(file.c_str(), 0); }},
      {"stay", start_a_child_that_stays},
  };
  const auto deed = deeds.find(what);
  if (deed == deeds.end()) return 2;
  errno = 0;
  std::puts(deed->second() >= 0 ? "done" : std::strerror(errno));
  return 0;
}

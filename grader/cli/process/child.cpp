#include "cli/process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "cli/process/confinement.h"
#include "cli/process/stream.h"

extern char** environ;

namespace grade {
namespace {

using Clock = std::chrono::steady_clock;
using End = ChildResult::End;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> merged_environment(const ChildOptions& options,
                                            const std::string& channel) {
  auto extra = options.environment;
  if (!channel.empty()) extra.emplace_back("GRADE_CHANNEL", channel);
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(extra.begin(), extra.end(), [&](const auto& pair) {
      return text.substr(0, text.find('=')) == pair.first;
    });
    const bool dropped = std::any_of(options.dropped.begin(), options.dropped.end(),
                                     [&](const auto& prefix) { return text.starts_with(prefix); });
    if (!replaced && !dropped) merged.emplace_back(text);
  }
  for (const auto& [name, value] : extra) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> list;
  for (std::string& string : strings) list.push_back(string.data());
  list.push_back(nullptr);
  return list;
}

// What happens between fork and exec: only async-signal-safe calls.
struct Prepared {
  std::vector<std::string> arguments, environment;
  std::vector<char*> argv, envp;
  const char* directory = nullptr;
  int out = -1, err = -1, channel = -1, report = -1;
  pid_t parent = 0;
  int signal_of_orphan = SIGKILL;
  const Confinement* confinement = nullptr;
  std::vector<std::pair<int, rlimit>> limits = {{RLIMIT_CORE, {0, 0}}};
};

[[noreturn]] void become(const Prepared& now) {
  ::setpgid(0, 0);
  // If the grader is killed, nothing that it started stays behind.
  ::prctl(PR_SET_PDEATHSIG, now.signal_of_orphan);
  if (::getppid() != now.parent) ::_exit(127);
  for (const auto& [which, limit] : now.limits) {
    ::setrlimit(static_cast<__rlimit_resource_t>(which), &limit);
  }
  for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGHUP, SIGWINCH, SIGTSTP}) {
    ::signal(number, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  if (nothing > STDERR_FILENO) ::close(nothing);
  ::dup2(now.out, STDOUT_FILENO);
  ::dup2(now.err, STDERR_FILENO);
  if (now.confinement != nullptr) {
    // What the grader itself inherited, from a shell or a build tool, is not for the program.
    constexpr long kCloseRange = 436;
    constexpr unsigned kOnExec = 4;
    ::syscall(kCloseRange, STDERR_FILENO + 1, ~0u, kOnExec);
  }
  if (now.channel >= 0) ::fcntl(now.channel, F_SETFD, 0);
  if (now.directory == nullptr || ::chdir(now.directory) == 0) {
    if (now.confinement != nullptr) now.confinement->apply();
    ::execvpe(now.argv[0], now.argv.data(), now.envp.data());
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(now.report, &error, sizeof error);
  ::_exit(127);
}

// What a file of /proc begins with.
std::string proc_text(pid_t pid, const char* file) {
  char name[96], text[4096];
  std::snprintf(name, sizeof name, "/proc/%d/%s", static_cast<int>(pid), file);
  const Descriptor opened(::open(name, O_RDONLY | O_CLOEXEC));
  const ssize_t size = opened.open() ? ::read(opened.get(), text, sizeof text) : 0;
  return {text, size > 0 ? static_cast<size_t>(size) : 0};
}

uint64_t resident_bytes(pid_t pid) {
  unsigned long long size = 0, resident = 0;
  if (std::sscanf(proc_text(pid, "statm").c_str(), "%llu %llu", &size, &resident) != 2) return 0;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

// Of the process and its children, as far down as a fork bomb can be counted.
uint64_t resident_bytes_of_tree(pid_t root) {
  constexpr size_t kMost = 1024;
  std::vector<pid_t> all = {root};
  uint64_t bytes = 0;
  for (size_t i = 0; i < all.size() && i < kMost; ++i) {
    bytes += resident_bytes(all[i]);
    const std::string name = "task/" + std::to_string(all[i]) + "/children";
    std::istringstream children(proc_text(all[i], name.c_str()));
    for (pid_t child = 0; children >> child;) all.push_back(child);
  }
  return bytes;
}

// One run from fork to the last wait.
class Run {
 public:
  explicit Run(const ChildOptions& options) : options_(options), channel_(make_key_if_needed()) {}

  ChildResult finish() {
    if (options_.argv.empty() || !start()) return std::move(result_);
    while (pump()) {
    }
    if (!exited_ && options_.grace_seconds > 0) end_gently();
    kill_group();
    reap(/*wait=*/true);
    drain();
    result_.seconds = seconds_since(started_);
    settle();
    return std::move(result_);
  }

 private:
  kit::SealKey make_key_if_needed() {
    kit::SealKey key;
    if (!options_.with_channel) return key;
    key_ = make_key();
    kit::read_key(key_, &key);
    return key;
  }

  bool start() {
    Pipe out = make_pipe(), err = make_pipe(), report = make_pipe(), channel;
    Prepared child;
    std::string setting;
    if (options_.with_channel) {
      channel = make_channel(key_);
      child.channel = channel.write.get();
      setting = std::to_string(child.channel);
    }
    child.arguments = options_.argv;
    child.environment = merged_environment(options_, setting);
    child.argv = pointers(child.arguments);
    child.envp = pointers(child.environment);
    const std::string directory = options_.directory.string();
    if (!directory.empty()) child.directory = directory.c_str();
    child.out = out.write.get();
    child.err = err.write.get();
    child.report = report.write.get();
    child.parent = ::getpid();
    child.confinement = options_.confinement;
    for (const auto& [which, most] : options_.limits) child.limits.push_back({which, {most, most}});
    if (options_.grace_seconds > 0) child.signal_of_orphan = SIGTERM;
    started_ = Clock::now();
    own_time_.restart();
    whole_time_.restart();
    pid_ = ::fork();
    if (pid_ == 0) become(child);
    if (pid_ < 0) {
      result_.error = std::string("cannot start a process: ") + std::strerror(errno);
      return false;
    }
    ::setpgid(pid_, pid_);  // whoever comes first; a race with the child's own call is harmless
    out.write.reset();
    err.write.reset();
    channel.write.reset();
    report.write.reset();
    int error = 0;
    if (::read(report.read.get(), &error, sizeof error) == sizeof error) {
      ::waitpid(pid_, nullptr, 0);
      result_.error = options_.argv[0] + ": " + std::strerror(error);
      return false;
    }
    streams_[kOut] = std::move(out.read);
    streams_[kErr] = std::move(err.read);
    streams_[kChannel] = std::move(channel.read);
    for (const Descriptor& stream : streams_) {
      if (stream.open()) ::fcntl(stream.get(), F_SETFL, O_NONBLOCK);
    }
    return true;
  }

  // Waits for the next thing to happen. False when the child has ended or must end.
  bool pump() {
    std::vector<pollfd> polled;
    for (const Descriptor& stream : streams_) {
      if (stream.open()) polled.push_back({stream.get(), POLLIN, 0});
    }
    const bool silent = polled.empty();  // nothing left to read: only its end is awaited
    const size_t own = polled.size();
    for (const int fd : options_.watched) polled.push_back({fd, POLLIN, 0});
    constexpr int kTick = 50, kShortTick = 5;  // ms: limits are checked this often
    const int ready = ::poll(polled.data(), polled.size(), silent || exited_ ? kShortTick : kTick);
    for (int i = 0; i < kStreams; ++i) {
      if (!read_stream(i)) return false;
    }
    for (size_t i = own; ready > 0 && i < polled.size(); ++i) {
      if (polled[i].revents == 0 || !options_.interrupted) continue;
      if (options_.interrupted()) return stop(End::kCancelled);
      break;
    }
    if (options_.on_tick) options_.on_tick();
    if (!exited_) {
      watch_memory();
      reap(/*wait=*/false);
      if (exited_) exited_at_ = Clock::now();
    }
    return check_limits(silent);
  }

  bool check_limits(bool silent) {
    // A grandchild may hold the pipes open; what the child itself wrote is there by now.
    constexpr double kGrace = 0.1;
    if (exited_ && (silent || seconds_since(exited_at_) > kGrace)) return false;
    if (stopped_) return false;
    if (options_.own_seconds > 0 && whole_time_.of(pid_).own > options_.own_seconds) {
      return stop(End::kTimedOut);
    }
    if (options_.quiet_seconds) {
      result_.since_event = own_time_.of(pid_);
      result_.was_quiet = result_.since_event.own > options_.quiet_seconds();
      if (result_.was_quiet) return stop(End::kTimedOut);
    }
    if (options_.memory_bytes > 0 && result_.memory_peak > options_.memory_bytes) {
      return stop(End::kTooMuchMemory);
    }
    return true;
  }

  bool read_stream(int which) {
    Descriptor& stream = streams_[which];
    char buffer[1 << 16];
    // Bounded, so that a child which writes without end cannot keep us from looking at the clock.
    for (int i = 0; i < 16 && stream.open(); ++i) {
      const ssize_t count = ::read(stream.get(), buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return true;
      if (count <= 0) {
        stream.reset();
        return true;
      }
      if (!take(which, {buffer, static_cast<size_t>(count)})) return false;
    }
    return true;
  }

  bool take(int which, std::string_view bytes) {
    if (which == kChannel) {
      const bool more = channel_.add(bytes, options_.on_event);
      if (channel_.saw_event()) own_time_.restart();
      channel_.forget_event();
      return more || stop(End::kStopped);
    }
    keep(which == kOut ? result_.out : result_.err, bytes, options_.output_kept);
    if (options_.on_output) options_.on_output(bytes);
    if (result_.out.total + result_.err.total > options_.output_limit) {
      return stop(End::kTooMuchOutput);
    }
    return true;
  }

  // After the end: what is still in the pipes counts, up to the limits.
  void drain() {
    if (stopped_ && result_.end == End::kStopped) return;
    for (int i = 0; i < kStreams; ++i) {
      if (!read_stream(i)) return;
    }
  }

  bool stop(End why) {
    if (!stopped_) result_.end = why;
    stopped_ = true;
    return false;
  }

  void watch_memory() {
    if (options_.memory_bytes == 0) return;
    const uint64_t now = options_.whole_tree ? resident_bytes_of_tree(pid_) : resident_bytes(pid_);
    result_.memory_peak = std::max(result_.memory_peak, now);
  }

  // The child stays a zombie until its group is killed: its id cannot be given to another group.
  void reap(bool wait) {
    if (!wait) {
      siginfo_t info = {};
      if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
          info.si_pid == pid_) {
        exited_ = true;
      }
      return;
    }
    while (::waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
    }
  }

  void end_gently() {
    ::kill(-pid_, SIGTERM);
    const Clock::time_point asked = Clock::now();
    while (!exited_ && seconds_since(asked) < options_.grace_seconds) {
      constexpr int kTick = 5;  // ms
      ::poll(nullptr, 0, kTick);
      drain();  // a full pipe would keep it from ending
      reap(/*wait=*/false);
    }
  }

  void kill_group() { ::kill(-pid_, SIGKILL); }

  void settle() {
    if (stopped_) return;
    if (WIFEXITED(wait_status_)) {
      result_.end = End::kExited;
      result_.status = WEXITSTATUS(wait_status_);
    } else {
      result_.end = End::kSignalled;
      result_.signal = WTERMSIG(wait_status_);
    }
  }

  enum { kOut, kErr, kChannel, kStreams };
  const ChildOptions& options_;
  std::string key_;
  ChannelReader channel_;
  ChildResult result_;
  Descriptor streams_[kStreams];
  Clock::time_point started_, exited_at_;
  OwnTime own_time_;    // since the last event
  OwnTime whole_time_;  // since the start
  pid_t pid_ = -1;
  int wait_status_ = 0;
  bool exited_ = false, stopped_ = false;
};

}  // namespace

ChildResult run_child(const ChildOptions& options) { return Run(options).finish(); }

std::string describe_signal(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGABRT:
      return "abort";
    case SIGFPE:
      return "integer division by zero";
    case SIGILL:
      return "illegal instruction";
    case SIGKILL:
      return "killed";
    case SIGTERM:
      return "terminated";
    case SIGXCPU:
      return "out of CPU time";
    case SIGSYS:
      return "refused system call";
    default:
      return "signal " + std::to_string(signal);
  }
}

}  // namespace grade

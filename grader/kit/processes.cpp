#include "kit/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>

#include "kit/context.h"

namespace kit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kOption[] = "--process=";  // NAME,RANK,RANKS,TEXT
constexpr int kResultFd = 3;              // where a process writes what is wrong
constexpr auto kLongest = std::chrono::seconds(40);
constexpr auto kGrace = std::chrono::seconds(8);  // for the others, after the first failure

std::map<std::string, ProcessBody>& bodies() {
  static std::map<std::string, ProcessBody> all;
  return all;
}

std::string& variant() {
  static std::string name;
  return name;
}

struct Child {
  pid_t id = -1;
  int fd = -1;
  std::string said;
  bool running = true, stopped = false;
  int status = 0;
};

// The child gets the write end of a pipe as kResultFd, and nothing else of ours.
Child start(const std::string& process) {
  Child child;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return child;
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (ends[1] == kResultFd) {
    ::fcntl(ends[1], F_SETFD, 0);
  } else {
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], kResultFd);
  }
  std::string program = "/proc/self/exe", of_variant = "--variant=" + variant();
  std::string asked = kOption + process;
  std::vector<char*> arguments = {program.data()};
  if (!variant().empty()) arguments.push_back(of_variant.data());
  arguments.push_back(asked.data());
  arguments.push_back(nullptr);
  const int error =
      ::posix_spawn(&child.id, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  child.fd = ends[0];
  child.running = error == 0;
  if (error != 0) child.said = std::string("could not be started: ") + std::strerror(error);
  return child;
}

// Reads what has come; collects the child when its pipe has ended.
void look_at(Child& child) {
  char bytes[4096];
  const ssize_t got = ::read(child.fd, bytes, sizeof bytes);
  if (got > 0) {
    child.said.append(bytes, static_cast<size_t>(got));
    return;
  }
  ::waitpid(child.id, &child.status, 0);
  child.running = false;
}

bool is_bad(const Child& child) {
  return !child.running && (child.status != 0 || !child.said.empty());
}

void wait_for_all(std::vector<Child>& children) {
  auto end = Clock::now() + kLongest;
  bool failed = false;
  while (true) {
    std::vector<pollfd> watched;
    std::vector<size_t> which;
    for (size_t i = 0; i < children.size(); ++i) {
      if (is_bad(children[i]) && !failed) {
        failed = true;
        end = std::min(end, Clock::now() + kGrace);
      }
      if (!children[i].running) continue;
      watched.push_back({children[i].fd, POLLIN, 0});
      which.push_back(i);
    }
    if (watched.empty()) return;
    if (Clock::now() >= end) {
      for (const size_t i : which) {
        if (children[i].stopped) continue;
        children[i].stopped = true;
        ::kill(children[i].id, SIGKILL);
      }
    }
    constexpr int kMilliseconds = 100;  // then the clock is looked at
    ::poll(watched.data(), watched.size(), kMilliseconds);
    for (size_t k = 0; k < watched.size(); ++k) {
      if (watched[k].revents != 0) look_at(children[which[k]]);
    }
  }
}

// What the simulator has to say about a result that is no success.
std::string first_note() {
  for (int i = 0; i < wsim_finding_count(); ++i) {
    wsim_finding finding;
    if (wsim_get_finding(i, &finding) == 0 && finding.is_note != 0) return finding.message;
  }
  return "";
}

std::string describe(const Child& child, size_t rank) {
  const std::string who = "Rank " + std::to_string(rank) + " ";
  if (child.stopped) return who + "was still waiting, and was stopped.";
  if (!child.said.empty()) return who + child.said;
  if (WIFSIGNALED(child.status)) {
    return who + "crashed (signal " + std::to_string(WTERMSIG(child.status)) + ").";
  }
  return who + "ended with status " + std::to_string(WEXITSTATUS(child.status)) +
         " before its test was over: was exit() called?";
}

}  // namespace

bool run_processes(const std::string& name, int ranks, const std::string& text, Site site) {
  if (internal::case_failed()) return false;
  std::fflush(stdout);
  // The simulator's NCCL must have given up before the processes are stopped.
  ::setenv("GRADE_SIM_NCCL_SECONDS", "4", 0);
  std::vector<Child> children;
  for (int rank = 0; rank < ranks; ++rank) {
    children.push_back(
        start(name + "," + std::to_string(rank) + "," + std::to_string(ranks) + "," + text));
  }
  wait_for_all(children);
  std::string problem;
  for (size_t rank = 0; rank < children.size(); ++rank) {
    ::close(children[rank].fd);
    // Who failed says more than who was left waiting.
    if (is_bad(children[rank]) && (problem.empty() || !children[rank].stopped)) {
      const bool first = problem.empty() || problem.find("was still waiting") != std::string::npos;
      if (first) problem = describe(children[rank], rank);
    }
  }
  return problem.empty() || fail(problem, site);
}

namespace internal {

RegisterProcess::RegisterProcess(const char* name, ProcessBody body) { bodies()[name] = body; }

void remember_variant(const std::string& name) { variant() = name; }

int run_as_process(int argc, char** argv) {
  if (argc != 2 || std::strncmp(argv[1], kOption, std::strlen(kOption)) != 0) return -1;
  std::string rest = argv[1] + std::strlen(kOption);
  std::vector<std::string> fields;
  for (int i = 0; i < 3; ++i) {
    const size_t comma = rest.find(',');
    fields.push_back(rest.substr(0, comma));
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  const Process me{std::atoi(fields[1].c_str()), std::atoi(fields[2].c_str()), rest};
  const auto body = bodies().find(fields[0]);
  std::string problem = body == bodies().end()
                            ? "cannot begin: there is no KIT_PROCESS(" + fields[0] + ")."
                            : body->second(me);
  const std::string note = first_note();
  if (!problem.empty() && !note.empty()) problem += " " + note;
  const std::string finding = take_findings();  // names the line, so it says more
  if (!finding.empty()) problem = "has a finding: " + finding;
  write_all(kResultFd, problem.data(), problem.size());
  context().finished = true;
  return 0;
}

}  // namespace internal
}  // namespace kit

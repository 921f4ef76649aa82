// A child process that cannot hurt its parent: own process group, limits on time, memory and
// output, and a private channel for results. Used for builds, test programs and tools.
#ifndef WARPLINGS_CLI_PROCESS_CHILD_H_
#define WARPLINGS_CLI_PROCESS_CHILD_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/process/own_time.h"

namespace grade {

class Confinement;

struct ChildOptions {
  std::vector<std::string> argv;    // argv[0] is searched in PATH unless it holds a '/'
  std::filesystem::path directory;  // "" stays where the parent is
  std::vector<std::pair<std::string, std::string>> environment;  // added to, or replacing, ours
  std::vector<std::string> dropped;  // variables of ours that start so are not passed on
  double own_seconds = 0;            // of its own (process/own_time.h), whole run; 0: no limit
  // Between two lines on the channel, of its own time as well, asked again and again; empty: no
  // limit.
  std::function<double()> quiet_seconds;
  uint64_t memory_bytes = 0;      // resident set of the child; 0: no limit
  bool whole_tree = false;        // memory is that of the child and all that it has started
  size_t output_kept = 32 << 10;  // bytes of the head, and as many of the tail, of each stream
  uint64_t output_limit =
      64 << 20;  // bytes on stdout and stderr together; the child is killed above
  // When it must end: SIGTERM first, and this many seconds to clean up. For tools that have
  // children of their own in other groups, as Ninja does. 0: killed at once.
  double grace_seconds = 0;
  bool with_channel = false;  // sets GRADE_CHANNEL=FD for the child, which finds its key there
  // The text of every line of the channel that is sealed; false ends the child (end kStopped).
  std::function<bool(std::string_view line)> on_event;
  // Text of stdout and stderr as it comes, before it is cut.
  std::function<void(std::string_view text)> on_output;
  std::function<void()> on_tick;  // called some twenty times a second while it runs
  // Keeps the child from what is not its own; it must outlive the run.
  const Confinement* confinement = nullptr;
  // Limits of each process of the child (setrlimit): RLIMIT_AS, bytes, ...
  std::vector<std::pair<int, uint64_t>> limits;
  // Watched while the child runs: when one is readable, `interrupted` is asked; true ends the child
  // (end kCancelled).
  std::vector<int> watched;
  std::function<bool()> interrupted;
};

// The beginning and the end of what a stream carried.
struct Capture {
  std::string head, tail;
  uint64_t total = 0;  // bytes that were written
  // head and tail joined; where bytes are missing a line says how many.
  std::string text() const;
};

struct ChildResult {
  enum class End {
    kExited,
    kSignalled,
    kTimedOut,
    kTooMuchMemory,
    kTooMuchOutput,
    kStopped,
    kCancelled,
    kNotStarted
  };
  End end = End::kNotStarted;
  int status = -1;    // exit status if kExited
  int signal = 0;     // if kSignalled
  std::string error;  // if kNotStarted: why
  Capture out, err;
  double seconds = 0;
  bool was_quiet = false;    // kTimedOut: by quiet_seconds
  TimeHad since_event;       // when it was stopped
  uint64_t memory_peak = 0;  // bytes resident, as far as it was looked at
  bool ok() const { return end == End::kExited && status == 0; }
};

// Runs the child to its end. Its whole process group is gone when this returns.
ChildResult run_child(const ChildOptions& options);

// "segmentation fault", "abort", ...: what the signal means to a reader.
std::string describe_signal(int signal);

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_CHILD_H_

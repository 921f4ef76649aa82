#include "runtime/exec_mode.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>

#include "core/finding.h"
#include "core/machine.h"
#include "memory/device_memory.h"
#include "profile/timeline.h"
#include "profile/timeline_report.h"
#include "runtime/api.h"
#include "runtime/background.h"
#include "runtime/error_state.h"
#include "runtime/exec_report.h"
#include "runtime/host_fault.h"
#include "runtime/launch_refusal.h"
#include "runtime/pointer.h"
#include "runtime/stream.h"

namespace warplings::sim {
namespace {

constexpr int kUsageStatus = 2;  // as of ./grade

ExecReport& report() { return Machine::get<ExecReport>(); }

// Work that nothing waited for: a GPU may or may not have run it. It runs here for the sake of the
// checks; what it prints would not have been seen, so it is not shown.
void run_unawaited_work() {
  if (!Streams::instance().any_pending()) return;
  std::fflush(stdout);
  const int kept = dup(STDOUT_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (kept >= 0 && nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
  Streams::instance().run_all();
  std::fflush(stdout);
  if (kept >= 0) dup2(kept, STDOUT_FILENO);
  if (kept >= 0) close(kept);
  if (nowhere >= 0) close(nowhere);
}

void note_leaks() {
  // After a fault the program could not have freed anything.
  if (any_sticky_error()) return;
  const auto live = DeviceMemory::instance().live();
  if (live.empty()) return;
  uint64_t bytes = 0;
  for (const Allocation& allocation : live) bytes += allocation.size;
  Finding finding;
  finding.check = "leak";
  finding.kind = "not-freed";
  finding.is_note = true;
  finding.message = std::to_string(live.size()) +
                    (live.size() == 1 ? " allocation was" : " allocations were") + " not freed (" +
                    std::to_string(bytes) + " bytes); the first is " + describe(live.front()) + ".";
  FindingLog::instance().report(std::move(finding));
}

// Runs after the exit handlers of the program, which were registered later. The status of a process
// can only be changed by ending it here.
void at_exit() {
  std::lock_guard lock(api_mutex());
  run_unawaited_work();
  report_unseen_launch_errors();
  note_leaks();
  const int status = report().finish(FindingLog::instance().snapshot());
  if (status == 0) return;
  std::cout.flush();
  std::fflush(nullptr);
  _exit(status);
}

// The program followed a device pointer on the host and cannot go on. The finding is printed.
void end_after_fault() {
  const int status = report().finish(FindingLog::instance().snapshot());
  std::fflush(nullptr);
  _exit(status == 0 ? kFindingStatus : status);
}

// GRADE_SIM_TIMELINE names a file for trace viewers; the picture goes to the terminal.
void write_timeline() {
  std::lock_guard lock(api_mutex());
  Timeline& timeline = Timeline::instance();
  std::fflush(stdout);
  std::fprintf(stderr, "%s", timeline_picture(timeline).c_str());
  const std::string& path = Machine::current().options().timeline;
  std::ofstream file(path);
  file << timeline_trace(timeline);
  if (!file.flush()) std::fprintf(stderr, "grade exec: cannot write %s\n", path.c_str());
}

}  // namespace

void start_exec_mode() {
  static std::once_flag once;
  std::call_once(once, [] {
    const ExitOptions asked = exit_options_of_environment();
    if (asked.prints_findings) {
      const std::string problem = report().configure(asked);
      if (!problem.empty()) {
        std::fprintf(stderr, "grade exec: %s\n", problem.c_str());
        _exit(kUsageStatus);
      }
      FindingLog::instance().add_listener([](const Finding& finding) { report().add(finding); });
      set_fatal_hook(end_after_fault);
      std::atexit(at_exit);
      start_background_progress();
    }
    // Runs before at_exit, which may end the process.
    if (asked.writes_timeline) std::atexit(write_timeline);
  });
}

}  // namespace warplings::sim

// What the environment asks of the simulator: read once, when a machine is made.
#ifndef WARPLINGS_SIMULATOR_CORE_OPTIONS_H_
#define WARPLINGS_SIMULATOR_CORE_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/kernel.h"

namespace warplings::sim {

// GRADE_SIM_TRACE and its like: the text debugger.
struct TraceOptions {
  std::string path;  // "": off
  Dim3 block{0, 0, 0};
  int warp = 0;
  int thread = -1;
  int first_line = 0, last_line = 0;  // 0: all
};

struct Options {
  // ---- the engine
  bool checks = true;    // GRADE_SIM_CHECKS; memcheck is always on: this is initcheck, race, sync
  bool counters = true;  // GRADE_SIM_COUNTERS
  std::optional<Schedule> order;                 // GRADE_SIM_ORDER; unset: as the checks need them
  uint64_t max_warp_instructions = 150'000'000;  // GRADE_SIM_MAX_WARP_INSTRUCTIONS, per launch
  std::string isa;                               // GRADE_SIM_ISA; "": the best

  // ---- the machine
  std::string model = "h200";    // GRADE_SIM_MODEL
  int devices = 1;               // GRADE_SIM_DEVICES
  uint64_t memory = 8ull << 30;  // GRADE_SIM_MEMORY: bytes for sale, of each device

  // GRADE_EXEC is set: a program that knows nothing of the course.
  bool is_exec = false;

  // ---- files
  std::string timeline;  // GRADE_SIM_TIMELINE: for trace viewers; "": off
  std::string profile;   // GRADE_SIM_PROFILE
  std::string view;      // GRADE_SIM_VIEW
  double slice = 0;      // GRADE_SIM_SLICE; 0: as much of the card as the blocks fill
  TraceOptions trace;

  // ---- the assembler that is asked for registers
  std::optional<std::string> ptxas;       // GRADE_SIM_PTXAS; "": none
  std::vector<std::string> tool_folders;  // where it is looked for otherwise
  std::string cache;                      // GRADE_SIM_CACHE: keeps its answers; "": nothing does
  std::string temporary_folder;           // TMPDIR
};

Options options_of_environment();

// What a program does when it ends has to be known when it registers its code, before main() of a
// test sets the variables above.
struct ExitOptions {
  bool prints_findings = false;  // GRADE_EXEC is 1
  bool writes_timeline = false;
  // GRADE_EXEC_CHECKS and its like (runtime/exec_report.h); "" where they are not set.
  std::string checks, suppressions, json, status;
};
ExitOptions exit_options_of_environment();

// "forward", "reversed" or "turns"; nothing for any other name.
std::optional<Schedule> order_named(const std::string& name);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_CORE_OPTIONS_H_

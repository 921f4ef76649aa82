// Counters of the hardware, read by Nsight Compute, beside those of the simulator.
#ifndef WARPLINGS_CLI_NSIGHT_H_
#define WARPLINGS_CLI_NSIGHT_H_

#include <map>
#include <string>
#include <vector>

#include "cli/terminal.h"
#include "course/json.h"

namespace grade {

// What was counted in the largest launch of one kernel.
struct KernelCounters {
  int launches = 0;                       // that there were
  std::map<std::string, double> metrics;  // by the name of Nsight Compute or of the simulator
};
using CountersByKernel = std::map<std::string, KernelCounters>;  // "vector_add"

// The metrics to ask `ncu --metrics` for, with commas between them.
std::string nsight_metrics();

// What ncu printed with --csv --print-units base. A metric that the card does not have is left out.
CountersByKernel parse_nsight(const std::string& output);

// The kernels of a profile of the simulator (GRADE_SIM_PROFILE).
CountersByKernel simulated_counters(const course::Json& profile);

// One block of lines per kernel: counter, hardware, simulator. Kernels that only one side saw, such
// as those of the kit, are left out.
std::string nsight_table(const CountersByKernel& hardware, const CountersByKernel& simulator,
                         const Terminal& terminal);

// Why ncu gave no counters, and what to do about it; "" if `output` has some.
std::string nsight_problem(const std::string& output);

// Path of ncu: on PATH, in the toolkit, or where Nsight Compute installs itself; "" if there is
// none.
std::string find_nsight();

}  // namespace grade
#endif  // WARPLINGS_CLI_NSIGHT_H_

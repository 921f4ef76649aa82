// `grade exec`: any program, run with the checks on, findings on stderr, and a status that says
// whether there were any. Asked for with the environment variable GRADE_EXEC=1.
#ifndef WARPLINGS_SIMULATOR_RUNTIME_EXEC_MODE_H_
#define WARPLINGS_SIMULATOR_RUNTIME_EXEC_MODE_H_

namespace warplings::sim {

// Does nothing unless GRADE_EXEC=1, and nothing the second time.
void start_exec_mode();

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_RUNTIME_EXEC_MODE_H_

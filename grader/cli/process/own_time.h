// How long a process has had of the machine: the time of the clock, less what its threads and its
// children stood in line for a processor. A limit on it is the same on a busy machine.
#ifndef WARPLINGS_CLI_PROCESS_OWN_TIME_H_
#define WARPLINGS_CLI_PROCESS_OWN_TIME_H_

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>

namespace grade {

// Seconds since the last call of restart().
struct TimeHad {
  double clock = 0;      // on the wall
  double own = 0;        // without what it stood in line for; at least a quarter of `clock`
  double processor = 0;  // that processors worked for it, all together
};

class OwnTime {
 public:
  void restart();
  // Looks at the process, five times a second at most; where the kernel does not say how long a
  // thread stood in line, all time is its own.
  TimeHad of(pid_t root);

 private:
  struct Thread {
    uint64_t ran = 0, waited = 0;  // nanoseconds since it began
  };
  void look(pid_t process);

  using Clock = std::chrono::steady_clock;
  Clock::time_point began_ = Clock::now(), looked_;
  double ran_ = 0, waited_ = 0;  // seconds since restart(), of threads that have ended as well
  std::map<pid_t, Thread> threads_;
};

}  // namespace grade
#endif  // WARPLINGS_CLI_PROCESS_OWN_TIME_H_

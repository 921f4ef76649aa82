// The simulator in a process of its own, with a variable of the environment (GRADE_SIM_ISA,
// GRADE_SIM_ORDER) that it reads when it starts; and a crash of it is a result like any other.
#ifndef WARPLINGS_TESTS_SIMULATOR_RANDOM_WORKER_H_
#define WARPLINGS_TESTS_SIMULATOR_RANDOM_WORKER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ptx_fixture.h"

namespace warplings::sim::random {

class Worker {
 public:
  // An empty value leaves the choice to the simulator.
  Worker(std::string variable, std::string value)
      : variable_(std::move(variable)), value_(std::move(value)) {}
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // As run_on_simulator: what went wrong, empty if nothing did.
  std::string run(const Fixture& fixture, std::vector<uint8_t>* output);

 private:
  bool start();
  void stop();
  [[noreturn]] void serve();

  std::string variable_, value_;
  pid_t process_ = -1;
  int socket_ = -1;
  int served_ = 0;
};

}  // namespace warplings::sim::random

#endif  // WARPLINGS_TESTS_SIMULATOR_RANDOM_WORKER_H_

// Where work fits on the resources of a modelled device.
#ifndef WARPLINGS_SIMULATOR_PROFILE_SCHEDULE_H_
#define WARPLINGS_SIMULATOR_PROFILE_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <map>

namespace warplings::sim {

struct Span {
  double start = 0, end = 0;  // seconds
};

// One after the other: a copy engine. Work that comes to be known later may take a gap.
class Engine {
 public:
  Span place(double ready, double seconds);
  void forget(double before);

 private:
  std::map<double, double> busy_;  // start -> end
};

// Shares of a device that a kernel takes while it runs alone, each from 0 to 1.
struct Demand {
  double resident = 0;  // of the blocks that the multiprocessors can hold
  double issue = 0;     // of the issue slots
  double memory = 0;    // of the bandwidth of L2 or DRAM
};

// Many at a time: the multiprocessors. Who came first gets what it asks for; who comes later gets
// what is left, and runs slower by as much as it is short of.
class SharedDevice {
 public:
  SharedDevice();
  Span place(double ready, double seconds, const Demand& demand);
  void forget(double before);

 private:
  using Use = std::array<double, 3>;
  std::map<double, Use>::iterator split_at(double time);

  std::map<double, Use> from_;  // what is in use from this time on
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_SCHEDULE_H_

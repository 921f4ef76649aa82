// Counters: exact, per instruction, folded into source lines and totals on demand.
// Definitions follow Nsight Compute: a request is one warp-level instruction, a sector 32 bytes, a
// wavefront one pass through shared memory.
#ifndef WARPLINGS_SIMULATOR_PROFILE_COUNTERS_H_
#define WARPLINGS_SIMULATOR_PROFILE_COUNTERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/counters.h"
#include "core/instruction.h"
#include "core/kernel.h"
#include "decode/program.h"
#include "warplings/sim.h"

namespace warplings::sim {

// Adds what one instruction did to sums of a line or a launch.
void fold_counters(const LoadedModule& module, size_t pc, const PcCounters& counters,
                   wsim_counters& out);

struct LaunchRecord {
  std::string kernel;
  Position where;
  Dim3 grid, block;
  size_t dynamic_shared = 0;
};

class CounterStore {
 public:
  static CounterStore& instance();

  void reset();
  // Counters of a module, one per instruction; grows the store on first use.
  std::vector<PcCounters>& of(const LoadedModule* module);
  void record_launch(const Kernel& kernel, const LaunchConfig& config);
  // A library call: bytes of its operands, each counted once.
  void record_library(const std::string& function, const Position& where, uint64_t read,
                      uint64_t written);

  wsim_counters totals() const;
  struct Line {
    std::string file;
    int line = 0;
    std::string kernel;  // or the function of a library
    wsim_counters counters{};
  };
  std::vector<Line> lines() const;                                         // ordered by file, line
  const std::vector<LaunchRecord>& launches() const { return launches_; }  // at most 64
  uint64_t launch_count() const { return launch_count_; }
  void record_waiting_child() { ++waiting_children_; }
  uint64_t waiting_children() const { return waiting_children_; }

 private:
  std::map<const LoadedModule*, std::vector<PcCounters>> counters_;
  std::vector<LaunchRecord> launches_;
  std::map<std::pair<std::string, int>, Line> library_lines_;
  uint64_t launch_count_ = 0, blocks_ = 0, threads_ = 0, blocks_max_ = 0;
  uint64_t waiting_children_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_COUNTERS_H_

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

#include "exec/launch.h"
#include "warplings/sim.h"

namespace warplings::sim {

enum class Traffic : uint8_t {
  kNone,
  kGlobalLoad,
  kGlobalStore,
  kSharedLoad,
  kSharedStore,
  kLocalLoad,
  kLocalStore,
  kGlobalAtomic,
  kSharedAtomic,
};

// What one instruction did. Meaning of the memory fields depends on `traffic`.
struct PcCounters {
  uint64_t issued = 0;        // warp instructions
  uint64_t lanes = 0;         // sum of active lanes
  uint64_t requests = 0;      // memory: warp-level accesses
  uint64_t requests_16 = 0;   // of these with 16 bytes per lane
  uint64_t transactions = 0;  // sectors (global, local) or wavefronts (shared)
  uint64_t excess = 0;        // bank conflicts; same-address steps of atomics; divergent branches
  uint64_t operations = 0;    // atomics: after those of a warp on one address are added up
  uint64_t bytes = 0;         // asked for by the lanes
  uint64_t unique_bytes = 0;  // distinct, per request
  Traffic traffic = Traffic::kNone;
};

PcCounters difference(const PcCounters& after, const PcCounters& before);

struct Instr;
// Adds what one instruction did to sums of a line or a launch.
void fold_counters(const Instr& instruction, const PcCounters& counters, wsim_counters& out);

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

 private:
  std::map<const LoadedModule*, std::vector<PcCounters>> counters_;
  std::vector<LaunchRecord> launches_;
  std::map<std::pair<std::string, int>, Line> library_lines_;
  uint64_t launch_count_ = 0, blocks_ = 0, threads_ = 0, blocks_max_ = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_COUNTERS_H_

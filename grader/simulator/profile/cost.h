// Modelled cost of a launch: how long the kernel itself takes on the modelled card (gpu_model()).
// Launch latency, copies and streams are the timeline's business. Formulas and sources: MODEL.md.
//
//   CostMeter meter(kernel);          // before the launch
//   run_kernel(...);
//   LaunchCost cost = meter.finish(config);
#ifndef WARPLINGS_SIMULATOR_PROFILE_COST_H_
#define WARPLINGS_SIMULATOR_PROFILE_COST_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/gpu_model.h"
#include "exec/launch.h"
#include "profile/counters.h"

namespace warplings::sim {

// What a kernel spends its time on.
enum class Limiter : uint8_t {
  kIssue,  // issue slots
  kFp32,   // the pipes of a multiprocessor, each apart
  kInteger,
  kFp64,
  kSpecial,
  kTensor,
  kL1,  // the data path of L1 and shared memory
  kL2,
  kDram,
  kLatency,  // none of them: warps wait for results
};
constexpr int kLimiters = 10;
const char* limiter_words(Limiter limiter);

struct LaunchCost {
  double seconds = 0;
  double cycles = 0;
  Limiter limiter = Limiter::kLatency;
  // Share of `cycles` in which each resource is in use, by Limiter; [kLatency]: in which a warp
  // waits, of its lifetime.
  double busy[kLimiters] = {};
  Occupancy occupancy;
  int registers = 0;
  bool registers_estimated = true;  // no ptxas at hand
  double waves = 0;
  // Multiprocessors that the launch keeps busy, at most those of the card (or slice): what another
  // kernel beside it cannot have.
  int multiprocessors_used = 0;
  double slice = 1;  // the card was divided by this
  // The launch was recorded (profile/recorder.h). Else the cost is the coarse one: every sector
  // that the lanes ask for counts as one of L2 and DRAM, and the figures below are 0.
  bool detailed = false;
  uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0, dram_bytes = 0;
  // Share of the waiting of warps that ends at each instruction.
  std::unordered_map<uint32_t, double> stalled_at;
};

// What the slice of the card that the recorder was started with can do at most: bytes per second of
// DRAM, as a copy and as reading alone reaches them, and fp32 operations per second (an FMA is
// two).
struct SliceRates {
  double copied, read, flops;
};
SliceRates slice_rates();

// The costs of all launches so far, for questions about a stretch of a program.
class CostLog {
 public:
  struct Sum {
    double seconds = 0;
    uint64_t l1_bytes = 0, l2_bytes = 0, dram_bytes = 0;  // of recorded launches
  };
  static CostLog& instance();
  void add(const LaunchCost& cost);
  size_t mark() const { return launches_.size(); }
  // Added up from the mark on: a difference of running sums would not be the same in every run.
  Sum since(size_t mark) const;

 private:
  std::vector<Sum> launches_;
};

class CostMeter {
 public:
  explicit CostMeter(const Kernel& kernel);
  // Also adds to CostLog, and to the profile where one is written.
  LaunchCost finish(const LaunchConfig& config) const;

 private:
  const Kernel& kernel_;
  std::vector<PcCounters> before_;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_COST_H_

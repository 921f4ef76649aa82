// A multiprocessor executing recorded blocks: in-order warps on four schedulers, a scoreboard over
// the registers of the PTX, pipes and memory levels that each serve one request after the other.
// What it takes for n blocks, and what it spends the time on. MODEL.md has the rules.
#ifndef WARPLINGS_SIMULATOR_PROFILE_SM_TIMELINE_H_
#define WARPLINGS_SIMULATOR_PROFILE_SM_TIMELINE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/gpu_model.h"
#include "decode/instruction_class.h"
#include "profile/recorder.h"

namespace warplings::sim {

// Of every card.
inline constexpr int kSchedulers = 4;  // of a multiprocessor
inline constexpr double kWarp = 32;    // lanes
inline constexpr double kSectorBytes = 32;

// Resources of a multiprocessor, and its part of those of the card.
enum class Resource : uint8_t {
  kIssue,
  kFp32,
  kInteger,
  kMultiply,
  kFp64,
  kSpecial,
  kTensor,
  kL1,
  kL2,
};
constexpr int kResources = 9;

struct SmSettings {
  const GpuModel* model = nullptr;
  const ModuleSchedule* schedule = nullptr;
  int resident = 1;                 // blocks at a time
  double port_bytes_per_clock = 0;  // between this multiprocessor and L2
  double block_interval = 0;        // clocks between two blocks that start here, at least
};

struct SmResult {
  double cycles = 0;
  double busy[kResources] = {};  // cycles, per scheduler or pipe where there are four
  double waiting = 0;            // warp cycles in which a warp waited for a register or barrier
  double alive = 0;              // warp cycles
  // Warp cycles that passed before each instruction was issued.
  std::unordered_map<uint32_t, double> stalled_at;
};

// `count` blocks, taken from `blocks` in turn.
SmResult run_multiprocessor(const SmSettings& settings, const std::vector<BlockTrace>& blocks,
                            int count);

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_PROFILE_SM_TIMELINE_H_

#include "profile/cost.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/machine.h"
#include "decode/instruction_class.h"
#include "decode/program.h"
#include "profile/load_order.h"
#include "profile/profile_log.h"
#include "profile/recorder.h"
#include "profile/resources.h"
#include "profile/sm_timeline.h"

namespace warplings::sim {
namespace {

// A resource that is in use for less than this share of the time does not limit the launch.
constexpr double kLimits = 0.7;
constexpr double kPortBytes = 64;  // per clock, between L2 and one multiprocessor
// How waiting and bandwidth add up: of the times that each would take alone, the k-th root of the
// sum of the k-th powers.
constexpr double kKnee = 3;
// Cycles between two atomic operations on one address at L2.
constexpr double kAtomicCycles = 1;
// The coarse cost: instructions and loads of a warp that are under way at a time.
constexpr double kIndependent = 2, kLoadsInFlight = 4;
// Events of one run of the model of a multiprocessor.
constexpr uint64_t kMostEvents = 1'500'000;

// Sums over the instructions of one launch, per pipe in warp instructions.
struct LaunchWork {
  double issue = 0;  // machine instructions
  double fp32 = 0, integer = 0, multiply = 0, fp64 = 0, special = 0;
  double tensor_fma = 0, wgmma_fma = 0;
  double l1_wavefronts = 0;
  double l2_bytes = 0;
  double global_loads = 0;       // requests
  double warp_instructions = 0;  // as in the counters
};

void add_pipe(const InstructionClass& what, double issued, LaunchWork& work) {
  const double n = issued * what.issues;
  work.issue += n + issued * what.beside;
  switch (what.unit) {
    case Unit::kFp32:
      work.fp32 += n;
      break;
    case Unit::kInteger:
      work.integer += n;
      break;
    case Unit::kMultiply:
      work.multiply += n;
      break;
    case Unit::kFp64:
      work.fp64 += n;
      break;
    case Unit::kSpecial:
      work.special += n;
      break;
    case Unit::kTensor:
      (what.is_wgmma ? work.wgmma_fma : work.tensor_fma) += 16 * n * what.tensor_fma;
      break;
    default:
      break;
  }
}

void add_memory(const PcCounters& c, LaunchWork& work) {
  switch (c.traffic) {
    case Traffic::kNone:
      break;
    case Traffic::kSharedLoad:
    case Traffic::kSharedStore:
      work.l1_wavefronts += static_cast<double>(c.transactions);
      break;
    case Traffic::kSharedAtomic:
      work.l1_wavefronts += static_cast<double>(c.requests + c.excess);
      break;
    default: {
      // Four sectors make a line, and a line is a wavefront.
      const double sectors = static_cast<double>(c.transactions);
      work.l1_wavefronts += std::max(static_cast<double>(c.requests), sectors / 4);
      work.l2_bytes += kSectorBytes * sectors;
      if (c.traffic == Traffic::kGlobalLoad) work.global_loads += static_cast<double>(c.requests);
    }
  }
}

int slice_multiprocessors(const GpuModel& model) {
  const Recorder& recorder = Recorder::instance();
  return recorder.is_on() ? recorder.multiprocessors() : model.multiprocessors;
}

void choose_limiter(LaunchCost& cost) {
  cost.limiter = Limiter::kLatency;
  double most = kLimits;
  for (int i = 0; i < static_cast<int>(Limiter::kLatency); ++i) {
    if (cost.busy[i] < most) continue;
    most = cost.busy[i];
    cost.limiter = static_cast<Limiter>(i);
  }
}

double& busy(LaunchCost& cost, Limiter limiter) { return cost.busy[static_cast<int>(limiter)]; }

// What is known of a launch without its work: who fits where.
LaunchCost placed(const Kernel& kernel, const LaunchConfig& config) {
  const GpuModel& model = gpu_model();
  LaunchCost cost;
  cost.registers = kernel.registers;
  if (Recorder::instance().is_on()) {  // ptxas takes time, so not for every program
    const KernelResources& resources = resources_of(kernel);
    cost.registers = resources.registers;
    cost.registers_estimated = resources.estimated;
  }
  cost.occupancy = occupancy_of(model, static_cast<int>(config.block.count()), cost.registers,
                                kernel.static_shared + config.dynamic_shared);
  const int all = slice_multiprocessors(model);
  cost.slice = static_cast<double>(model.multiprocessors) / all;
  const uint64_t blocks = config.grid.count();
  cost.multiprocessors_used =
      static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(all), blocks));
  cost.waves = waves_of(model, cost.occupancy, blocks) * cost.slice;
  return cost;
}

// Without a recording: each pipe's work at its full rate, or one warp after the other's waiting.
void coarse(const LaunchConfig& config, const LaunchWork& work, LaunchCost& cost) {
  const GpuModel& model = gpu_model();
  const double used = std::max(1, cost.multiprocessors_used);
  const double blocks = static_cast<double>(config.grid.count());
  // The multiprocessor with most blocks ends last.
  const double imbalance = std::ceil(blocks / used) / (blocks / used);
  const double share = imbalance / used;
  const double card = model.multiprocessors / cost.slice;
  double cycles[kLimiters] = {};
  const auto set = [&](Limiter limiter, double value) {
    cycles[static_cast<int>(limiter)] = std::max(cycles[static_cast<int>(limiter)], value);
  };
  set(Limiter::kIssue, share * work.issue / kSchedulers);
  set(Limiter::kFp32, share * work.fp32 * kWarp / model.fp32_lanes);
  set(Limiter::kInteger, share * work.integer * kWarp / model.integer_lanes);
  set(Limiter::kInteger, share * work.multiply * kWarp / model.multiply_lanes);
  set(Limiter::kFp64, share * work.fp64 * kWarp / model.fp64_lanes);
  set(Limiter::kSpecial, share * work.special * kWarp / model.special_lanes);
  set(Limiter::kTensor,
      share * (work.tensor_fma / model.fp16_tensor_fma + work.wgmma_fma / model.wgmma_fma));
  set(Limiter::kL1, share * work.l1_wavefronts * model.wavefront_cycles);
  set(Limiter::kL2, work.l2_bytes / (model.l2_bytes_per_clock * card / model.multiprocessors));
  set(Limiter::kDram,
      work.l2_bytes / (model.dram_bytes_per_clock() * card / model.multiprocessors));
  const double warps = blocks * std::ceil(static_cast<double>(config.block.count()) / kWarp);
  const double resident = std::max(1, cost.occupancy.blocks);
  const double turns = std::ceil(blocks / (used * resident));
  set(Limiter::kLatency, turns * (work.issue / warps * model.latency.arithmetic / kIndependent +
                                  work.global_loads / warps * model.latency.dram / kLoadsInFlight));
  cost.cycles = 1;
  for (double value : cycles) cost.cycles = std::max(cost.cycles, value);
  for (int i = 0; i < kLimiters; ++i) cost.busy[i] = cycles[i] / cost.cycles;
  choose_limiter(cost);
}

struct Extrapolated {
  SmResult result;
  double factor = 1;  // of everything in `result`
};

// The multiprocessor with most blocks. More than fit in kMostEvents go on at the pace of the last
// full round.
Extrapolated run_blocks(const SmSettings& settings, const std::vector<BlockTrace>& traces,
                        uint64_t recorded, uint64_t count) {
  const uint64_t per_block = std::max<uint64_t>(1, recorded / traces.size());
  const auto resident = static_cast<uint64_t>(settings.resident);
  const uint64_t affordable = std::max<uint64_t>(1, kMostEvents / per_block);
  Extrapolated out;
  if (count <= affordable || count <= resident) {
    out.result = run_multiprocessor(settings, traces, static_cast<int>(count));
    return out;
  }
  const uint64_t rounds = std::max<uint64_t>(2, affordable / resident);
  const uint64_t many = std::min(count, rounds * resident), few = many - resident;
  out.result = run_multiprocessor(settings, traces, static_cast<int>(many));
  const double before = run_multiprocessor(settings, traces, static_cast<int>(few)).cycles;
  const double per_round = std::max(0.0, out.result.cycles - before);
  const double more = static_cast<double>(count - many) / static_cast<double>(resident);
  out.factor = (out.result.cycles + more * per_round) / out.result.cycles;
  return out;
}

// A launch takes at least as long as its longest block, alone on its multiprocessor. 0 where the
// blocks are alike.
double longest_block_cycles(const SmSettings& settings, const Recording& recording,
                            const std::vector<BlockTrace>& traces, double instructions_per_block) {
  constexpr double kAlike = 4;
  const auto longest = static_cast<double>(recording.longest);
  if (longest < kAlike * instructions_per_block) return 0;
  const auto size = [](const BlockTrace& block) {
    size_t n = 0;
    for (const WarpTrace& warp : block.warps) n += warp.size();
    return n;
  };
  const auto most =
      std::max_element(traces.begin(), traces.end(),
                       [&](const BlockTrace& a, const BlockTrace& b) { return size(a) < size(b); });
  if (most == traces.end() || size(*most) == 0) return 0;
  return run_multiprocessor(settings, {*most}, 1).cycles * longest /
         static_cast<double>(size(*most));
}

std::vector<BlockTrace> in_machine_order(const Kernel& kernel, int registers,
                                         const std::vector<BlockTrace>& blocks) {
  struct Orders {
    std::map<std::pair<const LoadedModule*, int>, LoadOrder> all;
  };
  const auto entry = Machine::get<Orders>()
                         .all
                         .try_emplace({kernel.module, registers}, *kernel.module,
                                      ModuleSchedule::of(kernel.module), registers)
                         .first;
  std::vector<BlockTrace> out(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    out[i].steps = blocks[i].steps;
    out[i].needed = blocks[i].needed;
    for (const WarpTrace& warp : blocks[i].warps) {
      out[i].warps.push_back(entry->second.apply(warp));
    }
  }
  return out;
}

// What passed L2, in reads of a sector.
double l2_reads(const GpuModel& model, const CacheTotals& cache) {
  const auto whole = static_cast<double>(cache.l2_writes);
  const auto partial = static_cast<double>(cache.l2_partial_writes);
  return static_cast<double>(cache.l2_sectors) - whole - partial + whole * model.l2_write +
         partial * model.l2_partial_write;
}

// Reads alone are faster than a copy, whose bytes are half reads and half writes.
double dram_bytes_per_clock(const GpuModel& model, const CacheTotals& cache) {
  const double writes = static_cast<double>(cache.dram_writes) /
                        std::max(1.0, static_cast<double>(cache.dram_sectors));
  const double copying = std::min(1.0, 2 * writes);
  return 1 /
         (copying / model.dram_bytes_per_second +
          (1 - copying) / model.dram_read_bytes_per_second) /
         model.clock_hz;
}

void detailed(const Kernel& kernel, const LaunchConfig& config, const LaunchWork& work,
              const Recording& recording, LaunchCost& cost) {
  const GpuModel& model = gpu_model();
  const double used = std::max(1, cost.multiprocessors_used);
  const double card = model.multiprocessors / cost.slice;
  const double l2_rate = model.l2_bytes_per_clock / model.multiprocessors * card;
  const double dram_rate =
      dram_bytes_per_clock(model, recording.cache) / model.multiprocessors * card;
  SmSettings settings;
  settings.model = &model;
  settings.schedule = &ModuleSchedule::of(kernel.module);
  settings.resident = std::max(1, cost.occupancy.blocks);
  settings.port_bytes_per_clock = kPortBytes;
  settings.block_interval = used * cost.slice / model.blocks_per_clock;
  const uint64_t blocks = config.grid.count();
  const auto most = static_cast<uint64_t>(std::ceil(static_cast<double>(blocks) / used));
  const std::vector<BlockTrace> traces = in_machine_order(kernel, cost.registers, recording.blocks);
  const Extrapolated run = run_blocks(settings, traces, recording.recorded, most);
  // The recorded blocks stand for all: in proportion to the instructions that all executed.
  const double expected = static_cast<double>(recording.recorded) /
                          static_cast<double>(recording.blocks.size()) *
                          static_cast<double>(blocks);
  const double scale = run.factor * work.warp_instructions / std::max(1.0, expected);
  const CacheTotals& cache = recording.cache;
  cost.detailed = true;
  cost.l1_sectors = cache.l1_sectors, cost.l1_hits = cache.l1_hits;
  cost.l2_sectors = cache.l2_sectors, cost.l2_hits = cache.l2_hits;
  cost.dram_bytes = static_cast<uint64_t>(kSectorBytes) * cache.dram_sectors;
  // All multiprocessors share these.
  const double l2 = kSectorBytes * l2_reads(model, cache) / l2_rate;
  const double dram = kSectorBytes * static_cast<double>(cache.dram_sectors) / dram_rate;
  const double atomics = static_cast<double>(cache.hottest_atomics) * kAtomicCycles * cost.slice;
  const double longest = longest_block_cycles(settings, recording, traces,
                                              work.warp_instructions / static_cast<double>(blocks));
  const double alone = std::max({1.0, run.result.cycles * scale, atomics, longest});
  cost.cycles = std::pow(std::pow(alone, kKnee) + std::pow(std::max(l2, dram), kKnee), 1 / kKnee);
  const auto of_pipe = [&](Resource resource) {
    return run.result.busy[static_cast<int>(resource)] * scale / cost.cycles;
  };
  busy(cost, Limiter::kIssue) = of_pipe(Resource::kIssue);
  busy(cost, Limiter::kFp32) = of_pipe(Resource::kFp32);
  busy(cost, Limiter::kInteger) =
      std::max(of_pipe(Resource::kInteger), of_pipe(Resource::kMultiply));
  busy(cost, Limiter::kFp64) = of_pipe(Resource::kFp64);
  busy(cost, Limiter::kSpecial) = of_pipe(Resource::kSpecial);
  busy(cost, Limiter::kTensor) = of_pipe(Resource::kTensor);
  busy(cost, Limiter::kL1) = of_pipe(Resource::kL1);
  busy(cost, Limiter::kL2) = std::max(l2, atomics) / cost.cycles;
  busy(cost, Limiter::kDram) = dram / cost.cycles;
  busy(cost, Limiter::kLatency) = run.result.waiting / std::max(1.0, run.result.alive);
  double stalled = 0;
  for (const auto& [pc, waited] : run.result.stalled_at) stalled += waited;
  for (const auto& [pc, waited] : run.result.stalled_at) cost.stalled_at[pc] = waited / stalled;
  choose_limiter(cost);
}

}  // namespace

const char* limiter_words(Limiter limiter) {
  switch (limiter) {
    case Limiter::kIssue:
      return "instruction issue";
    case Limiter::kFp32:
      return "fp32 arithmetic";
    case Limiter::kInteger:
      return "integer arithmetic";
    case Limiter::kFp64:
      return "fp64 arithmetic";
    case Limiter::kSpecial:
      return "the special-function units";
    case Limiter::kTensor:
      return "the tensor cores";
    case Limiter::kL1:
      return "the data path of L1 and shared memory";
    case Limiter::kL2:
      return "L2 bandwidth";
    case Limiter::kDram:
      return "DRAM bandwidth";
    case Limiter::kLatency:
      return "latency: warps wait for results";
  }
  return "";
}

CostMeter::CostMeter(const Kernel& kernel)
    : kernel_(kernel), before_(CounterStore::instance().of(kernel.module)) {}

CostLog& CostLog::instance() { return Machine::get<CostLog>(); }

void CostLog::add(const LaunchCost& cost) {
  constexpr uint64_t kSector = 32;  // bytes
  launches_.push_back(
      {cost.seconds, cost.l1_sectors * kSector, cost.l2_sectors * kSector, cost.dram_bytes});
}

CostLog::Sum CostLog::since(size_t mark) const {
  Sum sum;
  for (size_t i = mark; i < launches_.size(); ++i) {
    sum.seconds += launches_[i].seconds;
    sum.l1_bytes += launches_[i].l1_bytes;
    sum.l2_bytes += launches_[i].l2_bytes;
    sum.dram_bytes += launches_[i].dram_bytes;
  }
  return sum;
}

LaunchCost CostMeter::finish(const LaunchConfig& config) const {
  const std::vector<PcCounters>& after = CounterStore::instance().of(kernel_.module);
  const ModuleSchedule& schedule = ModuleSchedule::of(kernel_.module);
  LaunchWork work;
  std::vector<PcCounters> counters(after.size());
  for (size_t pc = 0; pc < after.size(); ++pc) {
    const PcCounters& c = counters[pc] =
        pc < before_.size() ? difference(after[pc], before_[pc]) : after[pc];
    if (c.issued == 0) continue;
    work.warp_instructions += static_cast<double>(c.issued);
    add_pipe(schedule.code[pc], static_cast<double>(c.issued), work);
    add_memory(c, work);
  }
  LaunchCost cost = placed(kernel_, config);
  // A launch that repeats the last one is counted again without being executed: its recording is
  // still there.
  const Recorder& recorder = Recorder::instance();
  const Recording& recording = recorder.last();
  if (recorder.is_on() && recording.kernel == &kernel_ && recording.recorded > 0) {
    detailed(kernel_, config, work, recording, cost);
  } else {
    coarse(config, work, cost);
  }
  cost.seconds = cost.cycles / gpu_model().clock_hz;
  CostLog::instance().add(cost);
  if (ProfileLog::instance().is_on()) ProfileLog::instance().add(kernel_, config, counters, cost);
  return cost;
}

SliceRates slice_rates() {
  const GpuModel& model = gpu_model();
  const double multiprocessors = slice_multiprocessors(model);
  const double share = multiprocessors / model.multiprocessors;
  return {model.dram_bytes_per_second * share, model.dram_read_bytes_per_second * share,
          2.0 * model.fp32_lanes * multiprocessors * model.clock_hz};
}

}  // namespace warplings::sim

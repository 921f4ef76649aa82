#include "profile/sm_timeline.h"

#include <algorithm>
#include <cmath>
#include <queue>

namespace warplings::sim {
namespace {

// Requests to DRAM take different times: a least one, and then as long as it takes for something
// that may come in any moment. This part of the average is not the least.
constexpr double kDramSpread = 0.175;

constexpr double kLineBytes = 128;  // of the data path of L1 and shared memory, per cycle

// Serves one request after the other.
struct Server {
  double free_at = 0;
  double busy = 0;

  // The cycle in which a request that comes at `ready` and takes `cycles` is begun.
  double begin(double ready, double cycles) {
    const double start = std::max(ready, free_at);
    free_at = start + cycles;
    busy += cycles;
    return start;
  }
};

struct RunningWarp {
  const WarpTrace* trace = nullptr;
  size_t next = 0;
  int block = 0;  // index in Multiprocessor::blocks_
  int scheduler = 0;
  double free_at = 0;  // its next instruction can be issued, operands apart
  double started = 0;
  double arrived = 0;         // at the barrier it waits for
  std::vector<double> ready;  // by register: cycle in which its value can be used
  // What goes on in the background: cp.async, wgmma, and bulk copies out of shared memory.
  struct Background {
    double open = 0;             // of no group yet: cycle in which the last of it ends
    std::vector<double> groups;  // and of each group that was not waited for
  } copies, products, departures;
};

// Of an mbarrier.
struct RunningPhase {
  uint32_t missing = 0;      // arrivals and copies
  double end = 0;            // of those that have come; of the phase, once nothing is missing
  std::vector<int> waiting;  // warps
};

struct RunningBlock {
  int warps_left = 0;
  std::vector<int> waiting;  // warps at the barrier
  const BlockTrace* trace = nullptr;
  std::vector<RunningPhase> phases;
};

class Multiprocessor {
 public:
  Multiprocessor(const SmSettings& settings, const std::vector<BlockTrace>& blocks, int count)
      : settings_(settings), model_(*settings.model), traces_(blocks), to_start_(count) {}

  SmResult run() {
    while (started_ < to_start_ && started_ < settings_.resident) start_block(0);
    while (!ready_.empty() || release_stuck()) {
      const auto [at, index] = ready_.top();
      ready_.pop();
      step(index, at);
    }
    return result();
  }

 private:
  void start_block(double at) {
    const BlockTrace& trace = traces_[static_cast<size_t>(started_) % traces_.size()];
    at = starts_.begin(at, settings_.block_interval);
    ++started_;
    const int block = static_cast<int>(blocks_.size());
    blocks_.push_back({});
    blocks_.back().warps_left = static_cast<int>(trace.warps.size());
    blocks_.back().trace = &trace;
    for (const uint32_t needed : trace.needed) blocks_.back().phases.push_back({needed, 0, {}});
    for (const WarpTrace& warp : trace.warps) {
      const int index = take_warp();
      RunningWarp& w = warps_[static_cast<size_t>(index)];
      w.trace = &warp;
      w.next = 0;
      w.block = block;
      w.scheduler = next_scheduler_++ % kSchedulers;
      w.free_at = w.started = at;
      w.ready.assign(settings_.schedule->register_count, 0);
      w.copies = w.products = w.departures = {};
      schedule(index);
    }
  }

  int take_warp() {
    if (!free_warps_.empty()) {
      const int index = free_warps_.back();
      free_warps_.pop_back();
      return index;
    }
    warps_.emplace_back();
    return static_cast<int>(warps_.size()) - 1;
  }

  const InstructionClass& class_of(const TraceEntry& entry) const {
    return settings_.schedule->code[entry.pc];
  }

  // Queues the warp for the cycle in which its next instruction has its operands.
  void schedule(int index) {
    RunningWarp& w = warps_[static_cast<size_t>(index)];
    if (w.next == w.trace->size()) {
      ready_.push({w.free_at, index});
      return;
    }
    const InstructionClass& what = class_of((*w.trace)[w.next]);
    double at = w.free_at;
    const uint16_t* registers = settings_.schedule->registers.data() + what.first_register;
    if (what.unit != Unit::kFree) {
      for (int i = 0; i < what.reads; ++i) at = std::max(at, w.ready[registers[i]]);
    }
    waiting_ += at - w.free_at;
    if (at > w.free_at) stalled_at_[(*w.trace)[w.next].pc] += at - w.free_at;
    ready_.push({at, index});
  }

  void step(int index, double at) {
    RunningWarp& w = warps_[static_cast<size_t>(index)];
    last_ = std::max(last_, at);
    if (w.next == w.trace->size()) {
      end_warp(index, at);
      return;
    }
    const TraceEntry& entry = (*w.trace)[w.next];
    if (entry.steps > 0 && waits_for_phase(index, entry, at)) return;
    ++w.next;
    const InstructionClass& what = class_of(entry);
    if (what.unit == Unit::kFree) {
      pass_through(w, what, at);
      w.free_at = at;
      schedule(index);
      return;
    }
    const int slots = what.issues + what.beside;
    const double issued = schedulers_[w.scheduler].begin(at, slots);
    if (what.unit == Unit::kBarrier) {
      wait_at_barrier(index, issued);
      return;
    }
    double done = execute(w, what, entry, issued) + what.beside * model_.latency.arithmetic;
    if (entry.steps > 0) done = std::max(done, take_steps(w, entry, issued, done));
    const uint16_t* written =
        settings_.schedule->registers.data() + what.first_register + what.reads;
    for (int i = 0; i < what.writes; ++i) w.ready[written[i]] = done;
    double next = std::max(issued + slots, begun_ + 1);
    if (what.async != AsyncStep::kNone) next = std::max(next, after_background(w, what, done));
    if (next - at > slots) stalled_at_[entry.pc] += next - at - slots;
    w.free_at = next;
    schedule(index);
  }

  // Whether the warp has to wait for a phase, now or until it is known when that ends.
  bool waits_for_phase(int index, const TraceEntry& entry, double at) {
    RunningWarp& w = warps_[static_cast<size_t>(index)];
    RunningBlock& block = blocks_[static_cast<size_t>(w.block)];
    for (uint32_t i = 0; i < entry.steps; ++i) {
      const PhaseStep& step = block.trace->steps[entry.first_step + i];
      if (step.kind != PhaseStep::Kind::kWaits) continue;
      RunningPhase& phase = block.phases[step.phase];
      if (phase.missing > 0) {
        w.arrived = at;
        phase.waiting.push_back(index);
        return true;
      }
      if (phase.end > at) {
        wake(index, phase.end, at);
        return true;
      }
    }
    return false;
  }

  void wake(int index, double end, double since) {
    const RunningWarp& w = warps_[static_cast<size_t>(index)];
    const double at = std::max(end, since);
    waiting_ += at - since;
    stalled_at_[(*w.trace)[w.next].pc] += at - since;
    ready_.push({at, index});
  }

  // What the instruction has others wait for. Returns the cycle in which its own result is there.
  double take_steps(RunningWarp& w, const TraceEntry& entry, double issued, double done) {
    RunningBlock& block = blocks_[static_cast<size_t>(w.block)];
    double result = issued;
    for (uint32_t i = 0; i < entry.steps; ++i) {
      const PhaseStep& step = block.trace->steps[entry.first_step + i];
      const double seen = issued + model_.latency.shared;
      switch (step.kind) {
        case PhaseStep::Kind::kArrives:
          arrive(block, step.phase, seen);
          break;
        case PhaseStep::Kind::kArrivesBehind: {
          double end = std::max(seen, w.copies.open);
          for (const double group : w.copies.groups) end = std::max(end, group);
          arrive(block, step.phase, end);
          break;
        }
        case PhaseStep::Kind::kBrings:
          arrive(block, step.phase, std::max(seen, done + model_.latency.bulk_copy));
          break;
        case PhaseStep::Kind::kTakes:
          w.departures.open = std::max(w.departures.open, done);
          break;
        case PhaseStep::Kind::kMultiplies:  // its matrices pass the data path of shared memory
          result = std::max(result,
                            l1_.begin(issued, step.bytes / kLineBytes) + step.bytes / kLineBytes);
          break;
        case PhaseStep::Kind::kWaits:
          break;
      }
    }
    return result;
  }

  void arrive(RunningBlock& block, uint32_t number, double at) {
    RunningPhase& phase = block.phases[number];
    phase.end = std::max(phase.end, at);
    if (phase.missing == 0 || --phase.missing > 0) return;
    for (const int index : phase.waiting) {
      wake(index, phase.end, warps_[static_cast<size_t>(index)].arrived);
    }
    phase.waiting.clear();
  }

  // Cycle in which the warp goes on after an instruction of cp.async, a bulk copy or wgmma that is
  // done at `done`.
  static double after_background(RunningWarp& w, const InstructionClass& what, double done) {
    RunningWarp::Background& under_way = what.is_wgmma  ? w.products
                                         : what.is_bulk ? w.departures
                                                        : w.copies;
    std::vector<double>& groups = under_way.groups;
    double until = 0;
    if (what.async == AsyncStep::kBegin) under_way.open = std::max(under_way.open, done);
    if (what.async == AsyncStep::kCommit) {
      groups.push_back(under_way.open);
      under_way.open = 0;
    }
    if (what.async == AsyncStep::kWait) {
      while (groups.size() > what.groups_left) {
        until = std::max(until, groups.front());
        groups.erase(groups.begin());
      }
      if (what.groups_left == 0) until = std::max(until, under_way.open);  // wait_all
    }
    return until;
  }

  // A copy or a cast: its result is there when its operands are.
  void pass_through(RunningWarp& w, const InstructionClass& what, double at) {
    const uint16_t* registers = settings_.schedule->registers.data() + what.first_register;
    double ready = at;
    for (int i = 0; i < what.reads; ++i) ready = std::max(ready, w.ready[registers[i]]);
    for (int i = 0; i < what.writes; ++i) w.ready[registers[what.reads + i]] = ready;
  }

  // Cycle in which the result can be used; sets begun_ to that in which the pipe took it.
  double execute(const RunningWarp& w, const InstructionClass& what, const TraceEntry& entry,
                 double issued) {
    const Latencies& latency = model_.latency;
    const double n = what.issues;
    const auto pipe = [&](Resource resource, double lanes, int cycles) {
      // Each quarter of the multiprocessor has a quarter of the lanes.
      const double interval = kWarp * n / (lanes / kSchedulers);
      begun_ = pipes_[static_cast<int>(resource)][w.scheduler].begin(issued, interval);
      return begun_ + std::max(interval, static_cast<double>(cycles) * n);
    };
    switch (what.unit) {
      case Unit::kFp32:
        return pipe(Resource::kFp32, model_.fp32_lanes, latency.arithmetic);
      case Unit::kInteger:
        if (model_.integer_shares_fp32_lanes) {
          pipe(Resource::kFp32, model_.fp32_lanes, latency.arithmetic);
        }
        return pipe(Resource::kInteger, model_.integer_lanes, latency.arithmetic);
      case Unit::kMultiply:
        return pipe(Resource::kMultiply, model_.multiply_lanes, latency.arithmetic);
      case Unit::kFp64:
        return pipe(Resource::kFp64, model_.fp64_lanes, latency.fp64);
      case Unit::kSpecial:
        return pipe(Resource::kSpecial, model_.special_lanes, latency.special);
      case Unit::kTensor: {
        const int rate = what.is_wgmma ? model_.wgmma_fma : model_.fp16_tensor_fma;
        const double interval = 16.0 * what.tensor_fma / (rate / 4.0);
        begun_ = pipes_[static_cast<int>(Resource::kTensor)][w.scheduler].begin(issued, interval);
        return begun_ + std::max(interval, static_cast<double>(latency.tensor));
      }
      case Unit::kMemory:
        return what.is_bulk ? copy_bulk(entry, issued) : access_memory(entry, issued);
      default:
        begun_ = issued;
        return issued + latency.arithmetic;
    }
  }

  double access_memory(const TraceEntry& entry, double issued) {
    const Latencies& latency = model_.latency;
    const double cycles = std::max<double>(1, entry.wavefronts) * model_.wavefront_cycles;
    begun_ = l1_.begin(issued, cycles);
    double at = begun_ + cycles;
    if (entry.sectors > 0) {
      const double passing = kSectorBytes * entry.sectors / settings_.port_bytes_per_clock;
      at = std::max(at, l2_.begin(begun_, passing) + passing);
    }
    if (entry.reads_from == 3) return at + dram_latency();
    const int levels[] = {latency.shared, latency.l1, latency.l2};
    return at + levels[entry.reads_from];
  }

  // The copy engine: its warp goes on at once.
  double copy_bulk(const TraceEntry& entry, double issued) {
    const double end = access_memory(entry, issued);
    begun_ = issued;
    return end;
  }

  // The same sequence in every run.
  double dram_latency() {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const double u = (static_cast<double>(random_ >> 40) + 0.5) / (1 << 24);
    return model_.latency.dram * (1 - kDramSpread - kDramSpread * std::log(u));
  }

  void wait_at_barrier(int index, double at) {
    RunningWarp& w = warps_[static_cast<size_t>(index)];
    RunningBlock& block = blocks_[static_cast<size_t>(w.block)];
    w.arrived = at;
    block.waiting.push_back(index);
    last_ = std::max(last_, at);
    if (static_cast<int>(block.waiting.size()) == block.warps_left) release(block);
  }

  void release(RunningBlock& block) {
    double at = 0;
    for (int index : block.waiting) {
      at = std::max(at, warps_[static_cast<size_t>(index)].arrived);
    }
    at += model_.latency.barrier +
          model_.latency.barrier_per_warp * (static_cast<double>(block.waiting.size()) - 1);
    std::vector<int> released;
    released.swap(block.waiting);
    for (int index : released) {
      RunningWarp& w = warps_[static_cast<size_t>(index)];
      waiting_ += at - w.arrived;
      stalled_at_[(*w.trace)[w.next - 1].pc] += at - w.arrived;
      w.free_at = at;
      schedule(index);
    }
  }

  // Barriers of some of the warps are not told apart: when nobody can go on, all that wait do.
  bool release_stuck() {
    for (RunningBlock& block : blocks_) {
      if (block.waiting.empty()) continue;
      release(block);
      return true;
    }
    return release_phase();
  }

  // A recording that was cut knows a wait, and not what ends it.
  bool release_phase() {
    for (RunningBlock& block : blocks_) {
      for (RunningPhase& phase : block.phases) {
        if (phase.waiting.empty()) continue;
        phase.missing = 0;
        phase.end = std::max(phase.end, last_);
        for (const int index : phase.waiting) {
          wake(index, phase.end, warps_[static_cast<size_t>(index)].arrived);
        }
        phase.waiting.clear();
        return true;
      }
    }
    return false;
  }

  void end_warp(int index, double at) {
    RunningWarp& w = warps_[static_cast<size_t>(index)];
    alive_ += at - w.started;
    const int number = w.block;
    free_warps_.push_back(index);
    RunningBlock& block = blocks_[static_cast<size_t>(number)];
    --block.warps_left;
    if (block.warps_left > 0) {
      if (static_cast<int>(block.waiting.size()) == block.warps_left) release(block);
      return;
    }
    if (started_ < to_start_) start_block(at + model_.block_turnaround);
  }

  SmResult result() {
    SmResult out;
    double end = std::max({last_, l1_.free_at, l2_.free_at});
    for (int s = 0; s < kSchedulers; ++s) {
      out.busy[0] += schedulers_[s].busy / kSchedulers;
      for (int r = static_cast<int>(Resource::kFp32); r <= static_cast<int>(Resource::kTensor);
           ++r) {
        out.busy[r] += pipes_[r][s].busy / kSchedulers;
        end = std::max(end, pipes_[r][s].free_at);
      }
    }
    out.busy[static_cast<int>(Resource::kL1)] = l1_.busy;
    out.busy[static_cast<int>(Resource::kL2)] = l2_.busy;
    out.cycles = end;
    out.waiting = waiting_;
    out.alive = alive_;
    out.stalled_at = std::move(stalled_at_);
    return out;
  }

  const SmSettings& settings_;
  const GpuModel& model_;
  const std::vector<BlockTrace>& traces_;
  int to_start_ = 0, started_ = 0, next_scheduler_ = 0;
  // By cycle, then by number, so that the order is always the same.
  using Event = std::pair<double, int>;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> ready_;
  std::vector<RunningWarp> warps_;
  std::vector<int> free_warps_;
  std::vector<RunningBlock> blocks_;
  Server schedulers_[kSchedulers];
  Server pipes_[kResources][kSchedulers];
  Server l1_, l2_, starts_;
  uint64_t random_ = 1;
  double begun_ = 0, last_ = 0, waiting_ = 0, alive_ = 0;
  std::unordered_map<uint32_t, double> stalled_at_;
};

}  // namespace

SmResult run_multiprocessor(const SmSettings& settings, const std::vector<BlockTrace>& blocks,
                            int count) {
  return Multiprocessor(settings, blocks, count).run();
}

}  // namespace warplings::sim

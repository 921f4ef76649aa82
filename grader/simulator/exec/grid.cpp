// A launch: blocks one after the other on one core, each until it ends or has used its turn. Same
// input, same order, same result, same report.
//
// Blocks that cannot wait for each other run to their end, block after block. Where a kernel has
// strong accesses to global memory, as many blocks as the device holds take short turns; a block
// that spins gives its turn away. When every block that has started spins and nothing changes any
// more, nothing ever will: a deadlock.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include "core/gpu_model.h"
#include "core/machine.h"
#include "exec/bulk_copy.h"
#include "exec/clock.h"
#include "exec/cluster.h"
#include "exec/device_launch.h"
#include "exec/edges.h"
#include "exec/events.h"
#include "exec/fault.h"
#include "exec/interpreter.h"
#include "exec/memory_access.h"
#include "exec/observer.h"
#include "exec/reports.h"
#include "exec/schedule.h"
#include "memory/device_memory.h"
#include "memory/snapshot.h"

namespace warplings::sim {
namespace {

// Warp instructions before another warp of the block goes on, and before another block does.
struct Turns {
  uint64_t warp, block;
};
constexpr Turns kAloneTurns{1u << 14, 1u << 21};
constexpr Turns kSharedTurns{1u << 8, 1u << 11};  // blocks that may wait for each other
constexpr uint64_t kMostOfSmallTurn = 8;          // of a warp, for a second look
constexpr uint64_t kAhead = 8;                    // small turns of a block, for each of the next
constexpr size_t kAloneBlocks = 2048;             // unfinished at a time, where none waits
constexpr uint64_t kMostBudgets = 2;              // of a launch whose blocks end

// The memory in which the blocks of a cooperative grid meet: zeros when the launch begins. One for
// each device, never freed, because its launches run one after the other.
uint64_t cooperative_workspace(int device) {
  constexpr uint64_t kBytes = 256;
  struct Workspaces {
    std::map<int, uint64_t> addresses;
  };
  DeviceMemory& memory = DeviceMemory::instance();
  uint64_t& address = Machine::get<Workspaces>().addresses[device];
  if (address == 0) {
    address = memory.allocate(kBytes, AllocationKind::kModule, "grid workspace", device);
  }
  if (address == 0) return 0;
  std::memset(memory.view(address), 0, kBytes);
  memory.mark_defined(address, kBytes);
  return address;
}

void fill(Warp& warp, uint32_t offset, uint32_t value) {
  auto* lanes = reinterpret_cast<uint32_t*>(warp.special + offset);
  std::fill_n(lanes, 32, value);
}

class Launch {
 public:
  Launch(const Kernel& kernel, const LaunchConfig& config, const uint8_t* params,
         const EngineOptions& options, Schedule schedule, bool silent,
         DeviceLaunches* device_launches)
      : kernel_(kernel), config_(config), params_(params), options_(options), schedule_(schedule) {
    grid_.kernel = &kernel;
    grid_.config = &config;
    grid_.module = kernel.module;
    grid_.max_instructions = options_.max_warp_instructions;
    grid_.device_launches = device_launches;
    function_ = &kernel.module->functions[kernel.function];
    together_ = static_cast<uint32_t>(cluster_size().count());
    may_wait_ = config.cooperative || function_->global_strong || together_ > 1;
    if (config.cooperative) workspace_ = cooperative_workspace(config.device);
    turns_ = may_wait_ ? kSharedTurns : kAloneTurns;
    grid_.silent = silent;
    most_running_ =
        may_wait_ ? std::max<uint64_t>(config.resident_blocks, together_) : kAloneBlocks;
    if (schedule == Schedule::kFew && !config.cooperative) run_half_at_a_time();
    last_comes_first_ = last_comes_first();
    if (Edges::instance().only) run_only_edges();
    if (options_.checks) {
      launch_begins(grid_, *function_,
                    config.cooperative || function_->orders_blocks || together_ > 1);
    }
    if (options_.counters) counters_ = counters_of(kernel.module);
  }

  void run() {
    const uint64_t total = only_edges_ ? edges_.blocks.size() * together_ : config_.grid.count();
    uint64_t next = 0;
    size_t stuck = 0;  // blocks in a row that can only go on if another one changes memory
    std::deque<std::unique_ptr<Block>> running;
    while (next < total || !running.empty()) {
      if (only_edges_ && has_seen_enough(next, &running)) break;
      const bool room = !is_cut_ && next < total && running.size() + together_ <= most_running_;
      if (running.empty() || (room && (may_wait_ || start_another_))) {
        start_cluster(place_of(next, total), &running);
        next += together_;
        start_another_ = false;
        stuck = 0;
      }
      std::unique_ptr<Block> block = std::move(running.front());
      running.pop_front();
      const uint64_t changes = grid_.changes;
      const Turn turn = run_block(*block);
      if (turn == Turn::kDone) {
        end_block(std::move(block));
        ++Edges::instance().ended;
        grant_more();
        stuck = 0;
        continue;
      }
      stuck = turn == Turn::kStuck && grid_.changes == changes ? stuck + 1 : 0;
      running.push_back(std::move(block));
      start_another_ = !only_edges_;
      const bool may_start = next < total && running.size() + together_ <= most_running_;
      if (stuck >= running.size() && !may_start) spin_deadlock(running, total - next);
    }
  }

  uint64_t instructions() const { return grid_.instructions; }
  void end() {
    if (options_.checks) launch_ends(grid_);
  }

 private:
  // The number of the first block of the cluster that begins after `next` blocks have.
  uint64_t place_of(uint64_t next, uint64_t total) const {
    if (only_edges_) return edges_.blocks[next / together_] * together_;
    const bool reversed = schedule_ == Schedule::kReversed || schedule_ == Schedule::kFew;
    return reversed ? total - together_ - next : next;
  }

  void run_half_at_a_time() {
    const uint64_t clusters = config_.grid.count() / together_;
    most_running_ = std::min(most_running_, (clusters + 1) / 2 * together_);
  }

  void run_only_edges() {
    const Dim3 c = cluster_size(), g = config_.grid;
    edges_ = edge_blocks({g.x / c.x, g.y / c.y, g.z / c.z}, config_.block, extents());
    only_edges_ = true;
    most_running_ = std::min(most_running_, uint64_t{2} * together_);
    turns_ = kSharedTurns;
  }

  // Arguments that may be numbers of elements: whole numbers of 4 or 8 bytes, no pointers.
  std::vector<uint64_t> extents() const {
    constexpr uint64_t kMost = uint64_t{1} << 34;
    std::vector<uint64_t> found;
    for (const Kernel::Param& param : kernel_.params) {
      uint64_t value = 0;
      if (param.size != 4 && param.size != 8) continue;
      std::memcpy(&value, params_ + param.offset, param.size);
      if (value > 0 && value < kMost) found.push_back(value);
    }
    return found;
  }

  bool has_seen_enough(uint64_t next, std::deque<std::unique_ptr<Block>>* running) {
    const bool ends_ran = next >= edges_.ends * together_ && running->empty();
    if (ends_ran && grid_.instructions >= kEnoughAtEdges) return true;
    if (grid_.instructions < kMostAtEdges) return false;
    if (!is_cut_) ++Edges::instance().cut;
    is_cut_ = true;
    const bool goes_on = Edges::instance().to_end || grid_.instructions < kMostToEnd;
    if (!running->empty() && goes_on) return false;
    if (!running->empty()) ++Edges::instance().unfinished;
    running->clear();
    return true;
  }

  // A launch whose blocks end is long, not endless: it gets its budget again, up to a sum that a
  // person would not wait for.
  void grant_more() {
    ++grid_.ended_blocks;
    const uint64_t budget = options_.max_warp_instructions, most = kMostBudgets * budget;
    grid_.is_long = grid_.instructions + budget > most;
    grid_.max_instructions = grid_.is_long ? most : grid_.instructions + budget;
  }

  std::unique_ptr<Block> take_block() {
    if (!free_.empty()) {
      std::unique_ptr<Block> block = std::move(free_.back());
      free_.pop_back();
      return block;
    }
    auto block = std::make_unique<Block>();
    block->grid = &grid_;
    const uint32_t threads = static_cast<uint32_t>(config_.block.count());
    block->warps.resize((threads + 31) / 32);
    for (size_t i = 0; i < block->warps.size(); ++i) {
      prepare(*block, block->warps[i], static_cast<uint32_t>(i));
    }
    const size_t shared = function_->shared_dynamic_at + config_.dynamic_shared;
    block->shared.resize(shared);
    if (options_.checks) block->shared_undefined.resize(shared);
    return block;
  }

  Dim3 cluster_size() const { return config_.cluster.x != 0 ? config_.cluster : Dim3{}; }

  // What is the same for every block that uses this object.
  void prepare(Block& block, Warp& warp, uint32_t index) {
    warp.block = &block;
    warp.module = kernel_.module;
    warp.index = static_cast<int>(index);
    warp.params = params_;
    warp.param_bytes = kernel_.param_bytes;
    warp.counters = counters_;
    warp.instructions = &grid_.instructions;
    warp.cycles_of = cycles_of(kernel_.module);
    warp.checks = options_.checks;
    warp.storage.assign(std::max<uint32_t>(function_->frame_bytes, kSlot), 0);
    warp.undefined.assign(warp.storage.size() / kSlot + 1, 0);
    warp.undefined_detail.assign(warp.undefined.size() * 32, 0);
    warp.undefined_origin.assign(warp.undefined.size(), 0);
    const Dim3 b = config_.block;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const uint32_t thread = index * 32 + lane;
      const auto put = [&](uint32_t offset, uint32_t value) {
        reinterpret_cast<uint32_t*>(warp.special + offset)[lane] = value;
      };
      put(kTidX, thread % b.x);
      put(kTidY, thread / b.x % b.y);
      put(kTidZ, thread / b.x / b.y);
      put(kLaneId, lane);
      put(kLanemaskEq, 1u << lane);
      put(kLanemaskLt, (1u << lane) - 1);
      put(kLanemaskLe, ((1u << lane) - 1) | (1u << lane));
      put(kLanemaskGt, ~(((1u << lane) - 1) | (1u << lane)));
      put(kLanemaskGe, ~((1u << lane) - 1));
    }
    fill(warp, kNtidX, b.x);
    fill(warp, kNtidY, b.y);
    fill(warp, kNtidZ, b.z);
    fill(warp, kNctaidX, config_.grid.x);
    fill(warp, kNctaidY, config_.grid.y);
    fill(warp, kNctaidZ, config_.grid.z);
    fill(warp, kWarpId, index);
    fill(warp, kNWarpId, 64);
    fill(warp, kSmId, 0);
    fill(warp, kNSmId, static_cast<uint32_t>(gpu_model().multiprocessors));
    fill(warp, kDynamicShared, static_cast<uint32_t>(config_.dynamic_shared));
    const uint64_t shared = function_->shared_static + config_.dynamic_shared;
    const uint64_t unit = gpu_model().shared_unit;
    fill(warp, kTotalShared, static_cast<uint32_t>((shared + unit - 1) / unit * unit));
    std::fill(warp.special + kGridId, warp.special + kSpecialBytes, uint8_t{0});
    fill(warp, kEnvReg1, static_cast<uint32_t>(workspace_ >> 32));
    fill(warp, kEnvReg2, static_cast<uint32_t>(workspace_));
    fill(warp, kAllShared, static_cast<uint32_t>(shared));
    const Dim3 c = cluster_size(), g = config_.grid;
    fill(warp, kNclusteridX, g.x / c.x);
    fill(warp, kNclusteridY, g.y / c.y);
    fill(warp, kNclusteridZ, g.z / c.z);
    fill(warp, kClusterNctaidX, c.x);
    fill(warp, kClusterNctaidY, c.y);
    fill(warp, kClusterNctaidZ, c.z);
    fill(warp, kClusterNctarank, static_cast<uint32_t>(c.count()));
    fill(warp, kIsExplicitCluster, config_.cluster.x != 0 ? 1 : 0);
  }

  // The blocks of a cluster start together, and stay until the last of them has ended: others may
  // still (wrongly) touch the shared memory of one that has left.
  void start_cluster(uint64_t first, std::deque<std::unique_ptr<Block>>* running) {
    if (together_ == 1) {
      running->push_front(take_block());
      start(*running->front(), first);
      return;
    }
    clusters_.push_back(std::make_unique<Cluster>());
    Cluster& cluster = *clusters_.back();
    const Dim3 c = config_.cluster, g = config_.grid;
    cluster.size = c;
    const uint64_t index = first / together_, wide = g.x / c.x, high = g.y / c.y;
    const uint64_t x = index % wide * c.x, y = index / wide % high * c.y;
    const uint64_t z = index / wide / high * c.z;
    for (uint32_t rank = 0; rank < together_; ++rank) {
      const uint64_t bx = x + rank % c.x, by = y + rank / c.x % c.y, bz = z + rank / c.x / c.y;
      std::unique_ptr<Block> block = take_block();
      block->cluster = &cluster;
      block->rank = rank;
      cluster.blocks.push_back(block.get());
      start(*block, bx + g.x * (by + g.y * bz));
      running->push_back(std::move(block));
    }
  }

  void end_block(std::unique_ptr<Block> block) {
    finish_bulk_copies(*block);
    block->done = true;
    if (options_.checks) block_leaves(*block);
    if (options_.observer != nullptr) options_.observer->block_ended(*block);
    Cluster* cluster = block->cluster;
    if (cluster == nullptr) {
      free_.push_back(std::move(block));
      return;
    }
    left_.push_back(std::move(block));
    if (++cluster->ended < cluster->blocks.size()) return;
    for (std::unique_ptr<Block>& other : left_) {
      if (other->cluster != cluster) continue;
      other->cluster = nullptr;
      free_.push_back(std::move(other));
    }
    std::erase(left_, nullptr);
    std::erase_if(clusters_, [&](const auto& known) { return known.get() == cluster; });
  }

  void start(Block& block, uint64_t linear) {
    block.linear = linear;
    block.done = block.met_cluster = false;
    const Dim3 g = config_.grid;
    block.index = {static_cast<unsigned>(linear % g.x), static_cast<unsigned>(linear / g.x % g.y),
                   static_cast<unsigned>(linear / g.x / g.y)};
    const uint32_t threads = static_cast<uint32_t>(config_.block.count());
    block.live_threads = threads;
    block.barriers.fill(BarrierState{});
    block.mbarriers.reset();
    block.spare_registers = 0;
    if (options_.checks) {
      std::fill(block.shared_undefined.begin(), block.shared_undefined.end(), uint8_t{1});
      block_begins(block);
    }
    for (Warp& warp : block.warps) reset(block, warp, threads);
    if (options_.observer != nullptr) {
      for (Warp& warp : block.warps) warp.watch_instructions = warp.watch_requests = nullptr;
      options_.observer->block_started(block);
    }
  }

  void reset(Block& block, Warp& warp, uint32_t threads) {
    const uint32_t first = static_cast<uint32_t>(warp.index) * 32;
    const uint32_t n = std::min(32u, threads - first);
    warp.live = n == 32 ? 0xffffffffu : (1u << n) - 1;
    warp.early = options_.checks && config_.programmatic ? warp.live : 0;
    warp.cycles = 0;
    fill(warp, kCtaidX, block.index.x);
    fill(warp, kCtaidY, block.index.y);
    fill(warp, kCtaidZ, block.index.z);
    const Dim3 c = cluster_size(), at = block.index;
    fill(warp, kClusteridX, at.x / c.x);
    fill(warp, kClusteridY, at.y / c.y);
    fill(warp, kClusteridZ, at.z / c.z);
    fill(warp, kClusterCtaidX, at.x % c.x);
    fill(warp, kClusterCtaidY, at.y % c.y);
    fill(warp, kClusterCtaidZ, at.z % c.z);
    fill(warp, kClusterCtarank, at.x % c.x + c.x * (at.y % c.y + c.y * (at.z % c.z)));
    warp.cluster_arrived = warp.cluster_done = 0;
    warp.bulk_groups.reset();
    warp.awaited = {};
    warp.frames.assign(1, Frame{});
    warp.frames[0].function = kernel_.function;
    warp.groups.assign(1, Group{});
    warp.groups[0].pc = function_->entry;
    warp.groups[0].mask = warp.live;
    warp.set_constants(kernel_.module->constants.data());
    warp.set_frame(0);
    if (warp.any_undefined) {
      std::fill(warp.undefined.begin(), warp.undefined.end(), 0u);
      warp.any_undefined = false;
      warp.undefined_carry = 0;
    }
    warp.took_absent = false;
    warp.async_copies.reset();
    const bool watches = kernel_.module->uses_wgmma && options_.checks;
    warp.wgmma.reset(watches);
    warp.any_undefined = watches;  // before_instruction() sees every one
    warp.spin = SpinWatch{};
    warp.stack_top.fill(0);
    warp.takes_stack = false;
    if (function_->local_bytes != 0 || !warp.local.empty()) {
      ensure_local(warp, std::max(function_->local_bytes, 16u));
      std::fill(warp.local_undefined.begin(), warp.local_undefined.end(), uint8_t{1});
    }
  }

  enum class Turn { kDone, kOver, kStuck };

  // Small turns differ in length: blocks that do the same do not stay in step, so they are
  // interrupted at different places, and every second block runs ahead of the one that began before
  // it. The lengths are the same in every run.
  Turns next_turns(const Block& block) {
    if (schedule_ != Schedule::kRoundRobin) return turns_;
    sequence_ = sequence_ * 6364136223846793005u + 1442695040888963407u;
    const uint64_t of_warp = 1 + (sequence_ >> 33) % kMostOfSmallTurn;
    const auto is_live = [](const Warp& warp) { return !warp.groups.empty(); };
    const uint64_t of_all_warps =
        of_warp * std::count_if(block.warps.begin(), block.warps.end(), is_live);
    return {of_warp, block.linear % 2 == 0 ? of_all_warps : kAhead * of_all_warps};
  }

  Turn run_block(Block& block) {
    const Turns turns = next_turns(block);
    const uint64_t limit = grid_.instructions + turns.block;
    while (true) {
      bool runnable = false, stuck = true, idle = true;
      uint32_t waiting = 0;  // warps
      for (size_t i = 0; i < block.warps.size(); ++i) {
        Warp& warp = block.warps[last_comes_first_ ? block.warps.size() - 1 - i : i];
        if (warp.groups.empty()) continue;
        const WarpState state = run_warp(warp, turns.warp);
        if (state == WarpState::kDone) stuck = false;
        if (state == WarpState::kWaiting) waiting |= 1u << warp.index;
        if (state != WarpState::kRunnable) continue;
        runnable = true;
        stuck = stuck && warp.spin.is_stuck(grid_.changes);
        idle = idle && warp.spin.gave_up_turn;
      }
      const bool met = waits_for_cluster(block) && release_cluster_barrier(block);
      if (release_barriers(block) || met || go_on(block, waiting)) {
        runnable = true;
        stuck = idle = false;
      } else if (!runnable && waiting != 0 && waits_for_cluster(block)) {
        return Turn::kStuck;
      } else if (!runnable && waiting != 0) {
        deadlock(block);
      }
      if (!runnable) return Turn::kDone;
      if (stuck) return Turn::kStuck;
      if ((idle && may_wait_) || grid_.instructions >= limit) return Turn::kOver;
    }
  }

  // A warp that came last to a wgmma lets the others of its warpgroup go on, which have had their
  // turn. Are there such among these warps?
  static bool go_on(const Block& block, uint32_t warps) {
    const auto is_ready = [](const Group& group) { return group.state == GroupState::kReady; };
    return std::any_of(block.warps.begin(), block.warps.end(), [&](const Warp& warp) {
      return ((warps >> warp.index) & 1) != 0 &&
             std::any_of(warp.groups.begin(), warp.groups.end(), is_ready);
    });
  }

  [[noreturn]] void deadlock(const Block& block) {
    std::vector<WaitingGroup> waiting;
    for (const Warp& warp : block.warps) {
      for (const Group& group : warp.groups) waiting.push_back({&warp, group});
    }
    report_deadlock(block, waiting);
    throw LaunchFault{LaunchStatus::kTimeout};
  }

  [[noreturn]] void spin_deadlock(const std::deque<std::unique_ptr<Block>>& running,
                                  uint64_t not_started) {
    std::vector<WaitingGroup> waiting;
    for (const auto& block : running) {
      for (const Warp& warp : block->warps) {
        for (const Group& group : warp.groups) waiting.push_back({&warp, group});
      }
    }
    report_spin_deadlock(waiting, running.size(), not_started);
    throw LaunchFault{LaunchStatus::kTimeout};
  }

  const Kernel& kernel_;
  const LaunchConfig& config_;
  const uint8_t* params_;
  const EngineOptions& options_;
  const Function* function_ = nullptr;
  PcCounters* counters_ = nullptr;
  Grid grid_;
  std::vector<std::unique_ptr<Block>> free_;
  std::vector<std::unique_ptr<Block>> left_;  // ended, and others of their cluster have not
  std::vector<std::unique_ptr<Cluster>> clusters_;
  uint32_t together_ = 1;  // blocks of a cluster
  bool start_another_ = false;
  bool only_edges_ = false;
  bool is_cut_ = false;            // no further block begins
  bool last_comes_first_ = false;  // of the warps of a block
  EdgeBlocks edges_;               // then: the clusters that run
  const Schedule schedule_;
  bool may_wait_ = false;  // a block may wait for another one
  Turns turns_ = kAloneTurns;
  uint64_t sequence_ = 0;  // of random lengths
  uint64_t most_running_ = kAloneBlocks;
  uint64_t workspace_ = 0;  // of a cooperative grid
};

}  // namespace

namespace {

struct Outcome {
  LaunchStatus status = LaunchStatus::kOk;
  uint64_t instructions = 0;
};

Outcome run_once(const Kernel& kernel, const LaunchConfig& config, const uint8_t* params,
                 const EngineOptions& options, Schedule schedule, bool silent,
                 DeviceLaunches* device_launches) {
  Launch launch(kernel, config, params, options, schedule, silent, device_launches);
  Outcome outcome;
  try {
    launch.run();
  } catch (const LaunchFault& fault) {
    outcome.status = fault.status;
  }
  launch.end();
  outcome.instructions = launch.instructions();
  return outcome;
}

// Findings only: nothing is counted, traced or printed, and memory stays as the first run left it.
void run_in_other_orders(const Kernel& kernel, const LaunchConfig& config, const uint8_t* params,
                         const MemorySnapshot& before) {
  const MemorySnapshot after;
  EngineOptions options = engine_options();
  options.counters = false;
  options.observer = nullptr;
  for (const Schedule schedule : {Schedule::kReversed, Schedule::kRoundRobin}) {
    before.restore();
    DeviceLaunches none(config);  // such kernels are not repeated
    run_once(kernel, config, params, options, schedule, true, &none);
  }
  after.restore();
}

}  // namespace

LaunchStatus run_kernel(const Kernel& kernel, const LaunchConfig& config, const uint8_t* params) {
  launch_counted(kernel, config);
  DeviceMemory::instance().set_running_device(config.device);
  RepeatPolicy& policy = RepeatPolicy::instance();
  std::optional<MemorySnapshot> before;
  if (policy.wants_image(kernel, config)) before.emplace();
  LaunchObserver* observer = engine_options().observer;
  if (observer != nullptr) observer->launch_started(kernel, config);
  DeviceLaunches device_launches(config);
  const Schedule order = engine_options().order.value_or(Schedule::kForward);
  const Outcome outcome =
      run_once(kernel, config, params, engine_options(), order, false, &device_launches);
  if (observer != nullptr) observer->launch_ended();
  if (before && outcome.status == LaunchStatus::kOk &&
      policy.wants_repeats(kernel, outcome.instructions)) {
    run_in_other_orders(kernel, config, params, *before);
  }
  const bool more = outcome.status == LaunchStatus::kOk && !device_launches.empty();
  return more ? device_launches.run() : outcome.status;
}

EngineOptions::EngineOptions() {
  const Options& asked = Machine::current().options();
  checks = asked.checks;
  counters = asked.counters;
  absent_lanes_are_notes = asked.is_exec;
  order = asked.order;
  max_warp_instructions = asked.max_warp_instructions;
}

bool last_comes_first() { return engine_options().order == Schedule::kReversed; }

EngineOptions& engine_options() { return Machine::get<EngineOptions>(); }

}  // namespace warplings::sim

#include "profile/view_recorder.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/machine.h"
#include "memory/payload.h"
#include "profile/recorder.h"
#include "profile/trace_values.h"

namespace warplings::sim {
namespace {

constexpr uint64_t kFirst = 4;             // executions of a site that are kept whatever comes
constexpr size_t kMostSamples = 20;        // of a site
constexpr uint64_t kMostBlocks = 16;       // of a launch whose blocks are all recorded
constexpr size_t kMostSteps = 4000;        // of a block
constexpr size_t kMostStored = 4096;       // elements in shared memory of a block
constexpr uint32_t kMostRecorded = 32768;  // bytes of a block whose stores are recorded
constexpr size_t kMostFindings = 24;

bool is_global(Traffic traffic) {
  return traffic == Traffic::kGlobalLoad || traffic == Traffic::kGlobalStore ||
         traffic == Traffic::kGlobalAtomic;
}

uint64_t linear(const Dim3& index, const Dim3& grid) {
  return index.x + uint64_t{grid.x} * (index.y + uint64_t{grid.y} * index.z);
}

}  // namespace

ViewRecorder& ViewRecorder::instance() { return Machine::get<ViewRecorder>(); }

void ViewRecorder::start() {
  if (is_on_) return;
  is_on_ = true;
  Recorder::instance().watch_with(this);
  FindingLog::instance().add_listener([this](const Finding& finding) { note_finding(finding); });
}

// The log forgets at every case of a test, this one does not. A launch is repeated in other orders
// after it has ended here: what is found then is its own.
void ViewRecorder::note_finding(const Finding& finding) {
  if (!finding.is_note && now_ != nullptr && finding.kernel == now_->kernel->demangled) {
    is_wrong_ = true;
    if (finding.scene != nullptr) {
      for (const Party& party : finding.scene->parties) {
        const auto block = blocks_.find(linear(party.block, now_->config.grid));
        if (block != blocks_.end()) block->second.view.is_wrong = true;
      }
    }
    if (!in_launch_) wrong_.try_emplace(finding.kernel, now_);
  }
  for (Finding& known : findings_) {
    if (known.kind != finding.kind || known.where.line != finding.where.line ||
        known.where.file != finding.where.file || known.other.line != finding.other.line) {
      continue;
    }
    ++known.count;
    return;
  }
  if (findings_.size() < kMostFindings) {
    findings_.push_back(finding);
  } else {
    ++left_out_;
  }
}

void ViewRecorder::launch_started(const Kernel& kernel, const LaunchConfig& config) {
  now_ = std::make_shared<LaunchView>();
  now_->kernel = &kernel;
  now_->config = config;
  site_of_.assign(kernel.module->code.size(), nullptr);
  blocks_.clear();
  is_wrong_ = false;
  in_launch_ = true;
}

// Of the recorded blocks, the first in which something was found, or else the first.
void ViewRecorder::launch_ended() {
  in_launch_ = false;
  name_arrays();
  const BlockView* best = nullptr;
  for (auto& [number, block] : blocks_) {
    end_waits(block);
    if (best == nullptr || (block.view.is_wrong && !best->is_wrong)) best = &block.view;
  }
  if (best != nullptr) {
    now_->block = *best;
    now_->has_block = true;
  }
  last_ = now_;
  if (is_wrong_) wrong_.try_emplace(now_->kernel->demangled, now_);
}

// Whoever still waits does so for ever.
void ViewRecorder::end_waits(Watched& block) {
  const auto forever = [&](uint16_t warp, uint32_t since, uint32_t pc, uint32_t lanes) {
    uint32_t end = since;
    for (const uint32_t clock : block.clocks) end = std::max(end, clock);
    end += end / 8 + 1;
    add_step(block, {BlockStep::Kind::kWaitsForever, warp, since, end - since, pc, lanes});
  };
  for (const Wait& wait : block.waits) {
    if (!wait.is_over) forever(wait.warp, wait.since, wait.pc, wait.lanes);
  }
  block.view.pipeline.finish();
  for (const PhaseWait& wait : block.view.pipeline.waits()) {
    if (wait.end == kNever) forever(wait.warp, wait.start, wait.pc, wait.lanes);
  }
}

void ViewRecorder::block_started(Block& block) {
  if (now_->params.empty() && block.warps[0].param_bytes > 0) {
    now_->params.assign(block.warps[0].params, block.warps[0].params + block.warps[0].param_bytes);
  }
  now_->shared_bytes = static_cast<uint32_t>(block.shared.size());
  if (now_->config.grid.count() > kMostBlocks && !blocks_.empty()) return;
  Watched& watched = blocks_[block.linear];
  watched.view.index = block.index;
  watched.view.linear = block.linear;
  watched.clocks.assign(block.warps.size(), 0);
  for (Warp& warp : block.warps) warp.watch_instructions = this;
}

void ViewRecorder::block_ended(Block& block) {
  if (Watched* watched = this->watched(block)) finish_store(*watched, block);
}

ViewRecorder::Watched* ViewRecorder::watched(const Block& block) {
  const auto found = blocks_.find(block.linear);
  return found == blocks_.end() ? nullptr : &found->second;
}

void ViewRecorder::instruction(Warp& warp, const Instr& in, uint32_t active) {
  Watched* const block = watched(*warp.block);
  if (block == nullptr) return;
  finish_store(*block, *warp.block);
  if (!block->waits.empty()) resume(*block, warp.index, warp.group_mask);
  if (block->view.pipeline.spins(warp.index, warp.group_mask)) return;
  uint32_t& clock = block->clocks[static_cast<size_t>(warp.index)];
  add_step(*block, {BlockStep::Kind::kRuns, static_cast<uint16_t>(warp.index), clock, 1, warp.pc,
                    warp.group_mask});
  ++clock;
  if (in.kind == Kind::kBarrier && active != 0) arrive(*block, warp, in, active);
}

// A copy into another block shows there.
void ViewRecorder::pipeline(Warp& warp, const PipelineEvent& event) {
  Watched* const own = watched(*warp.block);
  Watched* const home = event.home == nullptr ? own : watched(*event.home);
  if (own == nullptr || home == nullptr) return;
  uint32_t& clock = own->clocks[static_cast<size_t>(warp.index)];
  const uint32_t until = home->view.pipeline.take(warp, event, clock);
  if (until <= clock) return;
  add_step(*own, {BlockStep::Kind::kWaits, static_cast<uint16_t>(warp.index), clock, until - clock,
                  warp.pc, event.lanes});
  clock = until;
}

void ViewRecorder::arrive(Watched& block, Warp& warp, const Instr& in, uint32_t active) {
  if (static_cast<BarrierMode>(in.imm) == BarrierMode::kArrive) return;  // does not wait
  Wait wait;
  wait.warp = static_cast<uint16_t>(warp.index);
  wait.lanes = active;
  wait.pc = warp.pc;
  wait.since = block.clocks[wait.warp];
  wait.barrier = static_cast<int>(warp.in<uint32_t>(in.ops[1])[std::countr_zero(active)]);
  block.waits.push_back(wait);
}

// Lanes of a warp go on that stood at a barrier: then it was complete, for all that stood at it.
void ViewRecorder::resume(Watched& block, int warp, uint32_t lanes) {
  for (size_t i = 0; i < block.waits.size(); ++i) {
    const Wait wait = block.waits[i];
    if (wait.warp != warp || (wait.lanes & lanes) == 0) continue;
    if (!wait.is_over) {
      uint32_t until = 0;
      for (const Wait& other : block.waits) {
        if (!other.is_over && other.barrier == wait.barrier) until = std::max(until, other.since);
      }
      for (Wait& other : block.waits) {
        if (other.is_over || other.barrier != wait.barrier) continue;
        other.is_over = true;
        other.until = until;
      }
    }
    const uint32_t until = block.waits[i].until;
    if (until > wait.since) {
      add_step(block, {BlockStep::Kind::kWaits, wait.warp, wait.since, until - wait.since, wait.pc,
                       wait.lanes});
    }
    uint32_t& clock = block.clocks[wait.warp];
    clock = std::max(clock, until);
    block.waits.erase(block.waits.begin() + static_cast<long>(i--));
  }
}

void ViewRecorder::add_step(Watched& block, const BlockStep& step) {
  std::vector<BlockStep>& steps = block.view.steps;
  if (!steps.empty() && step.kind == BlockStep::Kind::kRuns) {
    BlockStep& last = steps.back();
    const LoadedModule& module = *now_->kernel->module;
    if (last.kind == step.kind && last.warp == step.warp && last.lanes == step.lanes &&
        last.start + last.length == step.start &&
        module.location_of(last.pc) == module.location_of(step.pc)) {
      ++last.length;
      return;
    }
  }
  if (steps.size() >= kMostSteps) {
    block.view.is_cut = true;
    return;
  }
  steps.push_back(step);
}

void ViewRecorder::request(Warp& warp, const Request& request, Traffic traffic,
                           uint32_t transactions) {
  if (request.mask == 0) return;
  AccessSite*& known = site_of_[warp.pc];
  if (known == nullptr) {
    known = &now_->sites[warp.pc];
    const Instr& in = warp.module->code[warp.pc];
    known->pc = warp.pc;
    known->traffic = traffic;
    known->bytes = request.bytes;
    known->element =
        in.size != 0 && request.bytes % in.size == 0 ? uint32_t{in.size} : request.bytes;
  }
  AccessSite& site = *known;
  const bool partial = request.mask != 0xffffffffu;
  if (site.executions < kFirst || transactions > site.most || (partial && !site.has_partial) ||
      site.executions % site.stride == 0) {
    keep(warp, request, transactions, site);
  }
  ++site.executions;
  const bool stores = traffic == Traffic::kSharedStore || traffic == Traffic::kSharedAtomic;
  if (stores) note_store(warp, request, site.element);
}

// The first executions, the first with most transactions and the first of some lanes only stay; of
// the others every second one goes when there are too many, and half as many come from then on.
void ViewRecorder::keep(const Warp& warp, const Request& request, uint32_t transactions,
                        AccessSite& site) {
  AccessSample sample;
  sample.number = site.executions;
  sample.block = warp.block->linear;
  sample.warp = warp.index;
  sample.mask = request.mask;
  sample.transactions = transactions;
  std::copy_n(request.address, 32, sample.address.begin());
  site.samples.push_back(sample);
  site.has_partial |= request.mask != 0xffffffffu;
  site.most = std::max(site.most, transactions);
  while (site.samples.size() > kMostSamples) {
    site.stride *= 2;
    bool seen_partial = false, seen_most = false;
    std::erase_if(site.samples, [&](const AccessSample& s) {
      const bool first_partial = s.mask != 0xffffffffu && !seen_partial;
      const bool first_most = s.transactions == site.most && !seen_most;
      seen_partial |= first_partial;
      seen_most |= first_most;
      return s.number >= kFirst && s.number % site.stride != 0 && !first_partial && !first_most;
    });
  }
}

void ViewRecorder::note_store(const Warp& warp, const Request& request, uint32_t element) {
  Watched* const block = watched(*warp.block);
  if (block == nullptr || block->view.is_cut || warp.block->shared.size() > kMostRecorded) return;
  const size_t count = static_cast<size_t>(std::popcount(request.mask)) * request.bytes / element;
  if (block->stored + count > kMostStored) return;
  block->stored += count;
  block->has_pending = true;
  block->pending = {};
  block->pending.time = block->clocks[static_cast<size_t>(warp.index)];
  block->pending.pc = warp.pc;
  block->pending.warp = static_cast<uint16_t>(warp.index);
  block->pending_element = element;
  block->pending_offsets.clear();
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint64_t first = request.address[std::countr_zero(rest)];
    for (uint32_t at = 0; at < request.bytes; at += element) {
      block->pending_offsets.push_back(static_cast<uint32_t>(first) + at);
    }
  }
}

void ViewRecorder::finish_store(Watched& watched, const Block& block) {
  if (!watched.has_pending) return;
  watched.has_pending = false;
  const ptx::Type type = type_of(instruction_at(*now_->kernel->module, watched.pending.pc));
  for (const uint32_t offset : watched.pending_offsets) {
    const std::string text = shared_value(block, offset, watched.pending_element, type);
    char* end = nullptr;
    const bool is_number = std::isfinite(std::strtod(text.c_str(), &end)) && *end == '\0' &&
                           text.find('x') == std::string::npos;
    watched.pending.values.emplace_back(offset, is_number ? text : '"' + text + '"');
  }
  watched.view.stores.push_back(std::move(watched.pending));
}

void ViewRecorder::name_arrays() {
  const DeviceMemory& memory = DeviceMemory::instance();
  for (const auto& [pc, site] : now_->sites) {
    if (!is_global(site.traffic)) continue;
    for (const AccessSample& sample : site.samples) {
      const uint64_t address = sample.address[static_cast<size_t>(std::countr_zero(sample.mask))];
      const Allocation* allocation =
          memory.in_arena(address) ? memory.allocation_at(address) : nullptr;
      if (allocation == nullptr) continue;
      const bool known = std::any_of(now_->arrays.begin(), now_->arrays.end(),
                                     [&](const ViewArray& a) { return a.id == allocation->id; });
      if (known) continue;
      const auto [low, high] = payload(*allocation);
      now_->arrays.push_back(
          {allocation->id, allocation->name, allocation->allocated_at, low, high - low});
    }
  }
}

}  // namespace warplings::sim

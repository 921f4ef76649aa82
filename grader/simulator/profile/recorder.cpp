#include "profile/recorder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/machine.h"
#include "decode/handlers.h"
#include "exec/interpreter.h"
#include "exec/shared_banks.h"
#include "profile/resources.h"

namespace warplings::sim {
namespace {

constexpr double kWaves = 4;                   // where the slice is chosen by the launch
constexpr uint64_t kSampledBlocks = 4;         // per launch, spread evenly
constexpr uint64_t kRecordedMost = 1'200'000;  // instructions of one launch
constexpr size_t kKeptMost = 8'000'000;        // sectors of a wave, 8 bytes each
constexpr size_t kTurn = 32;                   // sectors of a block before the next one's
// A kept sector: its number, eight bits for the words that are written (none: an atomic operation,
// which needs the old value), and these two.
constexpr uint64_t kWrite = 1, kFromDram = 2;
constexpr int kWordsShift = 2, kNumberShift = 10;
constexpr uint8_t kWholeSector = 0xff;
constexpr uint64_t kTags = 4,
                   kBankRow = 128;  // lines that L1 looks up at a time, bytes of all banks
constexpr uint64_t kLocalBase = uint64_t{1} << 50;  // where the model keeps local memory
constexpr size_t kLocalSlots = 64;  // blocks whose local memory is told apart on a multiprocessor

// use(sector, words): each sector of the request and which of its eight words are covered whole.
template <class Use>
void each_sector(const Request& request, Use use) {
  if (request.contiguous) {
    for (uint64_t s = request.low >> 5; s <= (request.high - 1) >> 5; ++s) {
      const uint64_t first = (std::max(request.low, s << 5) + 3) >> 2;
      const uint64_t end = std::min(request.high, (s + 1) << 5) >> 2;
      const uint64_t count = end > first ? end - first : 0;
      use(s, static_cast<uint8_t>(((1u << count) - 1) << (first & 7)));
    }
    return;
  }
  std::array<std::pair<uint64_t, uint32_t>, 64> parts;  // sector, its bytes
  size_t n = 0;
  bool is_sorted = true;
  const auto add = [&](uint64_t sector, uint64_t first, uint64_t end) {
    const auto bits = static_cast<uint32_t>((uint64_t{1} << (end - first)) - 1);
    if (n > 0 && parts[n - 1].first == sector) {  // as neighbours and lanes that agree have it
      parts[n - 1].second |= bits << (first & 31);
      return;
    }
    is_sorted &= n == 0 || parts[n - 1].first < sector;
    parts[n++] = {sector, bits << (first & 31)};
  };
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    const uint64_t first = request.address[std::countr_zero(rest)], end = first + request.bytes;
    const uint64_t sector = first >> 5, border = (sector + 1) << 5;
    add(sector, first, std::min(end, border));
    if (end > border) add(sector + 1, border, end);
  }
  if (!is_sorted) {
    std::sort(parts.begin(), parts.begin() + n,
              [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  for (size_t i = 0; i < n;) {
    const uint64_t sector = parts[i].first;
    uint32_t bytes = 0;
    for (; i < n && parts[i].first == sector; ++i) bytes |= parts[i].second;
    unsigned words = 0;
    for (unsigned w = 0; w < 8; ++w) words |= ((bytes >> 4 * w & 15u) == 15u) << w;
    use(sector, static_cast<uint8_t>(words));
  }
}

// Passes of a request to global memory through L1: of its lines through the tags, of its words
// through the banks.
uint64_t global_wavefronts(const Request& request, uint64_t lines) {
  const uint64_t words =
      request.contiguous
          ? (request.high - request.low + kBankRow - 1) / kBankRow
          : baseline::shared_passes(request.address, request.mask, request.bytes).passes;
  return std::max((lines + kTags - 1) / kTags, words);
}

uint16_t saturated(uint64_t value) {
  return static_cast<uint16_t>(std::min<uint64_t>(value, UINT16_MAX));
}

}  // namespace

Recorder& Recorder::instance() { return Machine::get<Recorder>(); }

void Recorder::start(double slice) {
  on_ = true;
  chooses_slice_ = slice <= 0;
  set_multiprocessors(gpu_model().multiprocessors / std::max(slice, 1.0));
  engine_options().observer = this;
}

void Recorder::set_multiprocessors(double count) {
  const int all = gpu_model().multiprocessors;
  multiprocessors_ = std::clamp(static_cast<int>(std::lround(count)), 1, all);
  slice_ = static_cast<double>(all) / multiprocessors_;
}

void Recorder::stay_on(double slice) {
  stays_on_ = true;
  usual_slice_ = slice;
  if (!on_) start(slice);
}

void Recorder::stop() {
  if (stays_on_) {
    start(usual_slice_);
    return;
  }
  on_ = false;
  if (engine_options().observer == this) engine_options().observer = nullptr;
}

void Recorder::launch_started(const Kernel& kernel, const LaunchConfig& config) {
  const GpuModel& model = gpu_model();
  recording_ = {};
  recording_.kernel = &kernel;
  streams_.clear();
  last_ = nullptr;
  atomics_.clear();
  kept_ = begun_ = finished_ = partial_ = 0;
  blocks_ = config.grid.count();
  const Occupancy occupancy =
      occupancy_of(model, static_cast<int>(config.block.count()), resources_of(kernel).registers,
                   kernel.static_shared + config.dynamic_shared);
  const auto resident = static_cast<uint64_t>(std::max(1, occupancy.blocks));
  if (chooses_slice_) {
    set_multiprocessors(static_cast<double>(blocks_) / (kWaves * static_cast<double>(resident)));
  }
  wave_ = resident * static_cast<uint64_t>(multiprocessors_);
  // The blocks of a multiprocessor share what shared memory leaves of its L1. They run one after
  // the other here, so each sees its part only.
  const size_t left = model.l1_bytes - std::min(model.l1_bytes, occupancy.shared_configuration);
  l1_.assign(static_cast<size_t>(multiprocessors_), SectorCache(left / resident));
  const auto l2_bytes = static_cast<size_t>(static_cast<double>(model.l2_bytes) / slice_);
  if (l2_ == nullptr || l2_bytes != l2_bytes_) {
    l2_ = std::make_unique<SectorCache>(l2_bytes);
    l2_bytes_ = l2_bytes;
  }
  l2_->clear();
  if (beside_ != nullptr) beside_->launch_started(kernel, config);
}

void Recorder::launch_ended() {
  run_l2();
  recording_.cache.dram_sectors += partial_;  // read to fill the gaps before it is written back
  for (const auto& [address, count] : atomics_) {
    recording_.cache.hottest_atomics = std::max(recording_.cache.hottest_atomics, count);
  }
  ++recordings_;
  if (beside_ != nullptr) beside_->launch_ended();
}

bool Recorder::is_sampled(uint64_t linear) const {
  if (blocks_ <= kSampledBlocks) return true;
  for (uint64_t i = 0; i < kSampledBlocks; ++i) {
    if (linear == i * blocks_ / kSampledBlocks) return true;
  }
  return false;
}

void Recorder::block_started(Block& block) {
  Stream& stream = streams_[block.linear];
  stream = {};
  stream.multiprocessor = static_cast<int>(block.linear % static_cast<uint64_t>(multiprocessors_));
  stream.begun_at = *block.warps[0].instructions;
  stream.number = ++begun_;
  stream.alone = finished_ + 1 == streams_.size();
  const bool sampled = is_sampled(block.linear) && recording_.recorded < kRecordedMost;
  if (sampled) {
    stream.recorded = static_cast<int>(recording_.blocks.size());
    recording_.blocks.emplace_back();
    recording_.blocks.back().warps.resize(block.warps.size());
  }
  if (beside_ != nullptr) beside_->block_started(block);
  for (Warp& warp : block.warps) {
    warp.watch_requests = this;
    if (sampled || warp.watch_instructions != nullptr) warp.watch_instructions = this;
  }
}

void Recorder::block_ended(Block& block) {
  if (beside_ != nullptr) beside_->block_ended(block);
  Stream& stream = streams_[block.linear];
  stream.finished = true;
  // Of blocks that took turns nobody knows who executed how much.
  const bool alone = stream.alone && stream.number == begun_;
  const uint64_t executed = *block.warps[0].instructions - stream.begun_at;
  if (alone) recording_.longest = std::max(recording_.longest, executed);
  if (++finished_ >= wave_ || kept_ > kKeptMost) run_l2();
}

void Recorder::instruction(Warp& warp, const Instr& in, uint32_t active) {
  if (beside_ != nullptr) beside_->instruction(warp, in, active);
  const Stream& stream = stream_of(warp);
  if (stream.recorded < 0 || recording_.recorded >= kRecordedMost) return;
  WarpTrace& trace = recording_.blocks[static_cast<size_t>(stream.recorded)]
                         .warps[static_cast<size_t>(warp.index)];
  TraceEntry entry;
  entry.pc = warp.pc;
  entry.first = static_cast<uint32_t>(stream.sectors.size());
  trace.push_back(entry);
  ++recording_.recorded;
}

void Recorder::pipeline(Warp& warp, const PipelineEvent& event) {
  if (beside_ != nullptr) beside_->pipeline(warp, event);
  // What blocks of a cluster do for each other has no time: one multiprocessor is modelled.
  if (event.home != nullptr && event.home != warp.block) return;
  Stream& stream = stream_of(warp);
  if (entry_of(warp, stream) == nullptr) return;
  drop_spins(stream, warp.index, event);
  add_step(stream, *entry_of(warp, stream), event);
}

// Of a loop that asks for a phase until it has ended, the last turn is kept: how many turns there
// are depends on the time, and here it is another than on a card. The warp is at its last entry.
void Recorder::drop_spins(Stream& stream, int warp, const PipelineEvent& event) {
  const bool misses = event.kind == PipelineEvent::Kind::kMisses;
  if (!misses && event.kind != PipelineEvent::Kind::kPasses) return;
  WarpTrace& trace =
      recording_.blocks[static_cast<size_t>(stream.recorded)].warps[static_cast<size_t>(warp)];
  std::vector<Stream::Spin>& spins = stream.spins[warp];
  const size_t last = trace.size() - 1;
  const auto spin = std::find_if(spins.begin(), spins.end(), [&](const Stream::Spin& s) {
    return s.offset == event.offset && (s.lanes & event.lanes) != 0;
  });
  if (spin == spins.end()) {
    if (misses) spins.push_back({last, event.lanes, event.offset});
    return;
  }
  const auto begin = trace.begin() + static_cast<std::ptrdiff_t>(std::min(spin->from, last));
  const bool idle = std::all_of(begin, trace.end() - 1, [](const TraceEntry& entry) {
    return entry.sectors == 0 && entry.wavefronts == 0 && entry.steps == 0;
  });
  if (idle) trace.erase(begin, trace.end() - 1);
  spin->from = trace.size() - 1;
  if (!misses) spins.erase(spin);
}

void Recorder::add_step(Stream& stream, TraceEntry& entry, const PipelineEvent& event) {
  BlockTrace& block = recording_.blocks[static_cast<size_t>(stream.recorded)];
  PhaseStep step;
  step.bytes = event.bytes;
  switch (event.kind) {
    case PipelineEvent::Kind::kArrives:
      step.kind = PhaseStep::Kind::kArrives;
      break;
    case PipelineEvent::Kind::kArrivesBehind:
      step.kind = PhaseStep::Kind::kArrivesBehind;
      break;
    case PipelineEvent::Kind::kBrings:
      step.kind = PhaseStep::Kind::kBrings;
      break;
    case PipelineEvent::Kind::kPasses:
      if (event.number == kNoPhase) return;
      step.kind = PhaseStep::Kind::kWaits;
      break;
    case PipelineEvent::Kind::kTakes:
      step.kind = PhaseStep::Kind::kTakes;
      break;
    case PipelineEvent::Kind::kMultiplies:
      step.kind = PhaseStep::Kind::kMultiplies;
      break;
    default:
      return;
  }
  if (event.home != nullptr) {
    const auto [known, is_new] = stream.phases.try_emplace(
        {event.offset, event.number}, static_cast<uint32_t>(block.needed.size()));
    if (is_new) block.needed.push_back(0);
    step.phase = known->second;
    if (step.kind != PhaseStep::Kind::kWaits) ++block.needed[step.phase];
  }
  if (entry.steps == 0) entry.first_step = static_cast<uint32_t>(block.steps.size());
  ++entry.steps;
  block.steps.push_back(step);
}

Recorder::Stream& Recorder::stream_of(const Warp& warp) {
  if (last_ == nullptr || last_block_ != warp.block->linear) {
    last_block_ = warp.block->linear;
    last_ = &streams_[last_block_];
  }
  return *last_;
}

TraceEntry* Recorder::entry_of(const Warp& warp, const Stream& stream) {
  if (stream.recorded < 0) return nullptr;
  WarpTrace& trace = recording_.blocks[static_cast<size_t>(stream.recorded)]
                         .warps[static_cast<size_t>(warp.index)];
  // Not there once the recording is full.
  return trace.empty() || trace.back().pc != warp.pc ? nullptr : &trace.back();
}

// What L1 does not serve is kept for L2.
void Recorder::keep(Stream& stream, TraceEntry* entry, uint64_t kept) {
  stream.sectors.push_back(kept);
  ++kept_;
  if (entry != nullptr) entry->sectors = saturated(entry->sectors + 1u);
}

void Recorder::load_sector(Stream& stream, TraceEntry* entry, uint64_t sector, bool bypass) {
  if (!bypass) {
    ++recording_.cache.l1_sectors;
    if (l1_[static_cast<size_t>(stream.multiprocessor)].access(sector, false, false).hit) {
      ++recording_.cache.l1_hits;
      return;
    }
  }
  keep(stream, entry, sector << kNumberShift);
}

void Recorder::store_sector(Stream& stream, TraceEntry* entry, uint64_t sector, uint8_t words,
                            bool bypass) {
  // Written through.
  if (!bypass) l1_[static_cast<size_t>(stream.multiprocessor)].access(sector, true, false);
  keep(stream, entry, sector << kNumberShift | uint64_t{words} << kWordsShift | kWrite);
}

void Recorder::note_distance(const Warp& warp, const Request& request) {
  const uint32_t pairs = request.mask & (request.mask >> 1);  // lanes whose neighbour is active
  if (pairs == 0) return;
  const int first = std::countr_zero(pairs);
  const auto distance = [&](int lane) {
    return static_cast<int64_t>(request.address[lane + 1] - request.address[lane]);
  };
  const auto [entry, is_new] = recording_.distances.try_emplace(warp.pc);
  if (is_new) entry->second.bytes = distance(first);
  for (uint32_t rest = pairs; rest != 0; rest &= rest - 1) {
    ++entry->second.pairs;
    entry->second.equal += distance(std::countr_zero(rest)) == entry->second.bytes;
  }
}

// Local memory is written back like any other; a slot of the multiprocessor is used again by later
// blocks. Returns the wavefronts.
uint32_t Recorder::request_local(const Warp& warp, Stream& stream, TraceEntry* entry,
                                 const Request& request, Traffic traffic) {
  const uint64_t slot = warp.block->linear % kLocalSlots * 32 + static_cast<uint64_t>(warp.index);
  const uint64_t base = kLocalBase + (slot * static_cast<uint64_t>(multiprocessors_) +
                                      static_cast<uint64_t>(stream.multiprocessor)) *
                                         (uint64_t{512} << 15);
  Request stored = local_as_stored(request, base);
  stored.bytes = std::min(request.bytes, 4u);
  const uint32_t words = std::max(1u, request.bytes / 4);
  for (uint32_t word = 0; word < words; ++word) {
    each_sector(stored, [&](uint64_t sector, uint8_t words_of_it) {
      if (traffic == Traffic::kLocalStore) {
        store_sector(stream, entry, sector + 4 * word, words_of_it, false);
      } else {
        load_sector(stream, entry, sector + 4 * word, false);
      }
    });
  }
  return words;
}

void Recorder::request_atomic(const Warp& warp, Stream& stream, TraceEntry* entry,
                              const Request& request, uint32_t transactions) {
  const bool one = warp.module->code[warp.pc].aggregated && transactions == 1;
  uint64_t first = request.address[std::countr_zero(request.mask)];
  for (uint32_t rest = request.mask; rest != 0; rest &= rest - 1) {
    ++atomics_[request.address[std::countr_zero(rest)]];
    if (one) break;
  }
  if (one) {
    store_sector(stream, entry, first >> 5, 0, true);
  } else {
    each_sector(request, [&](uint64_t s, uint8_t) { store_sector(stream, entry, s, 0, true); });
  }
}

void Recorder::request(Warp& warp, const Request& request, Traffic traffic, uint32_t transactions) {
  Stream& stream = stream_of(warp);
  TraceEntry* entry = entry_of(warp, stream);
  const auto add_wavefronts = [&](uint64_t n) {
    if (entry != nullptr) entry->wavefronts = saturated(entry->wavefronts + n);
  };
  if (stream.recorded >= 0) note_distance(warp, request);
  if (beside_ != nullptr) beside_->request(warp, request, traffic, transactions);
  const Instr& in = warp.module->code[warp.pc];
  const bool bypass = in.strong || in.fn == handler_bulk();
  switch (traffic) {
    case Traffic::kSharedLoad:
    case Traffic::kSharedStore:
    case Traffic::kSharedAtomic:
      add_wavefronts(transactions);
      return;
    case Traffic::kLocalLoad:
    case Traffic::kLocalStore:
      add_wavefronts(request_local(warp, stream, entry, request, traffic));
      break;
    case Traffic::kGlobalAtomic:
      request_atomic(warp, stream, entry, request, transactions);
      add_wavefronts(transactions);
      break;
    default: {
      const bool write = traffic == Traffic::kGlobalStore;
      uint64_t lines = 0, last = ~uint64_t{0};
      each_sector(request, [&](uint64_t sector, uint8_t words) {
        lines += sector >> 2 != last;
        last = sector >> 2;
        if (write) {
          store_sector(stream, entry, sector, words, bypass);
        } else {
          load_sector(stream, entry, sector, bypass);
        }
      });
      if (entry != nullptr) add_wavefronts(global_wavefronts(request, lines));
    }
  }
  if (entry != nullptr && traffic != Traffic::kGlobalStore && traffic != Traffic::kLocalStore) {
    const uint16_t level = entry->sectors > 0 ? 2 : 1;
    entry->reads_from = std::max(entry->reads_from, level);
  }
}

void Recorder::access_l2(uint64_t& kept) {
  CacheTotals& totals = recording_.cache;
  const uint64_t sector = kept >> kNumberShift;
  const auto words = static_cast<uint8_t>(kept >> kWordsShift & kWholeSector);
  ++totals.l2_sectors;
  if ((kept & kWrite) != 0 && words != 0) {
    const SectorCache::Store result = l2_->store(sector, words);
    ++(words == kWholeSector ? totals.l2_writes : totals.l2_partial_writes);
    totals.l2_hits += result.hit;
    totals.dram_writes += result.turned_dirty;
    totals.dram_sectors += result.turned_dirty;
    partial_ += result.turned_partial;
    partial_ -= result.completed;
    return;
  }
  const bool atomic = (kept & kWrite) != 0;
  const SectorCache::Result result = l2_->access(sector, atomic, true);
  totals.l2_partial_writes += atomic;
  totals.l2_hits += result.hit;
  totals.dram_writes += result.turned_dirty;
  totals.dram_sectors += result.turned_dirty;
  totals.dram_sectors += !result.hit;
  partial_ -= result.completed;
  if (!result.hit) kept |= kFromDram;
}

// All blocks of the wave in turns.
void Recorder::run_l2() {
  std::vector<Stream*> order;
  for (auto& [linear, stream] : streams_) order.push_back(&stream);
  size_t longest = 0;
  for (const Stream* stream : order) longest = std::max(longest, stream->sectors.size());
  for (size_t from = 0; from < longest; from += kTurn) {
    for (Stream* stream : order) {
      const size_t to = std::min(from + kTurn, stream->sectors.size());
      for (size_t i = from; i < to; ++i) access_l2(stream->sectors[i]);
    }
  }
  for (auto it = streams_.begin(); it != streams_.end();) {
    resolve(it->second);
    if (it->second.finished) {
      it = streams_.erase(it);
    } else {
      // It goes on in the next wave, and is recorded no further: its sectors begin anew.
      it->second.sectors.clear();
      it->second.recorded = -1;
      ++it;
    }
  }
  kept_ = 0;
  finished_ = 0;
  last_ = nullptr;
}

void Recorder::resolve(const Stream& stream) {
  if (stream.recorded < 0) return;
  for (WarpTrace& trace : recording_.blocks[static_cast<size_t>(stream.recorded)].warps) {
    for (TraceEntry& entry : trace) {
      bool read_from_dram = false;
      const size_t end = std::min<size_t>(entry.first + entry.sectors, stream.sectors.size());
      for (size_t i = entry.first; i < end; ++i) {
        read_from_dram |= (stream.sectors[i] & kFromDram) != 0;
      }
      if (read_from_dram && entry.reads_from != 0) entry.reads_from = 3;
    }
  }
}

}  // namespace warplings::sim

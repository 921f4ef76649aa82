#include "profile/counters.h"

#include <unordered_map>

#include "core/machine.h"
#include "decode/handlers.h"
#include "exec/events.h"

namespace warplings::sim {
namespace {

constexpr size_t kRememberedLaunches = 64;
constexpr uint64_t kSector = 32;        // bytes
constexpr uint64_t kWideRequest = 512;  // bytes: 16 for each lane of a warp

void fold_memory(const PcCounters& c, wsim_counters& out) {
  switch (c.traffic) {
    case Traffic::kGlobalLoad:
      out.global_load_requests += c.requests;
      out.global_load_requests_16 += c.requests_16;
      out.global_load_sectors += c.transactions;
      out.global_load_bytes += c.bytes;
      out.global_load_unique_bytes += c.unique_bytes;
      break;
    case Traffic::kGlobalStore:
      out.global_store_requests += c.requests;
      out.global_store_requests_16 += c.requests_16;
      out.global_store_sectors += c.transactions;
      out.global_store_bytes += c.bytes;
      out.global_store_unique_bytes += c.unique_bytes;
      break;
    case Traffic::kSharedLoad:
      out.shared_load_requests += c.requests;
      out.shared_load_wavefronts += c.transactions;
      out.shared_load_bytes += c.bytes;
      out.shared_bank_conflicts += c.excess;
      break;
    case Traffic::kSharedStore:
      out.shared_store_requests += c.requests;
      out.shared_store_wavefronts += c.transactions;
      out.shared_store_bytes += c.bytes;
      out.shared_bank_conflicts += c.excess;
      break;
    case Traffic::kLocalLoad:
      out.local_load_requests += c.requests;
      out.local_load_sectors += c.transactions;
      out.local_bytes += c.bytes;
      break;
    case Traffic::kLocalStore:
      out.local_store_requests += c.requests;
      out.local_store_sectors += c.transactions;
      out.local_bytes += c.bytes;
      break;
    case Traffic::kGlobalAtomic:
      out.atomics_global += c.operations;
      out.atomic_global_requests += c.requests;
      out.atomic_serialised += c.excess;
      break;
    case Traffic::kSharedAtomic:
      out.atomics_shared += c.operations;
      out.atomic_shared_requests += c.requests;
      out.atomic_serialised += c.excess;
      break;
    case Traffic::kNone:
      break;
  }
}

// Lanes that speak to each other: what needs the whole warp, matrices aside.
bool is_exchange(const Instr& in) {
  return in.kind == Kind::kCollective && !is_matrix_handler(in.fn) && in.fn != handler_movmatrix();
}

// Of one warp: two for each product of an element of A and one of B. A sparse A has half of them.
uint64_t tensor_operations(const LoadedModule& module, const Instr& in) {
  if (in.kind == Kind::kWarpgroup && in.fn != handler_setmaxnreg()) {
    const WgmmaOp& op = module.wgmmas[in.extra];
    return 2ull * static_cast<uint64_t>(op.d.rows) * static_cast<uint64_t>(op.n * op.stored_k());
  }
  if (in.kind != Kind::kCollective || !is_matrix_handler(in.fn)) return 0;
  const MatrixOp& op = module.matrices[in.extra];
  if (op.d.registers.empty() || op.b.registers.empty()) return 0;  // it moves a matrix
  return 2ull * static_cast<uint64_t>(op.products * op.d.rows) *
         static_cast<uint64_t>(op.d.columns * op.a.columns);
}

void add_counters(const wsim_counters& from, wsim_counters& to) {
#define WSIM_COUNTER(name, meaning) to.name += from.name;
#include "warplings/counters.def"
#undef WSIM_COUNTER
}

}  // namespace

void fold_counters(const LoadedModule& module, size_t pc, const PcCounters& c, wsim_counters& out) {
  const Instr& instruction = module.code[pc];
  out.tensor_operations += c.issued * tensor_operations(module, instruction);
  out.warp_instructions += c.issued;
  out.thread_instructions += c.lanes;
  out.fp32_operations += c.lanes * instruction.flops;
  if (instruction.flops == 2) out.fp32_fma += c.lanes;
  if (instruction.kind == Kind::kBranch || instruction.kind == Kind::kBranchTable) {
    out.branches += c.issued;
    out.divergent_branches += c.excess;
  }
  if (instruction.kind == Kind::kBarrier) out.barriers += c.issued;
  if (is_exchange(instruction)) out.warp_exchanges += c.issued;
  fold_memory(c, out);
}

PcCounters difference(const PcCounters& after, const PcCounters& before) {
  PcCounters result = after;
  result.issued -= before.issued;
  result.lanes -= before.lanes;
  result.requests -= before.requests;
  result.requests_16 -= before.requests_16;
  result.transactions -= before.transactions;
  result.excess -= before.excess;
  result.operations -= before.operations;
  result.bytes -= before.bytes;
  result.unique_bytes -= before.unique_bytes;
  return result;
}

void launch_counted(const Kernel& kernel, const LaunchConfig& config) {
  CounterStore::instance().record_launch(kernel, config);
}

void waiting_child_counted() { CounterStore::instance().record_waiting_child(); }

PcCounters* counters_of(const LoadedModule* module) {
  return CounterStore::instance().of(module).data();
}

CounterStore& CounterStore::instance() { return Machine::get<CounterStore>(); }

void CounterStore::reset() {
  counters_.clear();
  launches_.clear();
  library_lines_.clear();
  launch_count_ = blocks_ = threads_ = blocks_max_ = waiting_children_ = 0;
}

std::vector<PcCounters>& CounterStore::of(const LoadedModule* module) {
  std::vector<PcCounters>& counters = counters_[module];
  if (counters.size() < module->code.size()) counters.resize(module->code.size());
  return counters;
}

void CounterStore::record_launch(const Kernel& kernel, const LaunchConfig& config) {
  ++launch_count_;
  blocks_ += config.grid.count();
  threads_ += config.grid.count() * config.block.count();
  if (config.grid.count() > blocks_max_) blocks_max_ = config.grid.count();
  if (launches_.size() < kRememberedLaunches) {
    launches_.push_back(
        {kernel.demangled, config.where, config.grid, config.block, config.dynamic_shared});
  }
}

void CounterStore::record_library(const std::string& function, const Position& where, uint64_t read,
                                  uint64_t written) {
  Line& line = library_lines_[{where.file, where.line}];
  line.file = where.file;
  line.line = where.line;
  line.kernel = function;
  PcCounters loads, stores;
  loads.traffic = Traffic::kGlobalLoad;
  loads.bytes = loads.unique_bytes = read;
  stores.traffic = Traffic::kGlobalStore;
  stores.bytes = stores.unique_bytes = written;
  for (PcCounters* counters : {&loads, &stores}) {
    counters->transactions = (counters->bytes + kSector - 1) / kSector;
    counters->requests = counters->requests_16 =
        (counters->bytes + kWideRequest - 1) / kWideRequest;
    fold_memory(*counters, line.counters);
  }
}

wsim_counters CounterStore::totals() const {
  wsim_counters out{};
  for (const auto& [module, counters] : counters_) {
    for (size_t pc = 0; pc < counters.size(); ++pc) fold_counters(*module, pc, counters[pc], out);
  }
  for (const auto& [where, line] : library_lines_) add_counters(line.counters, out);
  out.launches = launch_count_;
  out.blocks = blocks_;
  out.threads = threads_;
  out.active_blocks_max = blocks_max_;
  return out;
}

std::vector<CounterStore::Line> CounterStore::lines() const {
  std::map<std::pair<std::string, int>, Line> by_line;
  for (const auto& [module, counters] : counters_) {
    std::unordered_map<int, Line*> by_location;  // unrolled code has thousands of pcs per location
    for (size_t pc = 0; pc < counters.size(); ++pc) {
      if (counters[pc].issued == 0) continue;
      const int location = module->location_of(static_cast<uint32_t>(pc));
      Line*& line = by_location[location];
      if (line == nullptr) {
        const Position position = module->position_at(location).user;
        line = &by_line[{position.file, position.line}];
        line->file = position.file;
        line->line = position.line;
        if (line->kernel.empty()) {
          line->kernel = module->functions[module->function_at(static_cast<uint32_t>(pc))].name;
        }
      }
      fold_counters(*module, pc, counters[pc], line->counters);
    }
  }
  for (const auto& [where, call] : library_lines_) {
    Line& line = by_line[where];
    line.file = call.file;
    line.line = call.line;
    if (line.kernel.empty()) line.kernel = call.kernel;
    add_counters(call.counters, line.counters);
  }
  std::vector<Line> out;
  for (auto& [key, line] : by_line) out.push_back(std::move(line));
  return out;
}

}  // namespace warplings::sim

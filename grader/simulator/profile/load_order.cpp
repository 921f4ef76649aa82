#include "profile/load_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace warplings::sim {
namespace {

constexpr int kSpare = 8;          // registers that addresses and the like take
constexpr int kLeast = 4;          // registers for early loads, however full the file is
constexpr size_t kLongest = 8192;  // instructions of a block that is put in order
// Instructions that a branch may skip to become their predicate, without and with a load of global
// memory among them.
constexpr int kPredicated = 8, kPredicatedWithLoad = 20;

// A conditional branch that the assembler makes the predicate of what it skips, up to `end`.
using Predicates = std::map<uint32_t, uint32_t>;  // pc of the branch -> end

// One block as a graph: an edge where one instruction must stay before another.
class BlockGraph {
 public:
  BlockGraph(const ModuleSchedule& schedule, const Predicates& predicates, uint32_t first,
             uint32_t end)
      : schedule_(schedule), first_(first), nodes_(end - first) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) connect(i);
    for (auto at = predicates.lower_bound(first); at != predicates.end() && at->first < end; ++at) {
      const uint32_t branch = at->first - first;
      for (uint32_t i = branch + 1; i < at->second - first; ++i) {
        edge(branch, i);
        nodes_[i].operands.push_back(branch);
      }
    }
    // An instruction is early if it is a load or a load waits for it.
    for (size_t i = nodes_.size(); i-- > 0;) {
      nodes_[i].early = nodes_[i].early || is_load(what(i).memory);
      if (!nodes_[i].early) continue;
      for (uint32_t operand : nodes_[i].operands) nodes_[operand].early = true;
    }
  }

  bool has_loads() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& n) { return n.early; });
  }

  // Early instructions in their order, until `registers` hold loaded values that wait to be used;
  // then the others.
  std::vector<uint32_t> order(int registers) const {
    const int room = std::max(kLeast, registers - live_words() - kSpare);
    std::vector<uint32_t> blockers(nodes_.size()), readers(nodes_.size()), out;
    std::set<uint32_t> early, late;  // ready
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (uint32_t next : nodes_[i].after) ++blockers[next];
      for (uint32_t operand : nodes_[i].operands) ++readers[operand];
    }
    const auto make_ready = [&](uint32_t i) { (nodes_[i].early ? early : late).insert(i); };
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (blockers[i] == 0) make_ready(i);
    }
    int held = 0;
    while (!early.empty() || !late.empty()) {
      const bool full = held >= room && !late.empty();
      std::set<uint32_t>& from = early.empty() || full ? late : early;
      const uint32_t i = *from.begin();
      from.erase(from.begin());
      out.push_back(first_ + i);
      if (is_load(what(i).memory) && readers[i] > 0) held += result_words(i);
      for (uint32_t operand : nodes_[i].operands) {
        if (--readers[operand] == 0 && is_load(what(operand).memory)) {
          held -= result_words(operand);
        }
      }
      for (uint32_t next : nodes_[i].after) {
        if (--blockers[next] == 0) make_ready(next);
      }
    }
    return out;
  }

 private:
  struct Node {
    std::vector<uint32_t> after;     // must come later
    std::vector<uint32_t> operands;  // whose results it reads
    bool early = false;
  };
  struct RegisterUse {
    int64_t writer = -1;
    std::vector<uint32_t> readers;  // since it was written
  };

  static bool is_load(MemoryStep step) {
    return step == MemoryStep::kLoad || step == MemoryStep::kLoadConstant ||
           step == MemoryStep::kOrderedLoad;
  }
  const InstructionClass& what(size_t i) const { return schedule_.code[first_ + i]; }
  int result_words(size_t i) const {
    const InstructionClass& in = what(i);
    int words = 0;
    for (size_t k = in.reads; k < size_t{in.reads} + in.writes; ++k) {
      words += schedule_.words[in.first_register + k];
    }
    return words;
  }
  void edge(int64_t from, uint32_t to) {
    if (from >= 0) nodes_[static_cast<size_t>(from)].after.push_back(to);
  }

  void connect(uint32_t i) {
    const InstructionClass& in = what(i);
    const uint16_t* registers = schedule_.registers.data() + in.first_register;
    for (int k = 0; k < in.reads; ++k) {
      RegisterUse& use = uses_[registers[k]];
      edge(use.writer, i);
      if (use.writer >= 0) {
        nodes_[i].operands.push_back(static_cast<uint32_t>(use.writer));
      } else if (use.readers.empty()) {
        live_ += schedule_.words[in.first_register + static_cast<size_t>(k)];
      }
      use.readers.push_back(i);
    }
    for (int k = 0; k < in.writes; ++k) {
      RegisterUse& use = uses_[registers[in.reads + k]];
      edge(use.writer, i);
      for (uint32_t reader : use.readers) {
        if (reader != i) edge(reader, i);
      }
      use.writer = i;
      use.readers.clear();
    }
    connect_memory(i, in);
  }

  void connect_memory(uint32_t i, const InstructionClass& in) {
    switch (in.memory) {
      case MemoryStep::kNone:
      case MemoryStep::kLoadConstant:  // of memory that nobody writes
        break;
      case MemoryStep::kOrderedLoad:
        edge(last_ordered_, i);
        last_ordered_ = i;
        [[fallthrough]];
      case MemoryStep::kLoad:
        edge(last_store_[in.is_shared], i);
        edge(last_fence_, i);
        loads_[in.is_shared].push_back(i);
        break;
      case MemoryStep::kStore:
        edge(last_store_[in.is_shared], i);
        edge(last_fence_, i);
        for (uint32_t load : loads_[in.is_shared]) edge(load, i);
        loads_[in.is_shared].clear();
        last_store_[in.is_shared] = i;
        break;
      case MemoryStep::kFence:
        edge(last_fence_, i);
        for (int shared : {0, 1}) {
          edge(last_store_[shared], i);
          for (uint32_t load : loads_[shared]) edge(load, i);
          loads_[shared].clear();
          last_store_[shared] = -1;
        }
        last_fence_ = i;
    }
    // The branch at the end stays there.
    if (in.unit == Unit::kControl && i + 1 == nodes_.size()) {
      for (uint32_t k = 0; k < i; ++k) edge(k, i);
    }
  }

  // Registers that come into the block with a value.
  int live_words() const { return live_; }

  const ModuleSchedule& schedule_;
  uint32_t first_;
  std::vector<Node> nodes_;
  std::map<uint16_t, RegisterUse> uses_;
  int64_t last_store_[2] = {-1, -1}, last_fence_ = -1;  // global, shared
  int64_t last_ordered_ = -1;
  std::vector<uint32_t> loads_[2];
  int live_ = 0;
};

bool ends_block(const Instr& in) {
  return in.kind == Kind::kBranch || in.kind == Kind::kBranchTable || in.kind == Kind::kExit ||
         in.kind == Kind::kReturn || in.kind == Kind::kCall || in.kind == Kind::kBarrier ||
         in.kind == Kind::kTrap;
}

// The blocks of a module, after short forward branches have become predicates.
class Blocks {
 public:
  Blocks(const LoadedModule& module, const ModuleSchedule& schedule)
      : module_(module), schedule_(schedule), entries_(module.code.size() + 1) {
    for (const Function& function : module.functions) {
      if (function.is_defined) ++entries_[function.entry], ++entries_[function.end];
    }
    for (const Instr& in : module.code) {
      if (in.kind == Kind::kBranch) ++entries_[in.target];
      if (in.kind != Kind::kBranchTable) continue;
      for (uint32_t target : module.lists[in.extra]) ++entries_[target];
    }
    // Inner ones first.
    for (uint32_t pc = static_cast<uint32_t>(module.code.size()); pc-- > 0;) try_predicate(pc);
  }

  const Predicates& predicates() const { return predicates_; }
  bool begins_at(uint32_t pc) const {
    return entries_[pc] > 0 || pc == 0 ||
           (ends_block(module_.code[pc - 1]) && !predicates_.contains(pc - 1));
  }

 private:
  // The branch at `pc` skips few instructions that nothing else jumps into.
  void try_predicate(uint32_t pc) {
    const Instr& branch = module_.code[pc];
    if (branch.kind != Kind::kBranch || branch.guard == kNoPlace || branch.target <= pc + 1) return;
    int instructions = 0, most = kPredicated;
    for (uint32_t i = pc + 1; i < branch.target; ++i) {
      if (entries_[i] > 0 || (ends_block(module_.code[i]) && !predicates_.contains(i))) return;
      if (predicates_.contains(i)) continue;
      const InstructionClass& what = schedule_.code[i];
      instructions += what.issues + what.beside;
      const bool loads =
          what.memory == MemoryStep::kLoad || what.memory == MemoryStep::kLoadConstant;
      if (loads && !what.is_shared) most = kPredicatedWithLoad;
    }
    if (instructions > most) return;
    predicates_[pc] = branch.target;
    --entries_[branch.target];
  }

  const LoadedModule& module_;
  const ModuleSchedule& schedule_;
  std::vector<uint32_t> entries_;  // by pc: jumps to it, and functions that begin or end there
  Predicates predicates_;
};

}  // namespace

LoadOrder::LoadOrder(const LoadedModule& module, const ModuleSchedule& schedule, int registers)
    : block_end_(module.code.size()), place_(module.code.size()) {
  const Blocks blocks(module, schedule);
  for (uint32_t first = 0; first < module.code.size();) {
    uint32_t end = first + 1;
    while (end < module.code.size() && !blocks.begins_at(end)) ++end;
    for (uint32_t pc = first; pc < end; ++pc) block_end_[pc] = end, place_[pc] = pc - first;
    if (end - first > 2 && end - first <= kLongest) {
      const BlockGraph graph(schedule, blocks.predicates(), first, end);
      if (graph.has_loads()) {
        uint32_t place = 0;
        for (uint32_t pc : graph.order(registers)) place_[pc] = place++;
      }
    }
    first = end;
  }
  for (const auto& [branch, end] : blocks.predicates()) place_[branch] = kDropped;
}

WarpTrace LoadOrder::apply(const WarpTrace& trace) const {
  WarpTrace out;
  out.reserve(trace.size());
  for (size_t i = 0; i < trace.size();) {
    // What was skipped is not there, and a block may be left early.
    const size_t begin = out.size();
    const uint32_t end = block_end_[trace[i].pc];
    do {
      if (place_[trace[i].pc] != kDropped) out.push_back(trace[i]);
      ++i;
    } while (i < trace.size() && trace[i].pc > trace[i - 1].pc && trace[i].pc < end);
    std::sort(
        out.begin() + static_cast<ptrdiff_t>(begin), out.end(),
        [&](const TraceEntry& a, const TraceEntry& b) { return place_[a.pc] < place_[b.pc]; });
  }
  return out;
}

}  // namespace warplings::sim

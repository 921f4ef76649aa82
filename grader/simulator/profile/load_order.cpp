#include "profile/load_order.h"

#include <algorithm>
#include <map>
#include <set>

namespace warplings::sim {
namespace {

constexpr int kSpare = 8;          // registers that addresses and the like take
constexpr int kLeast = 4;          // registers for early loads, however full the file is
constexpr size_t kLongest = 8192;  // instructions of a block that is put in order

// One basic block as a graph: an edge where one instruction must stay before another.
class BlockGraph {
 public:
  BlockGraph(const ModuleSchedule& schedule, uint32_t first, uint32_t end)
      : schedule_(schedule), first_(first), nodes_(end - first) {
    for (uint32_t i = 0; i < nodes_.size(); ++i) connect(i);
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
    return step == MemoryStep::kLoad || step == MemoryStep::kLoadConstant;
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
  std::vector<uint32_t> loads_[2];
  int live_ = 0;
};

bool ends_block(const Instr& in) {
  return in.kind == Kind::kBranch || in.kind == Kind::kBranchTable || in.kind == Kind::kExit ||
         in.kind == Kind::kReturn || in.kind == Kind::kCall || in.kind == Kind::kBarrier ||
         in.kind == Kind::kTrap;
}

// By pc: whether a basic block begins there.
std::vector<char> leaders_of(const LoadedModule& module) {
  std::vector<char> leads(module.code.size() + 1);
  for (const Function& function : module.functions) {
    if (function.is_defined) leads[function.entry] = leads[function.end] = 1;
  }
  for (size_t pc = 0; pc < module.code.size(); ++pc) {
    const Instr& in = module.code[pc];
    if (ends_block(in)) leads[pc + 1] = 1;
    if (in.kind == Kind::kBranch) leads[in.target] = 1;
    if (in.kind == Kind::kBranchTable) {
      for (uint32_t target : module.lists[in.extra]) leads[target] = 1;
    }
  }
  return leads;
}

}  // namespace

LoadOrder::LoadOrder(const LoadedModule& module, const ModuleSchedule& schedule, int registers)
    : block_at_(module.code.size(), -1) {
  const std::vector<char> leads = leaders_of(module);
  for (uint32_t first = 0; first < module.code.size();) {
    uint32_t end = first + 1;
    while (end < module.code.size() && leads[end] == 0) ++end;
    if (end - first > 2 && end - first <= kLongest) {
      const BlockGraph graph(schedule, first, end);
      if (graph.has_loads()) {
        block_at_[first] = static_cast<int32_t>(blocks_.size());
        blocks_.push_back({first, end, graph.order(registers)});
      }
    }
    first = end;
  }
}

WarpTrace LoadOrder::apply(const WarpTrace& trace) const {
  WarpTrace out;
  out.reserve(trace.size());
  for (size_t i = 0; i < trace.size();) {
    const int32_t index = block_at_[trace[i].pc];
    size_t end = i + 1;
    while (end < trace.size() && trace[end].pc == trace[end - 1].pc + 1 &&
           (index < 0 || trace[end].pc < blocks_[static_cast<size_t>(index)].end) &&
           (index >= 0 || block_at_[trace[end].pc] < 0)) {
      ++end;
    }
    const bool whole = index >= 0 && end - i == blocks_[static_cast<size_t>(index)].order.size();
    if (!whole) {
      out.insert(out.end(), trace.begin() + static_cast<ptrdiff_t>(i),
                 trace.begin() + static_cast<ptrdiff_t>(end));
    } else {
      for (uint32_t pc : blocks_[static_cast<size_t>(index)].order) {
        out.push_back(trace[i + (pc - trace[i].pc)]);
      }
    }
    i = end;
  }
  return out;
}

}  // namespace warplings::sim

#include "decode/allocate.h"

#include <algorithm>
#include <set>

#include "decode/opcodes.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

struct BasicBlock {
  int begin = 0, end = 0;
  std::vector<int> next;
  std::vector<uint64_t> use, define, in, out;  // bit sets over registers
};

class Allocator {
 public:
  explicit Allocator(const ptx::Function& function) : function_(function) {
    for (size_t i = 0; i < function.registers.size(); ++i) {
      index_[function.registers[i].name] = static_cast<int>(i);
    }
    words_ = (function.registers.size() + 63) / 64;
  }

  RegisterAllocation run() {
    make_blocks();
    for (BasicBlock& block : blocks_) summarise(block);
    solve();
    make_intervals();
    return scan();
  }

 private:
  void collect(const Operand& operand, std::vector<int>& out) const {
    if (operand.kind == Operand::Kind::kRegister) {
      const auto it = index_.find(operand.name);
      if (it != index_.end()) out.push_back(it->second);
    }
    for (const Operand& element : operand.elements) collect(element, out);
  }

  // Registers read and written. A guarded write keeps the old value elsewhere, so it reads as well.
  void accesses(const Instruction& instruction, std::vector<int>& uses,
                std::vector<int>& defines) const {
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      collect(instruction.operands[i], is_written(instruction, i) ? defines : uses);
    }
    if (is_product(instruction)) uses.insert(uses.end(), defines.begin(), defines.end());
    if (!instruction.guard.empty()) {
      const auto it = index_.find(instruction.guard);
      if (it != index_.end()) uses.push_back(it->second);
      uses.insert(uses.end(), defines.begin(), defines.end());
    }
  }

  std::vector<int> targets(const Instruction& instruction) const {
    std::vector<int> out;
    const auto add = [&](const std::string& label) {
      const auto it = function_.labels.find(label);
      if (it != function_.labels.end()) out.push_back(it->second);
    };
    const Flow flow = instruction.row->flow;
    if (flow == Flow::kBranch && !instruction.operands.empty()) {
      add(instruction.operands[0].name);
    }
    if (flow == Flow::kBranchTable && instruction.operands.size() > 1) {
      const auto it = function_.target_lists.find(instruction.operands[1].name);
      if (it != function_.target_lists.end()) {
        for (const std::string& label : it->second) add(label);
      }
    }
    return out;
  }

  void make_blocks() {
    const int n = static_cast<int>(function_.body.size());
    std::set<int> leaders{0, n};
    for (int i = 0; i < n; ++i) {
      const Instruction& instruction = function_.body[i];
      const std::vector<int> to = targets(instruction);
      leaders.insert(to.begin(), to.end());
      if (!to.empty() || instruction.row->flow == Flow::kLeave) leaders.insert(i + 1);
    }
    std::vector<int> starts(leaders.begin(), leaders.end());
    for (size_t b = 0; b + 1 < starts.size(); ++b) {
      BasicBlock block;
      block.begin = starts[b];
      block.end = std::min(starts[b + 1], n);
      blocks_.push_back(std::move(block));
    }
    std::unordered_map<int, int> block_at;
    for (size_t b = 0; b < blocks_.size(); ++b) block_at[blocks_[b].begin] = static_cast<int>(b);
    for (size_t b = 0; b < blocks_.size(); ++b) {
      BasicBlock& block = blocks_[b];
      if (block.begin >= block.end) continue;
      const Instruction& last = function_.body[block.end - 1];
      for (int to : targets(last)) {
        if (block_at.count(to) != 0) block.next.push_back(block_at[to]);
      }
      const bool ends = last.guard.empty() && last.row->flow >= Flow::kBranch;
      if (!ends && b + 1 < blocks_.size()) block.next.push_back(static_cast<int>(b) + 1);
    }
  }

  static void set(std::vector<uint64_t>& bits, int i) { bits[i / 64] |= uint64_t{1} << (i % 64); }
  static bool get(const std::vector<uint64_t>& bits, int i) {
    return (bits[i / 64] >> (i % 64)) & 1;
  }

  void summarise(BasicBlock& block) {
    for (auto* bits : {&block.use, &block.define, &block.in, &block.out}) bits->assign(words_, 0);
    std::vector<int> uses, defines;
    for (int i = block.begin; i < block.end; ++i) {
      uses.clear();
      defines.clear();
      accesses(function_.body[i], uses, defines);
      for (int r : uses) {
        if (!get(block.define, r)) set(block.use, r);
      }
      for (int r : defines) set(block.define, r);
    }
  }

  void solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
        for (size_t w = 0; w < words_; ++w) {
          uint64_t out = 0;
          for (int next : block->next) out |= blocks_[next].in[w];
          const uint64_t in = block->use[w] | (out & ~block->define[w]);
          changed = changed || in != block->in[w] || out != block->out[w];
          block->in[w] = in;
          block->out[w] = out;
        }
      }
    }
  }

  void touch(int r, int at) {
    first_[r] = std::min(first_[r], at);
    last_[r] = std::max(last_[r], at);
  }

  // A wgmma may read its part of A until the warp waits for it: a register of its own shows who
  // writes to it too early.
  void keep_part_of_a(const Instruction& instruction) {
    if (instruction.operands.size() < 2) return;
    std::vector<int> part;
    for (const Operand& element : instruction.operands[1].elements) collect(element, part);
    for (int r : part) touch(r, 0), touch(r, static_cast<int>(function_.body.size()));
  }

  void make_intervals() {
    const size_t n = function_.registers.size();
    first_.assign(n, INT32_MAX);
    last_.assign(n, -1);
    std::vector<int> uses, defines;
    for (const BasicBlock& block : blocks_) {
      for (size_t r = 0; r < n; ++r) {
        if (get(block.in, static_cast<int>(r))) touch(static_cast<int>(r), block.begin);
        if (get(block.out, static_cast<int>(r))) touch(static_cast<int>(r), block.end);
      }
      for (int i = block.begin; i < block.end; ++i) {
        uses.clear();
        defines.clear();
        accesses(function_.body[i], uses, defines);
        for (int r : uses) touch(r, i);
        if (is_product(function_.body[i])) keep_part_of_a(function_.body[i]);
        // One further, so that a value never read does not share its slot with a neighbour of the
        // same instruction (ld.v4 with an unused part).
        for (int r : defines) touch(r, i), touch(r, i + 1);
      }
    }
  }

  // Linear scan over intervals in order of their start; free slots are reused lowest first. Only
  // registers of one layout share a slot: lanes that have diverged stand at different places, and
  // what one lane keeps in a slot must not overlap what another lane writes there.
  RegisterAllocation scan() {
    RegisterAllocation out;
    std::vector<int> order;
    for (size_t r = 0; r < first_.size(); ++r) {
      if (last_[r] >= 0) order.push_back(static_cast<int>(r));
    }
    std::sort(order.begin(), order.end(), [&](int a, int b) { return first_[a] < first_[b]; });
    std::set<std::pair<int, int>> active;  // (end, register)
    std::set<uint32_t> free[kLayouts];
    uint32_t live_32 = 0;
    for (int r : order) {
      while (!active.empty() && active.begin()->first <= first_[r]) {
        const int old = active.begin()->second;
        const uint32_t slot = out.slot[function_.registers[old].name];
        free[layout(old)].insert(slot);
        live_32 -= weight(old);
        active.erase(active.begin());
      }
      std::set<uint32_t>& pool = free[layout(r)];
      uint32_t slot = out.slots;
      if (!pool.empty()) {
        slot = *pool.begin();
        pool.erase(pool.begin());
      } else {
        out.slots += width(r);
      }
      out.slot[function_.registers[r].name] = slot;
      active.insert({last_[r], r});
      live_32 += weight(r);
      out.peak_32 = std::max(out.peak_32, live_32);
    }
    return out;
  }

  // How lanes lie in a slot: a bit, 4 bytes or 8 bytes each.
  enum Layout { kBits, kSingle, kPair, kLayouts };
  Layout layout(int r) const {
    if (function_.registers[r].type == ptx::Type::kPred) return kBits;
    return width(r) == 2 ? kPair : kSingle;
  }
  uint32_t width(int r) const { return ptx::size_of(function_.registers[r].type) == 8 ? 2 : 1; }
  uint32_t weight(int r) const {
    return function_.registers[r].type == ptx::Type::kPred ? 0 : width(r);
  }

  const ptx::Function& function_;
  std::unordered_map<std::string, int> index_;
  size_t words_ = 0;
  std::vector<BasicBlock> blocks_;
  std::vector<int> first_, last_;
};

}  // namespace

RegisterAllocation allocate_registers(const ptx::Function& function) {
  return Allocator(function).run();
}

}  // namespace warplings::sim

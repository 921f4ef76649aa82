#include "decode/instruction_class.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <unordered_map>

#include "core/machine.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

struct Cost {
  Unit unit;
  int issues;
  int beside = 0;  // instructions of other pipes
};

// Bytes of the type that the operation works on: the last type among the modifiers.
int width_of(const Instruction& in) {
  for (auto word = in.modifiers.rbegin(); word != in.modifiers.rend(); ++word) {
    const int size = ptx::size_of(ptx::type_from_name(*word));
    if (size != 0) return size;
  }
  return 4;
}

bool is_floating(const Instruction& in) {
  for (const char* type : {"f32", "f16", "f16x2", "bf16", "bf16x2", "f64"}) {
    if (in.has(type)) return true;
  }
  return false;
}

// 64-bit integers are pairs of 32-bit registers.
int words(const Instruction& in) { return width_of(in) == 8 ? 2 : 1; }

// Sequences that the assembler (13.0, sm_90) writes for one PTX instruction; lengths of the usual
// path.
Cost special_function(const Instruction& in) {
  // Operands that are denormal are scaled, and so is the result.
  return {Unit::kSpecial, 1, in.has("approx") && in.has("f32") && !in.has("ftz") ? 3 : 0};
}

Cost division(const Instruction& in) {
  if (in.has("f64")) return {Unit::kFp64, 12};
  if (!is_floating(in)) return {Unit::kInteger, width_of(in) == 8 ? 60 : in.has("s32") ? 23 : 18};
  if (in.has("approx") && in.row->unit == Unit::kSpecial) return special_function(in);
  if (in.has("approx")) return {Unit::kSpecial, 1, in.has("ftz") ? 1 : 5};
  if (in.has("full")) return {Unit::kSpecial, 1, 7};
  return {Unit::kFp32, 5, 5};
}

Cost conversion(const Instruction& in) {
  if (!is_floating(in)) return {Unit::kFree, 0};  // part of the instruction that uses it
  const bool wide = in.has("f64") || in.has("s64") || in.has("u64");
  return {wide ? Unit::kSpecial : Unit::kInteger, 1};
}

Cost matrix(const Instruction& in) {
  if (in.has("load") || in.has("store")) return {Unit::kMemory, 1};
  if (in.has("fence")) return {Unit::kControl, 1};
  return {in.has("f64") ? Unit::kFp64 : Unit::kTensor, 1};
}

Cost of_unit(const Instruction& in) {
  const Unit unit = in.row->unit;
  if (unit == Unit::kSpecial) return special_function(in);
  if (unit == Unit::kInteger) return {unit, words(in)};
  // A 64-bit product takes three 32-bit ones; .wide is one instruction.
  if (unit == Unit::kMultiply) return {unit, words(in) == 2 && !in.has("wide") ? 3 : 1};
  return {unit, unit == Unit::kFree ? 0 : 1};
}

Cost arithmetic(const Instruction& in) {
  if (!is_floating(in)) return of_unit(in);
  return {in.has("f64") ? Unit::kFp64 : Unit::kFp32, 1};
}

Cost extremum(const Instruction& in) { return in.has("f64") ? Cost{Unit::kFp64, 1} : of_unit(in); }

AsyncStep async_step(const Instruction& in) {
  const Background background = in.row->background;
  if (background == Background::kNothing) return AsyncStep::kNone;
  if (in.has("commit_group")) return AsyncStep::kCommit;
  if (in.has("wait_group") || in.has("wait_all")) return AsyncStep::kWait;
  // A bulk copy that an mbarrier counts is waited for there.
  const bool begins = background == Background::kProducts
                          ? in.has("mma_async")
                          : in.has("async") && !in.has("mbarrier") && !in.has("bulk");
  return begins ? AsyncStep::kBegin : AsyncStep::kNone;
}

Cost cost_of(const Instruction& in, Kind kind, Space space) {
  const bool is_parameter =
      space == Space::kParamEntry || space == Space::kParamLocal || space == Space::kConst;
  if (kind == Kind::kBarrier) return {Unit::kBarrier, 1};
  if ((is_load(in) || is_store(in)) && is_parameter) return {Unit::kFree, 0};
  const AsyncStep step = async_step(in);
  if (step == AsyncStep::kCommit || step == AsyncStep::kWait) return {Unit::kControl, 1};
  static constexpr Cost (*kRules[])(const Instruction&) = {of_unit,  arithmetic, extremum,
                                                           division, conversion, matrix};
  return kRules[static_cast<size_t>(in.row->cost)](in);
}

MemoryStep memory_step(const Instruction& in, const Instr& decoded, Unit unit) {
  const bool plain = !decoded.strong && !in.has("volatile");
  if (unit == Unit::kFree) return MemoryStep::kNone;
  if ((is_load(in) || in.row->access == AccessKind::kLoadMatrix) && plain) {
    return in.has("nc") ? MemoryStep::kLoadConstant : MemoryStep::kLoad;
  }
  if (is_load(in) && (in.has("volatile") || in.has("relaxed"))) return MemoryStep::kOrderedLoad;
  if (is_store(in) && plain) return MemoryStep::kStore;
  const bool orders = unit == Unit::kMemory || decoded.kind == Kind::kCollective ||
                      in.row->orders || in.row->background != Background::kNothing;
  return orders ? MemoryStep::kFence : MemoryStep::kNone;
}

// Multiply-adds of m16n8k16 and the like, of one warp; half as fast for tf32 as for halves, twice
// as fast for 8 bits, 16 times for one.
uint32_t tensor_fma(const Instruction& in) {
  for (const std::string& word : in.modifiers) {
    int m = 0, n = 0, k = 0;
    if (std::sscanf(word.c_str(), "m%dn%dk%d", &m, &n, &k) != 3) continue;
    const bool slow = in.has("tf32"), is_wgmma = is_product(in);
    const bool fast =
        in.has("s8") || in.has("u8") || (is_wgmma && (in.has("e4m3") || in.has("e5m2")));
    if (is_wgmma) m /= 4;
    if (is_wgmma && in.has("b1")) k /= 16;
    // A sparse A has half as many elements.
    const bool sparse = in.has("sp") || in.has("sp::ordered_metadata");
    const int products = sparse ? m * n * k / 2 : m * n * k;
    return static_cast<uint32_t>(slow ? 2 * products : fast ? products / 2 : products);
  }
  return 0;
}

class Builder {
 public:
  explicit Builder(const LoadedModule& module) : module_(module) {
    schedule_.code.resize(module.code.size());
    for (const ptx::Function& source : module.source->functions) {
      if (source.is_declaration) continue;
      const Function& function = module.functions[module.function_index.at(source.name)];
      if (function.is_defined) add(source, function.entry);
    }
  }
  ModuleSchedule take() { return std::move(schedule_); }

 private:
  void add(const ptx::Function& source, uint32_t entry) {
    numbers_.clear();
    words_.clear();
    for (const ptx::Register& reg : source.registers) {
      numbers_.emplace(reg.name, static_cast<uint16_t>(std::min<size_t>(numbers_.size(), 65535)));
      words_.push_back(words_of(reg.type));
    }
    schedule_.register_count =
        std::max(schedule_.register_count, static_cast<uint32_t>(numbers_.size()));
    find_fused(source);
    for (size_t i = 0; i < source.body.size(); ++i) {
      const uint32_t pc = entry + static_cast<uint32_t>(i);
      const Instruction& in = source.body[i];
      InstructionClass& out = schedule_.code[pc];
      Cost cost = cost_of(in, module_.code[pc].kind, module_.code[pc].space);
      if (fused_[i] == Fused::kFirst) cost = {Unit::kFree, 0};
      if (fused_[i] == Fused::kWideProduct) cost = {Unit::kMultiply, 1};
      out.unit = cost.unit;
      out.issues = static_cast<uint8_t>(cost.issues);
      out.beside = static_cast<uint8_t>(cost.beside);
      out.async = async_step(in);
      out.memory = memory_step(in, module_.code[pc], cost.unit);
      out.is_wgmma = is_product(in);
      out.is_bulk = in.row->background == Background::kCopies && in.has("bulk");
      out.is_shared = module_.code[pc].space == Space::kShared;
      if (out.async == AsyncStep::kWait && !in.operands.empty()) {
        out.groups_left = static_cast<uint8_t>(std::min<uint64_t>(in.operands[0].bits, 255));
      }
      if (cost.unit == Unit::kTensor) out.tensor_fma = static_cast<uint16_t>(tensor_fma(in) / 16);
      add_registers(in, out);
    }
  }

  enum class Fused : uint8_t { kNo, kFirst, kWideProduct, kShifted };

  // A product or shift whose only use is a sum is one instruction with it (IMAD, LEA), and so is a
  // comparison with what combines its result, and only that, with another predicate (ISETP.AND).
  void find_fused(const ptx::Function& source) {
    fused_.assign(source.body.size(), Fused::kNo);
    std::vector<uint32_t> uses(numbers_.size());
    std::vector<int64_t> writer(numbers_.size(), -1);  // -2: several
    std::vector<uint16_t> found;
    for (size_t i = 0; i < source.body.size(); ++i) {
      const Instruction& in = source.body[i];
      for (size_t k = 0; k < in.operands.size(); ++k) {
        found.clear();
        collect(in.operands[k], found);
        const bool written = is_written(in, k);
        for (uint16_t number : found) {
          if (written) {
            writer[number] = writer[number] == -1 ? static_cast<int64_t>(i) : -2;
          } else {
            ++uses[number];
          }
        }
      }
    }
    for (size_t i = 0; i < source.body.size(); ++i) {
      const Instruction& sum = source.body[i];
      if (sum.has("pred")) {
        if (joins_comparison(sum, uses, writer, source)) fused_[i] = Fused::kFirst;
        continue;
      }
      if (sum.row->computes != Computes::kSum || is_floating(sum)) continue;
      for (size_t k = 1; k < sum.operands.size() && fused_[i] == Fused::kNo; ++k) {
        found.clear();
        collect(sum.operands[k], found);
        if (found.size() != 1 || uses[found[0]] != 1 || writer[found[0]] < 0) continue;
        const auto first = static_cast<size_t>(writer[found[0]]);
        const Instruction& in = source.body[first];
        const bool wide = in.row->computes == Computes::kProduct && !is_floating(in) &&
                          in.has(width_of(sum) == 8 ? "wide" : "lo");
        const bool shifted = in.row->computes == Computes::kShiftLeft && in.operands.size() == 3 &&
                             in.operands[2].kind == Operand::Kind::kInteger;
        if (!wide && !shifted) continue;
        fused_[first] = Fused::kFirst;
        fused_[i] = wide ? Fused::kWideProduct : Fused::kShifted;
      }
    }
  }

  // Each comparison takes one.
  bool joins_comparison(const Instruction& in, std::vector<uint32_t>& uses,
                        const std::vector<int64_t>& writer, const ptx::Function& source) const {
    using enum Computes;
    const Computes computes = in.row->computes;
    if (computes == kNot) return true;  // operands of instructions may be negated
    if (computes != kAnd && computes != kOr && computes != kXor) return false;
    std::vector<uint16_t> found;
    for (size_t k = 1; k < in.operands.size(); ++k) collect(in.operands[k], found);
    for (uint16_t number : found) {
      if (uses[number] != 1 || writer[number] < 0) continue;
      const Instruction& first = source.body[static_cast<size_t>(writer[number])];
      if (first.row->computes != kComparison) continue;
      uses[number] = 0;
      return true;
    }
    return false;
  }

  static uint8_t words_of(ptx::Type type) {
    return type == ptx::Type::kPred ? 0 : static_cast<uint8_t>((ptx::size_of(type) + 3) / 4);
  }

  void collect(const Operand& operand, std::vector<uint16_t>& to) const {
    if (operand.kind == Operand::Kind::kRegister) {
      const auto found = numbers_.find(operand.name);
      if (found != numbers_.end()) to.push_back(found->second);
    }
    for (const Operand& element : operand.elements) collect(element, to);
  }

  void add_registers(const Instruction& in, InstructionClass& out) {
    std::vector<uint16_t> reads, writes;
    for (size_t i = 0; i < in.operands.size(); ++i) {
      collect(in.operands[i], is_written(in, i) ? writes : reads);
    }
    const auto guard = numbers_.find(in.guard);
    if (guard != numbers_.end()) reads.push_back(guard->second);
    out.first_register = static_cast<uint32_t>(schedule_.registers.size());
    out.reads = static_cast<uint8_t>(std::min<size_t>(reads.size(), 255));
    out.writes = static_cast<uint8_t>(std::min<size_t>(writes.size(), 255));
    auto& all = schedule_.registers;
    all.insert(all.end(), reads.begin(), reads.begin() + out.reads);
    all.insert(all.end(), writes.begin(), writes.begin() + out.writes);
    for (size_t i = out.first_register; i < all.size(); ++i) {
      schedule_.words.push_back(words_[all[i]]);
    }
  }

  const LoadedModule& module_;
  ModuleSchedule schedule_;
  std::unordered_map<std::string, uint16_t> numbers_;
  std::vector<uint8_t> words_;  // by number
  std::vector<Fused> fused_;    // by index in the function
};

}  // namespace

const ModuleSchedule& ModuleSchedule::of(const LoadedModule* module) {
  struct Schedules {
    std::map<const LoadedModule*, ModuleSchedule> all;
  };
  auto [entry, is_new] = Machine::get<Schedules>().all.try_emplace(module);
  if (is_new) entry->second = Builder(*module).take();
  return entry->second;
}

}  // namespace warplings::sim

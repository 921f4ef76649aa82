#include "decode/wide_registers.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "decode/opcodes.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Operand half_of(const Operand& whole, const char* suffix) {
  Operand half = whole;
  half.name += suffix;
  return half;
}

class Splitter {
 public:
  explicit Splitter(ptx::Function& function) : function_(function) {}

  void run() {
    if (!split_registers()) return;
    std::vector<Instruction> body;
    std::vector<int> moved_to;  // index of an instruction -> index in `body`
    for (Instruction& instruction : function_.body) {
      moved_to.push_back(static_cast<int>(body.size()));
      split(std::move(instruction), body);
    }
    moved_to.push_back(static_cast<int>(body.size()));
    function_.body = std::move(body);
    for (auto& [name, index] : function_.labels) index = moved_to[static_cast<size_t>(index)];
  }

 private:
  bool split_registers() {
    std::vector<ptx::Register> registers;
    for (const ptx::Register& reg : function_.registers) {
      if (reg.type != Type::kB128) {
        registers.push_back(reg);
        continue;
      }
      wide_.insert(reg.name);
      registers.push_back({reg.name + ".lo", Type::kB64});
      registers.push_back({reg.name + ".hi", Type::kB64});
    }
    function_.registers = std::move(registers);
    return !wide_.empty();
  }

  bool is_wide(const Operand& operand) const {
    return operand.kind == Operand::Kind::kRegister && wide_.contains(operand.name);
  }

  // {low half, high half}
  static Operand halves_of(const Operand& whole) {
    Operand pair;
    pair.kind = Operand::Kind::kVector;
    pair.elements = {half_of(whole, ".lo"), half_of(whole, ".hi")};
    return pair;
  }

  void split(Instruction instruction, std::vector<Instruction>& body) {
    std::vector<std::string>& modifiers = instruction.modifiers;
    const auto type = std::find(modifiers.begin(), modifiers.end(), "b128");
    bool any = false;
    for (Operand& operand : instruction.operands) {
      if (!is_wide(operand)) continue;
      operand = halves_of(operand);
      any = true;
    }
    if (!any || type == modifiers.end()) {
      body.push_back(std::move(instruction));
      return;
    }
    *type = "b64";
    if (instruction.row->computes == Computes::kCopy) {
      split_move(instruction, body);
      return;
    }
    if (is_load(instruction) || is_store(instruction)) modifiers.insert(type, "v2");
    body.push_back(std::move(instruction));
  }

  // One mov for each half.
  static void split_move(const Instruction& instruction, std::vector<Instruction>& body) {
    const auto is_pair = [](const Operand& operand) {
      return operand.kind == Operand::Kind::kVector && operand.elements.size() == 2;
    };
    const std::vector<Operand>& operands = instruction.operands;
    if (operands.size() != 2 || !is_pair(operands[0]) || !is_pair(operands[1])) {
      body.push_back(instruction);
      return;
    }
    for (size_t i = 0; i < 2; ++i) {
      if (operands[0].elements[i].kind == Operand::Kind::kSink) continue;
      Instruction half = instruction;
      half.operands = {operands[0].elements[i], operands[1].elements[i]};
      body.push_back(std::move(half));
    }
  }

  ptx::Function& function_;
  std::unordered_set<std::string> wide_;
};

}  // namespace

void split_wide_registers(ptx::Function& function) { Splitter(function).run(); }

}  // namespace warplings::sim

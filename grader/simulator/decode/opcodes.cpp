#include "decode/opcodes.h"

#include <unordered_map>

namespace warplings::sim {
const OpcodeRow& opcode_row(std::string_view mnemonic) {
  // So that a row reads `.unit = kMemory`.
  using enum Results;
  using enum Computes;
  using enum Unit;
  using enum CostRule;
  using enum UndefinedRule;
  using enum AccessKind;
  using enum Flow;
  using enum Background;
  using enum VideoOp::Operation;
  static constexpr OpcodeRow kUnknown, kRows[] = {
#define OPCODE(mnemonic, family, written, forms, ...) \
  {.name = #mnemonic, .opcode = k_##mnemonic, .destinations = written __VA_OPT__(, ) __VA_ARGS__},
#include "decode/opcodes.def"
#undef OPCODE
                                       };
  static const auto* const rows = [] {
    auto* all = new std::unordered_map<std::string_view, const OpcodeRow*>;
    for (const OpcodeRow& row : kRows) all->emplace(row.name, &row);
    return all;
  }();
  const auto found = rows->find(mnemonic);
  return found == rows->end() ? kUnknown : *found->second;
}

Flow flow_of(const OpcodeRow& row) { return row.flow; }

int destinations_of(const ptx::Instruction& instruction) {
  const OpcodeRow& row = *instruction.row;
  if (row.results == Results::kOfReduction && instruction.has("red")) return 1;
  const bool has_address =
      !instruction.operands.empty() && instruction.operands[0].kind == ptx::Operand::Kind::kAddress;
  return row.results == Results::kUnlessAddress && has_address ? 0 : row.destinations;
}

}  // namespace warplings::sim

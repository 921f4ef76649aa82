// Marks plain loads whose address is that of an atomic which follows without a barrier between:
// the first guess of a compare-and-swap loop.
#include <string>

#include "decode/decoder.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

// "%rd1+4", or "" if the address is no register or symbol.
std::string address_text(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (operand.kind != Operand::Kind::kAddress || operand.elements.empty()) continue;
    return operand.elements[0].name + "+" + std::to_string(operand.bits);
  }
  return {};
}

bool is_barrier(const Instruction& instruction) {
  if (instruction.opcode != "bar" && instruction.opcode != "barrier") return false;
  for (const std::string& modifier : instruction.modifiers) {
    if (modifier == "warp") return false;
  }
  return true;
}

}  // namespace

// The text stands for the flow of control: compilers put a loop behind the load that starts it.
bool is_first_guess(const ptx::Function& function, const Instruction& load) {
  const std::string address = address_text(load);
  if (address.empty()) return false;
  bool behind = false;
  for (const auto& instruction : function.body) {
    if (&instruction == &load) {
      behind = true;
    } else if (behind && is_barrier(instruction)) {
      return false;
    } else if (behind && instruction.opcode == "atom" && address_text(instruction) == address) {
      return true;
    }
  }
  return false;
}

}  // namespace warplings::sim

// Marks plain loads whose address is that of an atomic which follows without a barrier between:
// the first guess of a compare-and-swap loop.
#include <algorithm>
#include <string>
#include <vector>

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

// The instructions that may follow `index`; none behind a barrier or the end of the function.
void add_next(const ptx::Function& function, size_t index, std::vector<size_t>* next) {
  const Instruction& instruction = function.body[index];
  const std::string& opcode = instruction.opcode;
  const bool guarded = !instruction.guard.empty();
  const bool leaves = opcode == "ret" || opcode == "exit" || opcode == "trap" || opcode == "brx";
  if (is_barrier(instruction) || (leaves && !guarded)) return;
  if (opcode == "bra" && !instruction.operands.empty()) {
    const auto label = function.labels.find(instruction.operands.at(0).name);
    if (label != function.labels.end()) next->push_back(static_cast<size_t>(label->second));
    if (!guarded) return;
  }
  next->push_back(index + 1);
}

}  // namespace

bool is_first_guess(const ptx::Function& function, const Instruction& load) {
  const std::string address = address_text(load);
  const auto is_atomic = [&](const Instruction& other) {
    return other.opcode == "atom" && address_text(other) == address;
  };
  if (address.empty() || std::none_of(function.body.begin(), function.body.end(), is_atomic)) {
    return false;
  }
  std::vector<bool> seen(function.body.size(), false);
  std::vector<size_t> waiting{static_cast<size_t>(&load - function.body.data())};
  while (!waiting.empty()) {
    const size_t index = waiting.back();
    waiting.pop_back();
    if (index >= function.body.size() || seen[index]) continue;
    seen[index] = true;
    if (is_atomic(function.body[index])) return true;
    add_next(function, index, &waiting);
  }
  return false;
}

}  // namespace warplings::sim

// Registers that hold one value for the whole warp.
#include <algorithm>

#include "decode/assembler_view.h"
#include "decode/decoder.h"

namespace warplings::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

bool is_uniform_special(const std::string& name) {
  for (const char* prefix : {"%ctaid", "%nctaid", "%ntid", "%gridid", "%dynamic_smem_size",
                             "%total_smem_size", "WARP_SZ"}) {
    if (name.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

// Results that depend on the operands alone.
bool is_pure(const Instruction& in) { return in.row->uniform || (is_load(in) && in.has("param")); }

}  // namespace

std::unordered_set<std::string> uniform_registers(const ptx::Function& function) {
  std::unordered_set<std::string> uniform;
  if (!function.is_entry) return uniform;  // arguments of a device function may differ
  std::unordered_map<std::string, int> definitions;
  for (const Instruction& in : function.body) {
    for_each_result(in, [&](const std::string& name) { ++definitions[name]; });
  }
  const auto is_uniform = [&](const Operand& operand, auto& self) -> bool {
    if (operand.kind == Operand::Kind::kRegister) return uniform.contains(operand.name);
    if (operand.kind == Operand::Kind::kSpecial) return is_uniform_special(operand.name);
    return std::all_of(operand.elements.begin(), operand.elements.end(),
                       [&](const Operand& element) { return self(element, self); });
  };
  // A definition may stand before that of its operand in the text: until nothing is added.
  for (size_t before = SIZE_MAX; before != uniform.size();) {
    before = uniform.size();
    for (const Instruction& in : function.body) {
      if (!is_pure(in) || !in.guard.empty()) continue;
      const size_t first = static_cast<size_t>(destinations_of(in));
      const bool sources =
          std::all_of(in.operands.begin() + static_cast<long>(std::min(first, in.operands.size())),
                      in.operands.end(),
                      [&](const Operand& operand) { return is_uniform(operand, is_uniform); });
      if (!sources) continue;
      for_each_result(in, [&](const std::string& name) {
        if (definitions[name] == 1) uniform.insert(name);
      });
    }
  }
  return uniform;
}

}  // namespace warplings::sim

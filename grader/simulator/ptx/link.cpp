#include "ptx/link.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace warplings::sim::ptx {
namespace {

using Renames = std::unordered_map<std::string, std::string>;

void rename(std::string& name, const Renames& renames) {
  const auto found = renames.find(name);
  if (found != renames.end()) name = found->second;
}

void rename(Operand& operand, const Renames& renames) {
  if (operand.kind == Operand::Kind::kSymbol) rename(operand.name, renames);
  for (Operand& element : operand.elements) rename(element, renames);
}

// Names of the function itself hide those of the module.
void rename_in_body(Function& function, Renames renames) {
  for (const Variable& variable : function.variables) renames.erase(variable.name);
  for (const Variable& parameter : function.params) renames.erase(parameter.name);
  for (const Variable& result : function.returns) renames.erase(result.name);
  for (const auto& [label, at] : function.labels) renames.erase(label);
  for (auto& [label, targets] : function.target_lists) {
    renames.erase(label);
    for (std::string& target : targets) rename(target, renames);
  }
  for (Instruction& instruction : function.body) {
    for (Operand& operand : instruction.operands) rename(operand, renames);
  }
}

class Linker {
 public:
  explicit Linker(std::unique_ptr<Module> first) : out_(std::move(first)) {
    for (size_t i = 0; i < out_->variables.size(); ++i) variables_[out_->variables[i].name] = i;
    for (size_t i = 0; i < out_->functions.size(); ++i) functions_[out_->functions[i].name] = i;
  }

  void add(Module unit) {
    ++units_;
    keep_apart(unit);
    shift_positions(unit);
    for (Variable& variable : unit.variables) add(std::move(variable));
    for (Function& function : unit.functions) add(std::move(function));
    for (auto& [name, target] : unit.aliases) out_->aliases.try_emplace(name, target);
    out_->version_major = std::max(out_->version_major, unit.version_major);
    out_->version_minor = std::max(out_->version_minor, unit.version_minor);
  }

  std::unique_ptr<Module> take() { return std::move(out_); }

 private:
  bool is_known(const std::string& name) const {
    return variables_.contains(name) || functions_.contains(name);
  }

  // A name of either side that is internal must not meet the other side's.
  void keep_apart(Module& unit) {
    Renames of_unit, of_out;
    const auto compare = [&](const std::string& name, Linkage linkage) {
      if (!is_known(name)) return;
      if (linkage == Linkage::kInternal) {
        of_unit[name] = name + "$unit" + std::to_string(units_);
      } else if (linkage_of(name) == Linkage::kInternal) {
        of_out[name] = name + "$unit_before" + std::to_string(units_);
      }
    };
    for (const Variable& variable : unit.variables) compare(variable.name, variable.linkage);
    for (const Function& function : unit.functions) compare(function.name, function.linkage);
    rename_all(unit, of_unit);
    if (of_out.empty()) return;
    rename_all(*out_, of_out);
    for (const auto& [before, after] : of_out) {
      for (auto* const index : {&variables_, &functions_}) {
        auto node = index->extract(before);
        if (node.empty()) continue;
        node.key() = after;
        index->insert(std::move(node));
      }
    }
  }

  static void rename_all(Module& module, const Renames& renames) {
    if (renames.empty()) return;
    for (Variable& variable : module.variables) {
      rename(variable.name, renames);
      for (Variable::Relocation& relocation : variable.relocations) {
        rename(relocation.symbol, renames);
      }
    }
    for (Function& function : module.functions) {
      rename(function.name, renames);
      rename_in_body(function, renames);
    }
    std::unordered_map<std::string, std::string> aliases;
    for (const auto& [name, target] : module.aliases) {
      std::string new_name = name, new_target = target;
      rename(new_name, renames);
      rename(new_target, renames);
      aliases[new_name] = new_target;
    }
    module.aliases = std::move(aliases);
  }

  // Files, lines and locations of a unit come after those of the units before it.
  void shift_positions(Module& unit) {
    const int files = static_cast<int>(out_->files.size()) - 1;  // [0] is empty in both
    const int locations = static_cast<int>(out_->locations.size());
    const int lines = static_cast<int>(std::count(out_->text.begin(), out_->text.end(), '\n')) + 1;
    for (SourceLocation& location : unit.locations) {
      if (location.file > 0) location.file += files;
      if (location.inlined_at >= 0) location.inlined_at += locations;
      out_->locations.push_back(location);
    }
    for (size_t i = 1; i < unit.files.size(); ++i) out_->files.push_back(std::move(unit.files[i]));
    for (Function& function : unit.functions) {
      for (Instruction& instruction : function.body) {
        if (instruction.location >= 0) instruction.location += locations;
        instruction.text_line += lines;
      }
    }
    out_->text += '\n';
    out_->text += unit.text;
  }

  Linkage linkage_of(const std::string& name) const {
    const auto variable = variables_.find(name);
    if (variable != variables_.end()) return out_->variables[variable->second].linkage;
    return out_->functions[functions_.at(name)].linkage;
  }

  void add(Variable variable) {
    if (functions_.contains(variable.name)) {
      throw LinkError("\"" + variable.name +
                      "\" is a function in one file, a variable in another.");
    }
    const auto [entry, is_new] = variables_.try_emplace(variable.name, out_->variables.size());
    if (is_new) {
      out_->variables.push_back(std::move(variable));
      return;
    }
    Variable& known = out_->variables[entry->second];
    if (variable.linkage == Linkage::kExtern) {
      known.alignment = std::max(known.alignment, variable.alignment);  // dynamic shared memory
      return;
    }
    if (variable.linkage == Linkage::kWeak && known.linkage != Linkage::kExtern) return;
    if (known.linkage == Linkage::kExtern || known.linkage == Linkage::kWeak) {
      known = std::move(variable);
    } else {
      throw LinkError("The variable \"" + variable.name + "\" is defined in two files.");
    }
  }

  void add(Function function) {
    if (variables_.contains(function.name)) {
      throw LinkError("\"" + function.name +
                      "\" is a variable in one file, a function in another.");
    }
    const auto [entry, is_new] = functions_.try_emplace(function.name, out_->functions.size());
    if (is_new) {
      out_->functions.push_back(std::move(function));
      return;
    }
    Function& known = out_->functions[entry->second];
    if (function.is_declaration) return;
    if (function.linkage == Linkage::kWeak && !known.is_declaration) return;
    if (known.is_declaration || known.linkage == Linkage::kWeak) {
      known = std::move(function);
    } else {
      throw LinkError("The function \"" + function.name + "\" is defined in two files.");
    }
  }

  std::unique_ptr<Module> out_;
  std::unordered_map<std::string, size_t> variables_, functions_;  // name -> index
  int units_ = 1;
};

}  // namespace

std::unique_ptr<Module> link(std::vector<std::unique_ptr<Module>> modules) {
  Linker linker(std::move(modules.front()));
  for (size_t i = 1; i < modules.size(); ++i) linker.add(std::move(*modules[i]));
  return linker.take();
}

}  // namespace warplings::sim::ptx

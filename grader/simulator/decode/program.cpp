#include "decode/program.h"

namespace warplings::sim {
namespace {

bool is_toolkit_header(const std::string& file) {
  for (const char* part : {"/targets/x86_64-linux/include/", "/targets/sbsa-linux/include/",
                           "/nvidia/cu13/include/", "/crt/", ".toolkit/"}) {
    if (file.find(part) != std::string::npos) return true;
  }
  // ".../cuda/include/", ".../cuda-13.0/include/"
  const size_t include = file.find("/include/");
  if (include == std::string::npos || include == 0) return false;
  const size_t folder = file.rfind('/', include - 1);
  return folder != std::string::npos && file.compare(folder, 5, "/cuda") == 0;
}

}  // namespace

bool LoadedModule::is_constant(uint64_t address) const {
  for (const ptx::Variable& variable : source->variables) {
    if (variable.space != ptx::Space::kConst) continue;
    const auto it = variables.find(variable.name);
    if (it == variables.end()) continue;
    if (address - it->second.address < it->second.size) return true;
  }
  return false;
}

int LoadedModule::function_at(uint32_t pc) const {
  for (size_t i = 0; i < functions.size(); ++i) {
    if (functions[i].is_defined && pc >= functions[i].entry && pc < functions[i].end) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

int LoadedModule::location_of(uint32_t pc) const {
  const Function& function = functions[function_at(pc)];
  // The compiler marks merged code with line 0: the last real line before it is the best answer.
  for (uint32_t at = pc + 1; at-- > function.entry;) {
    const int location = at < locations.size() ? locations[at] : -1;
    if (location >= 0 && source->locations[location].line != 0) return location;
  }
  return -1;
}

CodePosition LoadedModule::position_of(uint32_t pc) const { return position_at(location_of(pc)); }

CodePosition LoadedModule::position_at(int location) const {
  CodePosition out;
  if (location < 0) return out;
  const ptx::SourceLocation& innermost = source->locations[location];
  const auto file = [&](const ptx::SourceLocation& l) {
    return l.file >= 0 && l.file < static_cast<int>(source->files.size()) ? source->files[l.file]
                                                                          : std::string();
  };
  out.innermost = {file(innermost), innermost.line};
  out.user = out.innermost;
  for (; location >= 0; location = source->locations[location].inlined_at) {
    const ptx::SourceLocation& l = source->locations[location];
    if (!is_toolkit_header(file(l)) && l.line > 0) {
      out.user = {file(l), l.line};
      break;
    }
  }
  const auto is_header = [](const std::string& name) {
    return name.size() < 3 || name.compare(name.size() - 3, 3, ".cu") != 0;
  };
  if (!is_header(out.user.file)) return out;
  for (; location >= 0; location = source->locations[location].inlined_at) {
    const ptx::SourceLocation& l = source->locations[location];
    if (l.line <= 0 || is_header(file(l))) continue;
    out.caller = {file(l), l.line};
    break;
  }
  return out;
}

}  // namespace warplings::sim

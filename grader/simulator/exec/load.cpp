// Loading a module: its variables get addresses, its functions are decoded.
#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "core/machine.h"
#include "decode/assembler_view.h"
#include "decode/decoder.h"
#include "decode/handlers.h"
#include "decode/wide_registers.h"
#include "exec/launch.h"
#include "memory/device_memory.h"

namespace warplings::sim {
namespace {

using ptx::Variable;

uint64_t aligned(uint64_t offset, uint64_t alignment) {
  alignment = std::max<uint64_t>(alignment, 1);
  return (offset + alignment - 1) / alignment * alignment;
}
uint64_t alignment_of(const Variable& variable) {
  return std::max<uint64_t>(
      {variable.alignment, static_cast<uint64_t>(ptx::size_of(variable.type)), 1});
}

// "_ZN7cutlass6KernelIN..." -> "cutlass::Kernel<...>", for a name that the C++ library gives up on,
// as it does on template arguments nested some twenty deep. The name itself if it is of no such
// form.
std::string scoped_name(const std::string& mangled) {
  std::string name;
  size_t at = mangled.rfind("_ZN", 0) == 0 ? 3 : 2;
  while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])) != 0) {
    size_t digits = 0;
    const size_t length = std::stoul(mangled.substr(at), &digits);
    const std::string part = mangled.substr(at + digits, length);
    at += digits + length;
    if (part.rfind("_GLOBAL__N_", 0) == 0) continue;  // an anonymous namespace
    name += (name.empty() ? "" : "::") + part;
  }
  if (name.empty()) return mangled;
  return at < mangled.size() && mangled[at] == 'I' ? name + "<...>" : name;
}

// "void kernel<int>(float*)" -> "kernel<int>"
std::string demangle(const std::string& mangled) {
  int status = 0;
  char* text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (status != 0 || text == nullptr) {
    return mangled.rfind("_Z", 0) == 0 ? scoped_name(mangled) : mangled;
  }
  std::string name = text;
  std::free(text);
  const std::string anonymous = "(anonymous namespace)::";
  for (size_t at; (at = name.find(anonymous)) != std::string::npos;)
    name.erase(at, anonymous.size());
  // The parameter list is the last parenthesis at depth 0 of templates.
  int depth = 0;
  size_t end = name.size();
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    if (c == '>') --depth;
    if (c == '(' && depth == 0) {
      end = i;
      break;
    }
  }
  name.resize(end);
  depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == ' ' && depth == 0 && i > 0) begin = i + 1;  // after the return type
  }
  return name.substr(begin);
}

// A variable as its file calls it: without namespaces, among them those that the compiler makes up.
std::string own_name(const std::string& mangled) {
  const std::string name = demangle(mangled);
  const size_t at = name.rfind("::");
  return at == std::string::npos || name.find('<') != std::string::npos ? name
                                                                        : name.substr(at + 2);
}

class Loader {
 public:
  Loader(std::unique_ptr<ptx::Module> source, int device, const LoadedModule* first)
      : module_(new LoadedModule), device_(device), first_(first) {
    module_->source = std::move(source);
    module_->device = device;
  }

  LoadedModule* load() {
    ptx::Module& source = *module_->source;
    for (size_t i = 0; i < source.functions.size(); ++i) declare(source.functions[i]);
    for (const Variable& variable : source.variables) place_variable(variable);
    for (const Variable& variable : source.variables) relocate(variable);
    lay_out_shared();
    for (ptx::Function& function : source.functions) {
      if (!function.is_declaration) decode(function);
    }
    note_order();
    return module_;
  }

 private:
  InnerOrder inner_order_of(const Instr& in) const {
    if (in.kind == Kind::kBarrier) {
      const bool partial =
          in.ops[2] != kNoPlace || in.imm == static_cast<int64_t>(BarrierMode::kArrive);
      return partial ? InnerOrder::kAny : InnerOrder::kNone;
    }
    if (in.kind != Kind::kWarpBarrier) return InnerOrder::kNone;
    if (is_register(in.ops[5])) return InnerOrder::kLanes;
    uint32_t members;
    std::memcpy(&members, module_->constants.data() + (in.ops[5] & 0x3fffffffu), sizeof(members));
    return members == 0xffffffffu ? InnerOrder::kWholeWarps : InnerOrder::kLanes;
  }

  // What racecheck and the scheduling of blocks must know of each kernel.
  void note_order() {
    Function called;  // all device functions together: a kernel that calls may reach any
    for (Function& function : module_->functions) {
      if (!function.is_defined) continue;
      for (uint32_t pc = function.entry; pc < function.end; ++pc) {
        const Instr& in = module_->code[pc];
        const bool shared_only = in.space == Space::kShared || in.space == Space::kLocal;
        if (in.strong && !shared_only) function.global_strong = true;
        if (in.fn == handler_fence() || in.acquires || in.releases) function.orders_blocks = true;
        function.inner_order = std::max(function.inner_order, inner_order_of(in));
      }
      if (function.is_entry) continue;
      called.global_strong = called.global_strong || function.global_strong;
      called.orders_blocks = called.orders_blocks || function.orders_blocks;
      called.inner_order = std::max(called.inner_order, function.inner_order);
      called.atomics = called.atomics || function.atomics;
      called.shared_atomics = called.shared_atomics || function.shared_atomics;
    }
    for (Function& function : module_->functions) {
      if (!function.has_calls) continue;
      function.global_strong = function.global_strong || called.global_strong;
      function.orders_blocks = function.orders_blocks || called.orders_blocks;
      function.inner_order = std::max(function.inner_order, called.inner_order);
      function.atomics = function.atomics || called.atomics;
      function.shared_atomics = function.shared_atomics || called.shared_atomics;
    }
  }

  void declare(const ptx::Function& function) {
    const auto known = module_->function_index.find(function.name);
    if (known != module_->function_index.end()) return;
    module_->function_index[function.name] = static_cast<int>(module_->functions.size());
    Function out;
    out.name = function.name;
    out.is_entry = function.is_entry;
    module_->functions.push_back(std::move(out));
  }

  void place_variable(const Variable& variable) {
    if (variable.space != ptx::Space::kGlobal && variable.space != ptx::Space::kConst) return;
    if (variable.is_managed && first_ != nullptr) {
      module_->variables[variable.name] = first_->variables.at(variable.name);
      return;
    }
    DeviceMemory& memory = DeviceMemory::instance();
    DecodedVariable decoded;
    decoded.size = variable.size;
    decoded.address = memory.allocate(std::max<uint64_t>(variable.size, 1), AllocationKind::kModule,
                                      own_name(variable.name), device_);
    if (decoded.address == 0) throw std::bad_alloc();
    if (variable.space == ptx::Space::kConst) memory.make_constant(decoded.address);
    // Fresh memory is zero: a large array costs nothing until it is used.
    std::copy_n(variable.initial.begin(), std::min<size_t>(variable.initial.size(), variable.size),
                memory.view(decoded.address));
    if (variable.is_managed) memory.make_host_visible(decoded.address);
    module_->variables[variable.name] = decoded;
  }

  // Initial values that are addresses of variables or functions.
  void relocate(const Variable& variable) {
    const auto it = module_->variables.find(variable.name);
    if (it == module_->variables.end() || (variable.is_managed && first_ != nullptr)) return;
    for (const Variable::Relocation& relocation : variable.relocations) {
      uint64_t value = 0;
      const auto target = module_->variables.find(relocation.symbol);
      const auto function = module_->function_index.find(relocation.symbol);
      if (target != module_->variables.end()) {
        value = target->second.address;
      } else if (function != module_->function_index.end()) {
        value = kFunctionAddressBase + 16 * static_cast<uint64_t>(function->second);
      }
      value += static_cast<uint64_t>(relocation.addend);
      if (relocation.width == 1) {  // one byte of the address: mask says which
        const int shift = relocation.mask == 0 ? 0 : __builtin_ctzll(relocation.mask) / 8 * 8;
        value = (value & relocation.mask) >> shift;
      }
      std::memcpy(DeviceMemory::instance().view(it->second.address + relocation.offset), &value,
                  relocation.width);
    }
  }

  static void add_names(const std::vector<ptx::Operand>& operands,
                        std::unordered_set<std::string>& names) {
    for (const ptx::Operand& operand : operands) {
      if (operand.kind == ptx::Operand::Kind::kSymbol) names.insert(operand.name);
      add_names(operand.elements, names);
    }
  }
  static void add_names(const ptx::Function& function, std::unordered_set<std::string>& names) {
    for (const ptx::Instruction& instruction : function.body) {
      add_names(instruction.operands, names);
    }
  }

  // Of `extern __shared__` arrays that a kernel names.
  uint64_t dynamic_alignment(const ptx::Function& kernel,
                             const std::unordered_set<std::string>& named) const {
    uint64_t most = 16;
    for (const std::vector<Variable>* variables :
         {&std::as_const(module_->source->variables), &kernel.variables}) {
      for (const Variable& variable : *variables) {
        const bool dynamic = variable.space == ptx::Space::kShared && variable.size == 0;
        if (dynamic && named.count(variable.name) != 0) {
          most = std::max(most, alignment_of(variable));
        }
      }
    }
    return most;
  }

  // Shared variables of the module that device functions name, and their own, come first, at the
  // same offset in every kernel; then those that the kernel names; then dynamic shared memory.
  void lay_out_shared() {
    const ptx::Module& source = *module_->source;
    uint64_t common = 0;
    bool device_functions = false;
    std::unordered_set<std::string> named;
    const auto add = [](std::unordered_map<std::string, uint32_t>& to, const Variable& variable,
                        uint64_t& offset) {
      if (variable.space != ptx::Space::kShared || variable.size == 0) return;
      offset = aligned(offset, alignment_of(variable));
      to[variable.name] = static_cast<uint32_t>(offset);
      offset += variable.size;
    };
    for (const ptx::Function& function : source.functions) {
      if (function.is_entry || function.is_declaration) continue;
      device_functions = true;
      add_names(function, named);
      for (const Variable& variable : function.variables) add(common_, variable, common);
    }
    for (const Variable& variable : source.variables) {
      if (named.count(variable.name) != 0) add(common_, variable, common);
    }
    uint64_t largest = 0;
    for (const ptx::Function& function : source.functions) {
      if (!function.is_entry) continue;
      uint64_t offset = common;
      Layout& layout = layouts_[function.name];
      named.clear();
      add_names(function, named);
      for (const Variable& variable : source.variables) {
        if (named.count(variable.name) != 0 && common_.count(variable.name) == 0) {
          add(layout.offsets, variable, offset);
        }
      }
      for (const Variable& variable : function.variables) add(layout.offsets, variable, offset);
      layout.statics = offset;
      layout.dynamic = aligned(offset, dynamic_alignment(function, named));
      largest = std::max(largest, layout.dynamic);
    }
    for (auto& [name, layout] : layouts_) {
      // A device function is decoded once, so its dynamic shared memory begins at one offset.
      if (device_functions) layout.dynamic = largest;
    }
    device_dynamic_ = aligned(largest, 16);
  }

  void decode(ptx::Function& function) {
    Function& out = module_->functions[module_->function_index[function.name]];
    std::unordered_map<std::string, uint32_t> shared = common_;
    uint64_t dynamic = device_dynamic_;
    const auto layout = layouts_.find(function.name);
    if (layout != layouts_.end()) {
      shared.insert(layout->second.offsets.begin(), layout->second.offsets.end());
      dynamic = layout->second.dynamic;
      out.shared_static = static_cast<uint32_t>(layout->second.statics);
      out.shared_dynamic_at = static_cast<uint32_t>(dynamic);
    }
    const auto add_dynamic = [&](const Variable& variable) {
      if (variable.space == ptx::Space::kShared && variable.size == 0) {
        shared[variable.name] = static_cast<uint32_t>(dynamic);
      }
    };
    for (const Variable& variable : module_->source->variables) add_dynamic(variable);
    for (const Variable& variable : function.variables) add_dynamic(variable);
    const auto remember = [&](const Variable& variable) {
      const auto at = shared.find(variable.name);
      if (variable.space != ptx::Space::kShared || variable.size == 0 || at == shared.end()) return;
      out.shared_variables.push_back(
          {variable.name, at->second, static_cast<uint32_t>(variable.size)});
    };
    for (const Variable& variable : module_->source->variables) remember(variable);
    for (const Variable& variable : function.variables) remember(variable);
    split_wide_registers(function);
    join_shared_accesses(*module_->source, function, shared);
    FunctionDecoder(*module_, function, out, shared).run();
    if (function.is_entry) make_kernel(function, out);
  }

  void make_kernel(const ptx::Function& source, const Function& function) {
    auto kernel = std::make_unique<Kernel>();
    kernel->name = source.name;
    kernel->demangled = demangle(source.name);
    kernel->module = module_;
    kernel->function = module_->function_index[source.name];
    for (const auto& [offset, size] : function.params) {
      kernel->params.push_back({offset, size});
      kernel->param_bytes = std::max(kernel->param_bytes, offset + size);
    }
    kernel->static_shared = function.shared_static;
    kernel->local_bytes = function.local_bytes;
    kernel->registers = static_cast<int>(std::min(255u, std::max(16u, function.registers_32 + 4)));
    const auto product = [](const int* n) {
      return n[0] == 0 ? 0 : n[0] * std::max(1, n[1]) * std::max(1, n[2]);
    };
    const int most = product(source.required_threads) != 0 ? product(source.required_threads)
                                                           : product(source.max_threads);
    const auto blocks = [&](int i) { return static_cast<unsigned>(source.cluster[i]); };
    kernel->cluster = {blocks(0), blocks(1), blocks(2)};
    if (most != 0) kernel->max_threads_per_block = std::min(1024, most);
    module_->kernels[source.name] = std::move(kernel);
  }

  struct Layout {
    std::unordered_map<std::string, uint32_t> offsets;
    uint64_t statics = 0, dynamic = 0;
  };
  LoadedModule* module_;
  const int device_;
  const LoadedModule* const first_;
  std::unordered_map<std::string, uint32_t> common_;
  std::unordered_map<std::string, Layout> layouts_;
  uint64_t device_dynamic_ = 0;
};

struct LoadedModules {
  std::vector<std::unique_ptr<LoadedModule>> all;
};

}  // namespace

LoadedModule* load_module(std::unique_ptr<ptx::Module> module, int device,
                          const LoadedModule* first) {
  LoadedModule* loaded = Loader(std::move(module), device, first).load();
  Machine::get<LoadedModules>().all.emplace_back(loaded);
  return loaded;
}

const Kernel* find_linked_kernel(const LoadedModule& from, const std::string& mangled_name) {
  const auto own = from.kernels.find(mangled_name);
  if (own != from.kernels.end()) return own->second.get();
  for (const auto& module : Machine::get<LoadedModules>().all) {
    if (module->device != from.device) continue;
    if (const Kernel* kernel = find_kernel(module.get(), mangled_name)) return kernel;
  }
  return nullptr;
}

const Kernel* find_kernel(LoadedModule* module, const std::string& mangled_name) {
  const auto it = module->kernels.find(mangled_name);
  return it == module->kernels.end() ? nullptr : it->second.get();
}

std::vector<const Kernel*> kernels_of(LoadedModule* module) {
  std::vector<const Kernel*> out;
  for (const ptx::Function& function : module->source->functions) {
    const auto it = module->kernels.find(function.name);
    if (it != module->kernels.end()) out.push_back(it->second.get());
  }
  return out;
}

uint64_t constant_bytes(const LoadedModule* module) {
  uint64_t bytes = 0;
  for (const Variable& variable : module->source->variables) {
    if (variable.space == ptx::Space::kConst) bytes += variable.size;
  }
  return bytes;
}

bool find_variable(LoadedModule* module, const std::string& name, uint64_t* address,
                   uint64_t* size) {
  const auto it = module->variables.find(name);
  if (it == module->variables.end()) return false;
  *address = it->second.address;
  *size = it->second.size;
  return true;
}

}  // namespace warplings::sim

// Families that touch memory or change the flow of control.
#include <algorithm>
#include <bit>

#include "decode/builtins.h"
#include "decode/decoder.h"
#include "decode/handlers.h"
#include "decode/isa.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

Space FunctionDecoder::take_space(Spec& spec) const {
  if (spec.take("global")) return Space::kGlobal;
  if (spec.take_one_of({"shared", "shared::cta", "shared::cluster"}) >= 0) return Space::kShared;
  if (spec.take("local")) return Space::kLocal;
  if (spec.take("const")) return Space::kConst;
  if (spec.take("param") || spec.take("param::entry") || spec.take("param::func")) {
    return source_.is_entry ? Space::kParamEntry : Space::kParamLocal;
  }
  return Space::kGeneric;
}

void FunctionDecoder::take_strength(Spec& spec, Instr& in) const {
  const int strength =
      spec.take_one_of({"volatile", "relaxed", "mmio", "acquire", "release", "acq_rel"});
  in.strong = strength >= 0;
  in.acquires = strength == 3 || strength == 5;
  in.releases = strength == 4 || strength == 5;
  spec.take("weak");
  in.scope = take_scope(spec, Scope::kSystem);
}

Scope FunctionDecoder::take_scope(Spec& spec, Scope otherwise) const {
  if (spec.take("cta")) return Scope::kBlock;
  if (spec.take("cluster") || spec.take("gpu") || spec.take("gl")) return Scope::kDevice;
  return spec.take("sys") ? Scope::kSystem : otherwise;
}

void FunctionDecoder::memory_address(const Operand& operand, Space space, Instr& in) {
  if (operand.kind != Operand::Kind::kAddress) throw Unsupported{"an address is expected"};
  in.imm = static_cast<int64_t>(operand.bits);
  in.space = space;
  if (operand.elements.empty()) return;  // absolute
  const Operand& base = operand.elements[0];
  if (base.kind == Operand::Kind::kRegister) {
    in.ops[4] = source(base, stored_size(base), Type::kU64);
    in.address_is_32bit = stored_size(base) == 4;
    return;
  }
  const auto param = params_.find(base.name);
  if (param != params_.end()) {
    if (space == Space::kParamEntry && !source_.is_entry) throw Unsupported{"no such parameter"};
    if (is_entry_param(base.name)) {
      in.imm += param->second.first;
    } else {
      // A parameter of a device function, or a variable of a call sequence: it lives in the frame.
      in.space = Space::kParamLocal;
      in.extra = param->second.first;
      in.target = param->second.second;
      if (in.imm < 0 || in.imm + in.size * in.vector > static_cast<int64_t>(in.target)) {
        throw Unsupported{"this lies outside of the parameter " + base.name};
      }
    }
    return;
  }
  const auto local = locals_.find(base.name);
  if (local != locals_.end()) {
    in.imm += local->second + static_cast<int64_t>(base.bits);
    in.extra = 1;  // relative to the frame
    return;
  }
  uint64_t value = 0;
  if (!symbol_value(base.name, &value)) {
    throw Unsupported{"the symbol " + base.name + " is not defined"};
  }
  if (space == Space::kGeneric && shared_offsets_.count(base.name) != 0) value += kSharedWindow;
  in.imm += static_cast<int64_t>(value + base.bits);
}

bool FunctionDecoder::is_entry_param(const std::string& name) const {
  if (!source_.is_entry) return false;
  for (const ptx::Variable& param : source_.params) {
    if (param.name == name) return true;
  }
  return false;
}

namespace {

int vector_width(Spec& spec) {
  if (spec.take("v2")) return 2;
  if (spec.take("v4")) return 4;
  return 1;
}

bool is_signed(Type type) { return type == Type::kS8 || type == Type::kS16 || type == Type::kS32; }

}  // namespace

void FunctionDecoder::decode_ld(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() < 2) throw Unsupported{"operands are missing"};
  const Space space = take_space(spec);
  take_strength(spec, in);
  in.cached = spec.take("nc");
  spec.take_cache_hints();
  in.vector = static_cast<uint8_t>(vector_width(spec));
  const Type type = spec.last_type();
  in.size = static_cast<uint8_t>(ptx::size_of(type));
  in.sign_extend = is_signed(type);
  const Operand& to = instruction.operands[0];
  if ((in.vector > 1) != (to.kind == Operand::Kind::kVector) || in.size == 0 || in.size > 8 ||
      (in.vector > 1 && to.elements.size() != in.vector)) {
    throw Unsupported{"this width is not supported"};
  }
  bool has_register = false;
  for (int k = 0; k < in.vector; ++k) {
    const Operand& part = in.vector > 1 ? to.elements[k] : to;
    in.ops[k] = any_destination(part);
    if (part.kind != Operand::Kind::kRegister) continue;
    if (has_register && in.register_size != stored_size(part)) {
      throw Unsupported{"registers of one width are expected"};
    }
    has_register = true;
    in.register_size = stored_size(part);
  }
  in.destinations = in.vector;
  memory_address(instruction.operands[1], space, in);
  in.fn = lanes().handler_load(in.space);
}

void FunctionDecoder::decode_st(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() < 2) throw Unsupported{"operands are missing"};
  if (spec.take("async")) return decode_async_store(instruction, spec, in);
  const Space space = take_space(spec);
  take_strength(spec, in);
  spec.take_cache_hints();
  in.vector = static_cast<uint8_t>(vector_width(spec));
  const Type type = spec.last_type();
  in.size = static_cast<uint8_t>(ptx::size_of(type));
  const Operand& from = instruction.operands[1];
  if ((in.vector > 1) != (from.kind == Operand::Kind::kVector) || in.size == 0 || in.size > 8 ||
      (in.vector > 1 && from.elements.size() != in.vector)) {
    throw Unsupported{"this width is not supported"};
  }
  in.register_size = in.size == 8 ? 8 : 4;
  for (int k = 0; k < in.vector; ++k) {
    const Operand& part = in.vector > 1 ? from.elements[k] : from;
    if (part.kind == Operand::Kind::kRegister && k == 0) in.register_size = stored_size(part);
    in.ops[k] = source(part, in.register_size, type);
  }
  in.sources = in.vector;
  memory_address(instruction.operands[0], space, in);
  if (in.space == Space::kConst) throw Unsupported{"constant memory cannot be written"};
  in.fn = lanes().handler_store(in.space);
}

// Seen in machine code: the lanes of an integer operation on one address are combined first and one
// lane goes to memory. Where the old value is used, that needs an operand that is the same in all
// lanes.
bool FunctionDecoder::is_aggregated(const Instruction& instruction, int bytes) const {
  const auto has = [&](std::string_view word) { return instruction.has(word); };
  const bool combines =
      has("add") || has("min") || has("max") || has("and") || has("or") || has("xor");
  if (!combines || bytes != 4 || has("f32") || has("f16x2") || has("bf16x2")) return false;
  const bool returns = instruction.row->destinations != 0;
  const auto is_uniform = [&](const Operand& operand) {
    return operand.kind != Operand::Kind::kRegister || uniform_.contains(operand.name);
  };
  const Operand& address = instruction.operands[returns ? 1 : 0];
  for (const Operand& base : address.elements) {
    if (!is_uniform(base)) return false;
  }
  if (!returns || instruction.operands[0].kind != Operand::Kind::kRegister) return true;
  const std::string& result = instruction.operands[0].name;
  const bool is_used =
      std::any_of(source_.body.begin(), source_.body.end(), [&](const Instruction& other) {
        return &other != &instruction &&
               (other.guard == result ||
                std::any_of(other.operands.begin(), other.operands.end(),
                            [&](const Operand& operand) { return operand.mentions(result); }));
      });
  return !is_used || (has("add") && is_uniform(instruction.operands[2]));
}

void FunctionDecoder::decode_atom(const Instruction& instruction, Spec& spec, Instr& in) {
  const bool returns = in.destinations != 0;
  if (spec.take("async")) return decode_async_store(instruction, spec, in);
  const std::vector<Operand>& operands = instruction.operands;
  const size_t first = returns ? 1 : 0;  // of the address
  if (operands.size() < first + 2) throw Unsupported{"operands are missing"};
  const Space space = take_space(spec);
  take_strength(spec, in);
  spec.take_cache_hints();
  spec.take("noftz");
  in.strong = true;
  const Type type = spec.last_type();
  const int bytes = ptx::size_of(type);
  const Operand& from = operands[first + 1];
  const bool is_vector = from.kind == Operand::Kind::kVector;
  in.vector = static_cast<uint8_t>(spec.take("v8") ? 8 : vector_width(spec));
  if (in.vector != (is_vector ? from.elements.size() : 1)) {
    throw Unsupported{"a vector has as many registers as its modifier says"};
  }
  if ((bytes != 2 && bytes != 4 && bytes != 8) || bytes * in.vector > 16) {
    throw Unsupported{"atomics of this width are not supported yet"};
  }
  in.size = static_cast<uint8_t>(bytes);
  in.register_size = bytes == 8 ? 8 : 4;
  const auto result = [&](const Operand& to) {
    if (!returns || to.kind == Operand::Kind::kSink) return kNoPlace;
    return destination(to, in.register_size);
  };
  if (is_vector) {
    const bool sinks = !returns || operands[0].kind == Operand::Kind::kSink;
    if (!sinks && operands[0].elements.size() != in.vector) {
      throw Unsupported{"vectors of one length are expected"};
    }
    std::vector<uint32_t> places;  // of results, then of operands
    for (size_t k = 0; k < in.vector; ++k) {
      places.push_back(sinks ? kNoPlace : result(operands[0].elements[k]));
    }
    for (const Operand& part : from.elements) {
      places.push_back(source(part, in.register_size, type));
    }
    in.extra = static_cast<uint32_t>(module_.lists.size());
    module_.lists.push_back(std::move(places));
  } else {
    in.ops[0] = result(operands[0]);
    in.ops[1] = source(from, in.register_size, type);
  }
  if (operands.size() > first + 2) in.ops[2] = source(operands[first + 2], in.register_size, type);
  in.sources = static_cast<uint8_t>(operands.size() - first - 1);
  memory_address(operands[first], space, in);
  if (space != Space::kGlobal && space != Space::kShared && space != Space::kGeneric) {
    throw Unsupported{"atomics work on global and shared memory"};
  }
  out_.atomics = out_.atomics || returns;
  out_.shared_atomics = out_.shared_atomics || (returns && space != Space::kGlobal);
  in.aggregated = is_aggregated(instruction, bytes);
  in.fn = pick_atomic(spec, type);
}

// Of the fences between proxies, that of the asynchronous one is told to the checks. That of
// .mbarrier_init is taken for one of everything: it covers more than the initialisation.
void FunctionDecoder::decode_fence(const Instruction& instruction, Spec& spec, Instr& in) {
  in.scope = take_scope(spec, Scope::kSystem);
  const bool orders_proxies = spec.take("proxy");
  spec.take("mbarrier_init");
  const bool of_maps = spec.take("tensormap::generic");
  const bool async = spec.take("async"), one_space = spec.take("global");
  for (const char* word : {"sc", "acq_rel", "acquire", "release", "alias", "tensormap", "generic",
                           "async::generic", "shared::cta", "shared::cluster",
                           "sync_restrict::shared::cta", "sync_restrict::shared::cluster"}) {
    spec.take(word);
  }
  if (of_maps && !instruction.operands.empty()) {
    in.size = 16;
    in.vector = 8;
    memory_address(instruction.operands[0], Space::kGeneric, in);
  }
  in.fn = of_maps                                 ? handler_map_fence(!instruction.operands.empty())
          : orders_proxies && async && !one_space ? handler_proxy_fence()
          : orders_proxies                        ? handler_nop()
                                                  : handler_fence();
}

void FunctionDecoder::decode_bra(const Instruction& instruction, Spec& spec, Instr& in) {
  spec.take("uni");
  in.kind = Kind::kBranch;
  in.target = label(instruction.operands.at(0).name);
}

void FunctionDecoder::decode_brx(const Instruction& instruction, Spec& spec, Instr& in) {
  spec.take("idx");
  spec.take("uni");
  in.kind = Kind::kBranchTable;
  in.ops[1] = source(instruction.operands.at(0), 4, Type::kU32);
  const auto list = source_.target_lists.find(instruction.operands.at(1).name);
  if (list == source_.target_lists.end()) throw Unsupported{"the list of targets is missing"};
  std::vector<uint32_t> targets;
  for (const std::string& name : list->second) targets.push_back(label(name));
  in.extra = static_cast<uint32_t>(module_.lists.size());
  module_.lists.push_back(std::move(targets));
}

void FunctionDecoder::decode_call(const Instruction& instruction, Spec& spec, Instr& in) {
  spec.take("uni");
  in.kind = Kind::kCall;
  CallSite site;
  size_t i = 0;
  const std::vector<Operand>& operands = instruction.operands;
  const auto add = [&](const Operand& list, std::vector<uint32_t>& offsets,
                       std::vector<uint32_t>& sizes) {
    for (const Operand& element : list.elements) {
      const auto [offset, size] = frame_param(element.name);
      offsets.push_back(offset);
      sizes.push_back(size);
    }
  };
  if (i < operands.size() && operands[i].kind == Operand::Kind::kParenList) {
    add(operands[i++], site.results, site.result_sizes);
  }
  if (i >= operands.size()) throw Unsupported{"the function to call is missing"};
  const Operand& callee = operands[i++];
  if (i < operands.size() && operands[i].kind == Operand::Kind::kParenList) {
    add(operands[i++], site.arguments, site.argument_sizes);
  }
  if (callee.kind == Operand::Kind::kRegister) {
    in.ops[0] = source(callee, 8, Type::kU64);
  } else {
    site.builtin = builtin_index(callee.name);
    const auto function = module_.function_index.find(callee.name);
    if (site.builtin < 0) {
      if (function == module_.function_index.end()) {
        throw Unsupported{"the function " + callee.name + " is not defined"};
      }
      site.function = function->second;
    }
  }
  out_.has_calls = true;
  in.extra = static_cast<uint32_t>(module_.calls.size());
  module_.calls.push_back(std::move(site));
}

// alloca d, bytes {, alignment}; stacksave d; stackrestore a
void FunctionDecoder::decode_stack(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  const int bytes = ptx::size_of(spec.last_type());
  if ((spec.last_type() != Type::kU32 && spec.last_type() != Type::kU64) || operands.empty()) {
    throw Unsupported{"a type of .u32 or .u64 and operands are expected"};
  }
  if (in.destinations == 0) {  // stackrestore
    in.ops[1] = source(operands[0], bytes, spec.last_type());
    in.source_size = static_cast<uint8_t>(bytes);
    in.fn = handler_stackrestore();
    return;
  }
  in.ops[0] = destination(operands[0], bytes);
  in.register_size = static_cast<uint8_t>(bytes);
  in.fn = handler_stacksave();
  if (spec.op == k_stacksave) return;
  in.ops[1] = source(operands.at(1), bytes, spec.last_type());
  in.sources = 1;
  in.imm = operands.size() > 2 ? static_cast<int64_t>(operands[2].bits) : 8;
  if (!std::has_single_bit(static_cast<uint64_t>(in.imm)) || in.imm > 512 * 1024) {
    throw Unsupported{"an alignment is a power of two"};
  }
  in.fn = handler_alloca();
}

void FunctionDecoder::decode_ret(const Instruction&, Spec& spec, Instr& in) {
  spec.take("uni");
  in.kind = source_.is_entry ? Kind::kExit : Kind::kReturn;
}
void FunctionDecoder::decode_exit(const Instruction&, Spec&, Instr& in) { in.kind = Kind::kExit; }
void FunctionDecoder::decode_trap(const Instruction&, Spec&, Instr& in) { in.kind = Kind::kTrap; }

void FunctionDecoder::decode_warp_barrier(const Instruction& instruction, Spec&, Instr& in) {
  in.kind = Kind::kWarpBarrier;
  in.ops[5] = source(instruction.operands.at(0), 4, Type::kB32);
}

// imm: the mode. ops: [0] result, [1] barrier, [2] threads or none, [3] predicate; extra 1:
// negated.
void FunctionDecoder::decode_barrier(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (spec.take("cluster")) return decode_cluster_barrier(instruction, spec, in);
  spec.take("cta");
  spec.take("aligned");
  if (spec.take("warp")) {
    spec.take("sync");
    decode_warp_barrier(instruction, spec, in);
    return;
  }
  in.kind = Kind::kBarrier;
  size_t i = 0;
  if (spec.take("red")) {
    const int mode = spec.take_one_of({"popc", "and", "or"});
    if (mode < 0 || operands.size() < 3) throw Unsupported{"this reduction is not supported"};
    in.imm = static_cast<int64_t>(BarrierMode::kPopc) + mode;
    const bool counts = in.imm == static_cast<int64_t>(BarrierMode::kPopc);
    in.ops[0] = counts ? destination(operands[i], 4) : predicate(operands[i]);
    ++i;
    in.ops[3] = predicate(operands.back());
    in.extra = operands.back().negated ? 1 : 0;
  } else if (spec.take("arrive")) {
    in.imm = static_cast<int64_t>(BarrierMode::kArrive);
  } else {
    spec.take("sync");
    in.imm = static_cast<int64_t>(BarrierMode::kSync);
  }
  if (i >= operands.size()) throw Unsupported{"the barrier number is missing"};
  const size_t end = in.ops[3] == kNoPlace ? operands.size() : operands.size() - 1;
  in.ops[1] = source(operands[i++], 4, Type::kU32);
  if (i < end) in.ops[2] = source(operands[i], 4, Type::kU32);
}

}  // namespace warplings::sim

// The frame of a function, operands, and the walk over its instructions. Families are in
// decode/families*.cpp.
#include "decode/decoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "decode/assembler_view.h"
#include "decode/special.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

FunctionDecoder::Family FunctionDecoder::family_of(Opcode opcode) {
  static constexpr Family kFamilies[] = {
#define OPCODE(mnemonic, family, ...) &FunctionDecoder::decode_##family,
#include "decode/opcodes.def"
#undef OPCODE
  };
  return kFamilies[static_cast<size_t>(opcode)];
}

namespace {

// Where the special registers lie in their area.
const std::unordered_map<std::string, uint32_t>& special_offsets() {
  static const auto* offsets =
      new std::unordered_map<std::string, uint32_t>{{"%tid.x", kTidX},
                                                    {"%tid.y", kTidY},
                                                    {"%tid.z", kTidZ},
                                                    {"%tid", kTidX},
                                                    {"%ntid.x", kNtidX},
                                                    {"%ntid.y", kNtidY},
                                                    {"%ntid.z", kNtidZ},
                                                    {"%ntid", kNtidX},
                                                    {"%ctaid.x", kCtaidX},
                                                    {"%ctaid.y", kCtaidY},
                                                    {"%ctaid.z", kCtaidZ},
                                                    {"%ctaid", kCtaidX},
                                                    {"%nctaid.x", kNctaidX},
                                                    {"%nctaid.y", kNctaidY},
                                                    {"%nctaid.z", kNctaidZ},
                                                    {"%nctaid", kNctaidX},
                                                    {"%laneid", kLaneId},
                                                    {"%warpid", kWarpId},
                                                    {"%nwarpid", kNWarpId},
                                                    {"%smid", kSmId},
                                                    {"%nsmid", kNSmId},
                                                    {"%lanemask_eq", kLanemaskEq},
                                                    {"%lanemask_le", kLanemaskLe},
                                                    {"%lanemask_lt", kLanemaskLt},
                                                    {"%lanemask_ge", kLanemaskGe},
                                                    {"%lanemask_gt", kLanemaskGt},
                                                    {"%dynamic_smem_size", kDynamicShared},
                                                    {"%total_smem_size", kTotalShared},
                                                    {"%aggr_smem_size", kAllShared},
                                                    {"%gridid", kGridId},
                                                    {"%tid.w", kZero},
                                                    {"%ctaid.w", kZero},
                                                    {"%ntid.w", kZero},
                                                    {"%nctaid.w", kZero},
                                                    {"%envreg1", kEnvReg1},
                                                    {"%envreg2", kEnvReg2},
                                                    {"%clusterid.x", kClusteridX},
                                                    {"%clusterid.y", kClusteridY},
                                                    {"%clusterid.z", kClusteridZ},
                                                    {"%nclusterid.x", kNclusteridX},
                                                    {"%nclusterid.y", kNclusteridY},
                                                    {"%nclusterid.z", kNclusteridZ},
                                                    {"%cluster_ctaid.x", kClusterCtaidX},
                                                    {"%cluster_ctaid.y", kClusterCtaidY},
                                                    {"%cluster_ctaid.z", kClusterCtaidZ},
                                                    {"%cluster_nctaid.x", kClusterNctaidX},
                                                    {"%cluster_nctaid.y", kClusterNctaidY},
                                                    {"%cluster_nctaid.z", kClusterNctaidZ},
                                                    {"%cluster_ctarank", kClusterCtarank},
                                                    {"%cluster_nctarank", kClusterNctarank},
                                                    {"%is_explicit_cluster", kIsExplicitCluster}};
  return *offsets;
}

// Registers that the assembler gives to a thread where the bounds of the kernel say how many
// threads share those of a multiprocessor. 0: they do not say.
uint32_t launch_registers(const ptx::Function& source) {
  // An instruction names 255 registers; the assembler takes whole steps of them.
  constexpr int kAll = 65536, kMost = 255, kStep = 8;
  if (source.max_registers != 0) return (source.max_registers + kStep - 1) / kStep * kStep;
  const int* bounds = source.max_threads;
  const int threads = bounds[0] * std::max(1, bounds[1]) * std::max(1, bounds[2]);
  if (threads == 0) return 0;
  const int each = std::min(kMost, kAll / std::max(1, source.min_blocks_per_sm) / threads);
  return static_cast<uint32_t>(each / kStep * kStep);
}

}  // namespace

FunctionDecoder::FunctionDecoder(LoadedModule& module, const ptx::Function& source, Function& out,
                                 const std::unordered_map<std::string, uint32_t>& shared_offsets)
    : module_(module), source_(source), out_(out), shared_offsets_(shared_offsets) {
  for (const ptx::Register& reg : source.registers) register_types_[reg.name] = reg.type;
}

void FunctionDecoder::lay_out_frame() {
  registers_ = allocate_registers(source_);
  out_.register_bytes = registers_.slots * kSlot;
  out_.registers_32 = registers_.peak_32;
  if (source_.is_entry) out_.launch_registers = launch_registers(source_);
  uint32_t frame = out_.register_bytes;
  const auto add_param = [&](const ptx::Variable& variable) {
    const uint32_t size = static_cast<uint32_t>(std::max<uint64_t>(variable.size, 1));
    const uint32_t rounded = (size + 15) / 16 * 16;
    params_[variable.name] = {frame, rounded};
    frame += 32 * rounded;
    return std::pair<uint32_t, uint32_t>{params_[variable.name].first, rounded};
  };
  if (source_.is_entry) {
    uint32_t offset = 0;
    for (const ptx::Variable& param : source_.params) {
      const uint32_t align = static_cast<uint32_t>(
          std::max<uint64_t>(param.alignment, std::max(1, ptx::size_of(param.type))));
      offset = (offset + align - 1) / align * align;
      params_[param.name] = {offset, static_cast<uint32_t>(param.size)};
      out_.params.push_back({offset, static_cast<uint32_t>(param.size)});
      offset += static_cast<uint32_t>(param.size);
    }
  } else {
    for (const ptx::Variable& param : source_.params) out_.params.push_back(add_param(param));
    for (const ptx::Variable& result : source_.returns) out_.results.push_back(add_param(result));
  }
  uint32_t local = 0;
  for (const ptx::Variable& variable : source_.variables) {
    if (variable.space == ptx::Space::kParam) add_param(variable);
    if (variable.space == ptx::Space::kLocal) {
      const uint32_t align = static_cast<uint32_t>(std::max<uint64_t>(variable.alignment, 16));
      local = (local + align - 1) / align * align;
      locals_[variable.name] = local;
      local += static_cast<uint32_t>(variable.size);
    }
  }
  out_.local_bytes = (local + 15) / 16 * 16;
  out_.frame_bytes = (frame + kSlot - 1) / kSlot * kSlot;
}

void FunctionDecoder::run() {
  lay_out_frame();
  const bool atomics =
      std::any_of(source_.body.begin(), source_.body.end(),
                  [](const Instruction& in) { return in.row->access == AccessKind::kAtomic; });
  if (atomics) uniform_ = uniform_registers(source_);
  out_.entry = static_cast<uint32_t>(module_.code.size());
  for (const Instruction& instruction : source_.body) decode_one(instruction);
  // A body may end in a label: whoever runs off the end returns.
  Instr end;
  end.kind = source_.is_entry ? Kind::kExit : Kind::kReturn;
  module_.code.push_back(end);
  module_.locations.push_back(-1);
  module_.text_lines.push_back(0);
  out_.end = static_cast<uint32_t>(module_.code.size());
  out_.is_defined = true;
}

void FunctionDecoder::decode_one(const Instruction& instruction) {
  Instr in;
  try {
    const OpcodeRow& row = *instruction.row;
    if (row.name.empty()) throw Unsupported{"this instruction is not in the simulator's table"};
    Spec spec(instruction);
    in.destinations = static_cast<uint8_t>(destinations_of(instruction));
    in.undefined_rule = row.undefined;
    if (!instruction.guard.empty()) {
      Operand guard;
      guard.kind = Operand::Kind::kRegister;
      guard.name = instruction.guard;
      in.guard = predicate(guard);
      in.guard_negated = instruction.guard_negated;
    }
    try {
      (this->*family_of(row.opcode))(instruction, spec, in);
    } catch (const std::out_of_range&) {
      throw Unsupported{"operands are missing"};
    }
    if (in.kind == Kind::kStraight && in.fn == nullptr) {
      throw Unsupported{"this combination of types and modifiers is not supported"};
    }
    const std::string unknown = spec.unknown();
    if (!unknown.empty()) throw Unsupported{"the modifier ." + unknown + " is not supported here"};
  } catch (const Unsupported& unsupported) {
    in = Instr{};
    in.kind = Kind::kUnsupported;
    in.extra = static_cast<uint32_t>(module_.messages.size());
    module_.messages.push_back(unsupported.reason);
  }
  module_.code.push_back(in);
  module_.locations.push_back(instruction.location);
  module_.text_lines.push_back(instruction.text_line);
}

uint32_t FunctionDecoder::label(const std::string& name) const {
  const auto it = source_.labels.find(name);
  if (it == source_.labels.end()) throw Unsupported{"the label " + name + " does not exist"};
  return out_.entry + static_cast<uint32_t>(it->second);
}

Type FunctionDecoder::register_type(const Operand& operand) const {
  const auto it = register_types_.find(operand.name);
  return it == register_types_.end() ? Type::kNone : it->second;
}

uint8_t FunctionDecoder::stored_size(const Operand& operand) const {
  return ptx::size_of(register_type(operand)) == 8 ? 8 : 4;
}

Place FunctionDecoder::constant(uint64_t bits, int bytes) {
  if (bytes == 4) bits &= 0xffffffffu;
  const auto it = constants_.find({bits, bytes});
  if (it != constants_.end()) return it->second;
  const Place at = place(kAreaConstants, static_cast<uint32_t>(module_.constants.size()));
  module_.constants.resize(module_.constants.size() + 32 * bytes);
  uint8_t* lanes = module_.constants.data() + (at & 0x3fffffffu);
  for (int i = 0; i < 32; ++i) std::memcpy(lanes + i * bytes, &bits, bytes);
  return constants_[{bits, bytes}] = at;
}

Place FunctionDecoder::special(const std::string& name) {
  const auto it = special_offsets().find(name);
  // Performance counters that nobody has programmed, other registers of the environment, and the
  // part of shared memory that belongs to the system, which is empty here.
  const bool is_zero = name.starts_with("%envreg") || name.starts_with("%pm") ||
                       name.starts_with("%reserved_smem_offset_");
  const bool unknown = it == special_offsets().end();
  if (unknown && is_zero) return place(kAreaSpecial, kZero);
  if (unknown) throw Unsupported{"the special register " + name + " is not supported"};
  return place(kAreaSpecial, it->second);
}

bool FunctionDecoder::symbol_value(const std::string& name, uint64_t* value) const {
  const auto shared = shared_offsets_.find(name);
  if (shared != shared_offsets_.end()) {
    *value = shared->second;
    return true;
  }
  const auto variable = module_.variables.find(name);
  if (variable != module_.variables.end()) {
    *value = variable->second.address;
    return true;
  }
  const auto function = module_.function_index.find(name);
  if (function != module_.function_index.end()) {
    *value = kFunctionAddressBase + 16 * static_cast<uint64_t>(function->second);
    return true;
  }
  if (source_.is_entry) {
    const auto param = params_.find(name);
    if (param != params_.end()) {
      *value = param->second.first;
      return true;
    }
  }
  return false;
}

uint64_t FunctionDecoder::immediate(const Operand& operand, Type type) const {
  if (operand.kind == Operand::Kind::kFloat64 && type == Type::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
  }
  if (operand.kind == Operand::Kind::kFloat32 && type == Type::kF64) {
    return std::bit_cast<uint64_t>(
        static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(operand.bits))));
  }
  if (operand.kind == Operand::Kind::kInteger && type == Type::kPred) {
    return operand.bits != 0 ? ~uint64_t{0} : 0;
  }
  return operand.bits;
}

Place FunctionDecoder::source(const Operand& operand, int bytes, Type type) {
  if (!operand.selector.empty() || (operand.negated && type != Type::kPred)) {
    throw Unsupported{"this instruction takes no part and no negation of a register"};
  }
  switch (operand.kind) {
    case Operand::Kind::kRegister: {
      const bool is_predicate = register_type(operand) == Type::kPred;
      if (is_predicate != (type == Type::kPred)) {
        throw Unsupported{operand.name + (is_predicate ? " is a predicate" : " is no predicate")};
      }
      if (stored_size(operand) != bytes) {
        throw Unsupported{"the register " + operand.name + " has another width than the operation"};
      }
      return place_of(operand);
    }
    case Operand::Kind::kSpecial:
      if (operand.name == "WARP_SZ") return constant(32, bytes);
      if (bytes == 8 && operand.name != "%gridid") {
        throw Unsupported{"the special register " + operand.name + " has 32 bits"};
      }
      return special(operand.name);
    case Operand::Kind::kInteger:
    case Operand::Kind::kFloat32:
    case Operand::Kind::kFloat64:
      return constant(immediate(operand, type), bytes);
    case Operand::Kind::kSymbol: {
      uint64_t value = 0;
      if (!symbol_value(operand.name, &value)) {
        throw Unsupported{"the symbol " + operand.name + " is not defined"};
      }
      return constant(value + operand.bits, bytes);
    }
    default:
      throw Unsupported{"an operand of this kind is not supported here"};
  }
}

Place FunctionDecoder::place_of(const Operand& reg) const {
  const auto it = registers_.slot.find(reg.name);
  if (it == registers_.slot.end()) {
    throw Unsupported{"the register " + reg.name + " is not declared"};
  }
  return place(kAreaRegisters, it->second * kSlot);
}

Place FunctionDecoder::destination(const Operand& operand, int bytes) {
  if (operand.kind != Operand::Kind::kRegister) throw Unsupported{"the result must be a register"};
  return source(operand, bytes, Type::kNone);
}

Place FunctionDecoder::any_destination(const Operand& operand) {
  return operand.kind == Operand::Kind::kSink ? kNoPlace
                                              : destination(operand, stored_size(operand));
}

Place FunctionDecoder::predicate_destination(const Operand& operand) {
  if (operand.kind == Operand::Kind::kSink) return kNoPlace;
  if (operand.kind != Operand::Kind::kRegister) throw Unsupported{"the result must be a register"};
  return predicate(operand);
}

Place FunctionDecoder::predicate(const Operand& operand) { return source(operand, 4, Type::kPred); }

void FunctionDecoder::sources(const Instruction& instruction, Instr& in, size_t first, int bytes,
                              Type type) {
  for (size_t i = first; i < instruction.operands.size(); ++i) {
    if (i >= 6) throw Unsupported{"too many operands"};
    in.ops[i] = source(instruction.operands[i], bytes, type);
  }
  in.sources = static_cast<uint8_t>(instruction.operands.size() - first);
}

std::pair<uint32_t, uint32_t> FunctionDecoder::frame_param(const std::string& name) const {
  const auto it = params_.find(name);
  if (it == params_.end()) throw Unsupported{"the parameter " + name + " is not declared"};
  return it->second;
}

}  // namespace warplings::sim

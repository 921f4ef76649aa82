// Families of opcodes without memory or control flow: operands and handlers.
#include <algorithm>

#include "decode/decoder.h"
#include "decode/handlers.h"
#include "decode/isa.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

bool is_float(Type type) { return type == Type::kF32 || type == Type::kF64; }
bool is_half(Type type) {
  return type == Type::kF16 || type == Type::kF16x2 || type == Type::kBF16 || type == Type::kBF16x2;
}
bool is_float_or_half(Type type) { return is_float(type) || is_half(type); }
int lane_bytes(Type type) { return ptx::size_of(type) == 8 ? 8 : 4; }

// Rounding | ftz << 2 | sat << 3 | integer << 4 | relu << 5 (cvt: satfinite << 7; min and max of
// halves: xorsign.abs << 6): what the float handlers expect in imm.
int64_t float_flags(Spec& spec) {
  int64_t flags = static_cast<int64_t>(spec.take_rounding());
  if (spec.take("ftz")) flags |= 4;
  if (spec.take("sat")) flags |= 8;
  if (spec.take("relu")) flags |= 32;
  return flags;
}

bool is_pair(Type type) { return type == Type::kF16x2 || type == Type::kBF16x2; }

// What `set` writes where the comparison holds: 1.0, or all bits. For each half, if the sources are
// pairs.
uint32_t true_value(Type to, Type from) {
  switch (to) {
    case Type::kF32:
      return 0x3f800000u;
    case Type::kF16:
    case Type::kF16x2:
      return 0x3c00u;
    case Type::kBF16:
    case Type::kBF16x2:
      return 0x3f80u;
    default:
      return is_pair(from) || ptx::size_of(to) == 2 ? 0xffffu : 0xffffffffu;
  }
}

// Bytes of the source that a constant operand lets through: x & 0xff keeps byte 0, x >> 8 drops it.
// 0 means all.
uint8_t surviving_bytes(const Instruction& instruction, int bytes) {
  if (instruction.operands.size() < 3) return 0;
  const Operand& constant = instruction.operands[2];
  if (constant.kind != Operand::Kind::kInteger) return 0;
  const Computes computes = instruction.row->computes;
  uint8_t mask = 0;
  for (int k = 0; k < std::min(bytes, 8); ++k) {  // wider types are refused later
    const uint64_t bit = 8 * static_cast<uint64_t>(k);
    const bool kept = computes == Computes::kAnd          ? ((constant.bits >> bit) & 0xff) != 0
                      : computes == Computes::kShiftRight ? bit + 8 > constant.bits
                      : computes == Computes::kShiftLeft  ? bit + constant.bits < 8u * bytes
                                                          : true;
    if (kept) mask |= static_cast<uint8_t>(1u << k);
  }
  return mask;
}

// Which bytes of the result come from which bytes of the sources, where that is simple.
void set_byte_moves(const Instruction& instruction, Instr& in) {
  const Computes computes = instruction.row->computes;
  const bool left = computes == Computes::kShiftLeft, right = computes == Computes::kShiftRight;
  if (!left && !right) in.bytes_keep_place = computes != Computes::kOther;
  if ((!left && !right) || instruction.operands.size() < 3) return;
  const Operand& amount = instruction.operands[2];
  if (amount.kind != Operand::Kind::kInteger || amount.bits % 8 != 0 || amount.bits > 56) return;
  const bool sign_fills = right && instruction.modifiers.back().front() == 's';
  in.bytes_keep_place = !sign_fills;
  const int bytes = static_cast<int>(amount.bits / 8);
  in.byte_shift = static_cast<int8_t>(sign_fills ? 0 : left ? bytes : -bytes);
}

void expect_operands(const Instruction& instruction) {
  const size_t n = 1u + instruction.row->sources;
  if (instruction.operands.size() != n) {
    throw Unsupported{std::to_string(n) + " operands are expected"};
  }
}

// Which value of one source decides the result whatever the other is: `target` 1 for false, 2 for
// true, 0 for none.
void set_predicate_rule(Computes computes, Instr& in) {
  in.undefined_rule = UndefinedRule::kPredicates;
  in.target = computes == Computes::kAnd ? 1 : computes == Computes::kOr ? 2 : 0;
}

}  // namespace

void FunctionDecoder::decode_arithmetic(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type type = spec.last_type();
  const bool wide = spec.take("wide");
  const int wide_bytes = ptx::size_of(type) == 4 ? 8 : 4;
  expect_operands(instruction);
  in.ops[0] = destination(instruction.operands[0], wide ? wide_bytes : lane_bytes(type));
  for (size_t i = 1; i < instruction.operands.size(); ++i) {
    const bool is_wide = wide && i == 3;
    in.ops[i] = source(instruction.operands[i], is_wide ? wide_bytes : lane_bytes(type),
                       is_wide ? Type::kNone : type);
  }
  in.sources = static_cast<uint8_t>(instruction.operands.size() - 1);
  const bool carry_in = spec.row.carry_in, carry_out = spec.take("cc");
  if (carry_in || carry_out) {
    in.imm = (carry_in ? 1 : 0) | (carry_out ? 2 : 0);
    in.undefined_rule = UndefinedRule::kCarry;
    in.fn = pick_carry(spec, type);
    return;
  }
  if (spec.types.size() != spec.row.types) {
    throw Unsupported{"operands of different types are not supported here"};
  }
  if (is_float_or_half(type)) {
    in.flops = type == Type::kF32 ? spec.row.flops : 0;
    in.imm = float_flags(spec);
    if (is_half(type) && spec.take("xorsign") && spec.take("abs")) in.imm |= 64;
    in.fn = is_half(type) ? pick_half(spec, type) : lanes().pick_float(spec, type);
    return;
  }
  in.fn = lanes().pick_integer(spec, type);
}

void FunctionDecoder::decode_logic(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type type = spec.last_type();
  const OpcodeRow& row = spec.row;
  const bool is_lop3 = spec.op == k_lop3;
  if (instruction.operands.size() == 6 && is_lop3) {
    decode_lop3_test(instruction, spec, in);
    return;
  }
  expect_operands(instruction);
  const bool pred = type == Type::kPred;
  in.ops[0] = pred ? predicate(instruction.operands[0])
                   : destination(instruction.operands[0], row.counts ? 4 : lane_bytes(type));
  const size_t n = instruction.operands.size();
  for (size_t i = 1; i < n; ++i) {
    const Operand& operand = instruction.operands[i];
    const bool amount = row.amounts != 0 && i >= row.amounts;
    if (is_lop3 && i == 4) {
      in.imm = static_cast<int64_t>(operand.bits);
      continue;
    }
    in.ops[i] = pred ? predicate(operand) : source(operand, amount ? 4 : lane_bytes(type), type);
    ++in.sources;
    if (operand.negated) throw Unsupported{"a negated operand is not supported here"};
  }
  if (spec.op == k_prmt) {
    in.imm = 1 + spec.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  }
  in.mask_constant = surviving_bytes(instruction, ptx::size_of(type));
  set_byte_moves(instruction, in);
  if (pred) set_predicate_rule(row.computes, in);
  in.fn = lanes().pick_logic(spec, type);
}

// lop3.or d|p, a, b, c, table, q
void FunctionDecoder::decode_lop3_test(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (!operands[0].is_pair || operands[4].kind != Operand::Kind::kInteger) {
    throw Unsupported{"d|p, three sources, a table and a predicate are expected"};
  }
  in.ops[0] = any_destination(operands[0].elements.at(0));
  in.ops[5] = predicate_destination(operands[0].elements.at(1));
  for (size_t i = 1; i < 4; ++i) in.ops[i] = source(operands[i], 4, Type::kB32);
  in.sources = 3;
  in.imm = static_cast<int64_t>(operands[4].bits);
  in.ops[4] = predicate(operands[5]);
  in.extra = operands[5].negated ? 1 : 0;
  in.fn = lanes().pick_logic(spec, Type::kB32);
}

void FunctionDecoder::decode_compare(const Instruction& instruction, Spec& spec, Instr& in) {
  const bool set = spec.op == k_set;
  const Type type = spec.last_type();
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() < 3) throw Unsupported{"operands are missing"};
  if (operands[0].is_pair) {
    if (set) throw Unsupported{"one result is expected"};
    in.ops[0] = predicate_destination(operands[0].elements.at(0));
    in.ops[1] = predicate_destination(operands[0].elements.at(1));
  } else {
    in.ops[0] = set ? destination(operands[0], 4) : predicate_destination(operands[0]);
  }
  in.destinations = 2;
  in.ops[2] = source(operands[1], lane_bytes(type), type);
  in.ops[3] = source(operands[2], lane_bytes(type), type);
  in.sources = 2;
  const int combine = spec.take_one_of({"and", "or", "xor"});
  if (combine >= 0) {
    if (operands.size() < 4) throw Unsupported{"the predicate to combine with is missing"};
    in.ops[4] = predicate(operands[3]);
    in.imm = (combine + 1) | (operands[3].negated ? 4 : 0);
  }
  if (set) in.extra = true_value(spec.type(0), type);
  if (!is_pair(type)) {
    in.fn = lanes().pick_compare(spec, type);
    return;
  }
  if (spec.take("ftz")) in.imm |= 16;
  const int comparison = spec.take_one_of(
      {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"});
  if (comparison < 0) throw Unsupported{"a comparison is expected"};
  in.vector = static_cast<uint8_t>(comparison);
  in.fn = pick_compare_pair(set, type);
}

void FunctionDecoder::decode_fns(const Instruction& instruction, Spec&, Instr& in) {
  if (instruction.operands.size() != 4) throw Unsupported{"four operands are expected"};
  in.ops[0] = destination(instruction.operands[0], 4);
  sources(instruction, in, 1, 4, Type::kB32);
  in.fn = handler_fns();
}

void FunctionDecoder::decode_elect(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() != 2 || !operands[0].is_pair)
    throw Unsupported{"d|p and a mask are expected"};
  spec.take("sync");
  in.kind = Kind::kCollective;
  in.destinations = 2;
  in.ops[0] = any_destination(operands[0].elements.at(0));
  in.ops[1] = predicate_destination(operands[0].elements.at(1));
  in.ops[5] = source(operands[1], 4, Type::kB32);
  in.fn = handler_elect();
}

void FunctionDecoder::decode_select(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type type = spec.type(0);
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() != 4) throw Unsupported{"four operands are expected"};
  in.ops[0] = destination(operands[0], lane_bytes(type));
  in.ops[1] = source(operands[1], lane_bytes(type), type);
  in.ops[2] = source(operands[2], lane_bytes(type), type);
  in.sources = 2;
  if (spec.row.computes == Computes::kChoice) {
    in.ops[3] = predicate(operands[3]);
    in.source_size = kChoiceIsPredicate;
    in.imm = operands[3].negated ? 1 : 0;
  } else {
    in.ops[3] = source(operands[3], 4, spec.last_type());
  }
  in.fn = lanes().pick_select(spec, type);
}

void FunctionDecoder::decode_testp(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type type = spec.last_type();
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  in.ops[0] = predicate(instruction.operands[0]);
  sources(instruction, in, 1, lane_bytes(type), type);
  in.fn = pick_testp(spec, type);
}

bool FunctionDecoder::decode_special_mov(const Operand& operand, Instr& in) {
  if (operand.kind == Operand::Kind::kSymbol) {
    const auto local = locals_.find(operand.name);
    if (local == locals_.end()) return false;
    in.imm = static_cast<int64_t>(local->second + operand.bits);
    in.fn = lanes().handler_local_address();
    return true;
  }
  if (operand.kind != Operand::Kind::kSpecial) return false;
  const std::string& name = operand.name;
  const bool clock = name == "%clock" || name == "%clock_hi" || name == "%clock64" ||
                     name == "%globaltimer" || name == "%globaltimer_lo" ||
                     name == "%globaltimer_hi";
  if (!clock) return false;
  in.imm = name == "%clock_hi" || name == "%globaltimer_hi" ? 32 : 0;
  in.fn = name.starts_with("%globaltimer") ? handler_globaltimer() : handler_clock();
  module_.uses_time = true;
  return true;
}

void FunctionDecoder::decode_vector_mov(const Instruction& instruction, Spec& spec, Instr& in) {
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const int whole = ptx::size_of(spec.last_type());
  const bool pack = from.kind == Operand::Kind::kVector;
  const std::vector<Operand>& parts = pack ? from.elements : to.elements;
  const int n = static_cast<int>(parts.size());
  if ((pack && to.kind == Operand::Kind::kVector) || (n != 2 && n != 4) || whole > 8) {
    throw Unsupported{"this form of packing is not supported"};
  }
  in.imm = n;
  in.size = static_cast<uint8_t>(whole / n);
  if (pack) {
    in.ops[0] = destination(to, stored_size(to));
    in.register_size = stored_size(to);
    for (int k = 0; k < n; ++k) in.ops[1 + k] = source(parts[k], 4, Type::kNone);
    in.sources = static_cast<uint8_t>(n);
    in.fn = handler_pack();
  } else {
    for (int k = 0; k < n; ++k)
      in.ops[k] = parts[k].kind == Operand::Kind::kSink ? kNoPlace : destination(parts[k], 4);
    in.destinations = static_cast<uint8_t>(n);
    in.ops[n] = source(from, whole == 8 ? 8 : 4, Type::kNone);
    in.source_size = whole == 8 ? 8 : 4;
    in.sources = 1;
    in.fn = handler_unpack();
  }
}

void FunctionDecoder::decode_mov(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type type = spec.last_type();
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  if (to.kind == Operand::Kind::kVector || from.kind == Operand::Kind::kVector) {
    decode_vector_mov(instruction, spec, in);
    return;
  }
  in.ops[0] = type == Type::kPred ? predicate(to) : destination(to, stored_size(to));
  in.register_size = stored_size(to);
  if (decode_special_mov(from, in)) {
    in.undefined_rule = UndefinedRule::kReport;  // no sources: the result is defined
    return;
  }
  in.sources = 1;
  if (type == Type::kPred) {
    in.ops[1] = predicate(from);
    set_predicate_rule(Computes::kCopy, in);
    in.fn = lanes().pick_logic(spec, type);
    return;
  }
  // mov.u64 %rd, %tid.x: special registers are 32 bits wide.
  const bool widen = from.kind == Operand::Kind::kSpecial && in.register_size == 8 &&
                     from.name != "%gridid" && from.name != "WARP_SZ";
  in.ops[1] = source(from, widen ? 4 : in.register_size, type);
  if (widen) {
    in.source_size = 4;
    in.fn = pick_convert(spec, Type::kU64, Type::kU32);
    return;
  }
  in.fn = lanes().pick_move(in.register_size);
}

void FunctionDecoder::decode_cvt(const Instruction& instruction, Spec& spec, Instr& in) {
  const Type to = spec.type(0);
  const Type from = spec.type(1);
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() < 2) throw Unsupported{"operands are missing"};
  in.ops[0] = destination(operands[0], stored_size(operands[0]));
  in.register_size = stored_size(operands[0]);
  if (spec.take("pack")) {
    decode_cvt_pack(instruction, spec, in);
    return;
  }
  in.source_size = operands[1].kind == Operand::Kind::kRegister
                       ? stored_size(operands[1])
                       : static_cast<uint8_t>(lane_bytes(from));
  in.ops[1] = source(operands[1], in.source_size, from);
  in.sources = 1;
  if (operands.size() == 3) {
    in.ops[2] = source(operands[2], lane_bytes(from), from);
    in.sources = 2;
  }
  const int to_integer = spec.take_one_of({"rni", "rzi", "rmi", "rpi"});
  const bool rna = to == Type::kTF32;
  int64_t flags = rna ? (spec.take("relu") ? 32 : 0) : float_flags(spec);
  if (spec.take("satfinite")) flags |= 128;
  if (to_integer >= 0) flags = (flags & ~int64_t{3}) | to_integer | 16;
  in.imm = flags;
  const bool integers = !is_float_or_half(from) && !is_float_or_half(to);
  in.undefined_rule = integers ? UndefinedRule::kBitwise : UndefinedRule::kReport;
  if (integers) {
    const int kept = std::min(ptx::size_of(from), ptx::size_of(to));
    in.mask_constant = static_cast<uint8_t>((1u << kept) - 1);
    const bool sign_fills = from == Type::kS8 || from == Type::kS16 || from == Type::kS32;
    in.bytes_keep_place = !(sign_fills && ptx::size_of(to) > ptx::size_of(from));
  }
  if (to == Type::kNone || from == Type::kNone) throw Unsupported{"two types are expected"};
  const bool makes_pair = (to == Type::kF16x2 || to == Type::kBF16x2) && from == Type::kF32;
  if (makes_pair && operands.size() != 3) throw Unsupported{"two sources are expected"};
  in.fn = pick_convert(spec, to, from);
}

// cvt.pack.sat.u8.s32.b32 d, a, b, c: types below 8 bits are no types of registers, so words.
void FunctionDecoder::decode_cvt_pack(const Instruction& instruction, Spec& spec, Instr& in) {
  static constexpr int kBits[] = {16, 16, 8, 8, 4, 4, 2, 2};
  int form = spec.take_one_of({"", "", "", "", "u4", "s4", "u2", "s2"});
  const Type to = spec.type(0);
  for (const auto& [type, index] : {std::pair(Type::kU16, 0), std::pair(Type::kS16, 1),
                                    std::pair(Type::kU8, 2), std::pair(Type::kS8, 3)}) {
    if (to == type) form = index;
  }
  if (!spec.take("sat") || form < 0 || instruction.operands.size() < 3) {
    throw Unsupported{"this form of packing is not supported"};
  }
  in.size = static_cast<uint8_t>(kBits[form]);
  in.sign_extend = form % 2 == 1;
  sources(instruction, in, 1, 4, Type::kS32);
  in.fn = handler_cvt_pack();
}

void FunctionDecoder::decode_cvta(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  const bool to = spec.take("to");
  const Space space = take_space(spec);
  if (stored_size(instruction.operands[0]) != 8) throw Unsupported{"only 64-bit addresses"};
  in.ops[0] = destination(instruction.operands[0], 8);
  if (space == Space::kParamLocal || space == Space::kGeneric) {
    throw Unsupported{"this state space has no generic address here"};
  }
  const uint64_t window = space == Space::kShared       ? kSharedWindow
                          : space == Space::kLocal      ? kLocalWindow
                          : space == Space::kParamEntry ? kParamWindow
                                                        : 0;
  const Operand& from = instruction.operands[1];
  const auto local = locals_.find(from.name);
  if (!to && from.kind == Operand::Kind::kSymbol && local != locals_.end()) {
    if (space != Space::kLocal) throw Unsupported{"this variable lies in another state space"};
    in.undefined_rule = UndefinedRule::kReport;  // no sources: the result is defined
    in.register_size = 8;
    in.imm = static_cast<int64_t>(kLocalWindow + local->second + from.bits);
    in.fn = lanes().handler_local_address();
    return;
  }
  in.ops[1] = source(from, 8, Type::kU64);
  in.sources = 1;
  if (window == 0) {
    in.fn = lanes().pick_move(8);
    return;
  }
  in.ops[2] = constant(to ? 0 - window : window, 8);
  ptx::Instruction add;
  add.row = &opcode_row("add");
  Spec add_spec(add);
  in.fn = lanes().pick_integer(add_spec, Type::kU64);
}

void FunctionDecoder::decode_isspacep(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  const Space space = take_space(spec);
  const auto& words = instruction.modifiers;
  const bool whole_cluster =
      std::find(words.begin(), words.end(), "shared::cluster") != words.end();
  in.imm = space == Space::kShared && !whole_cluster ? 1 : 0;
  in.ops[0] = predicate(instruction.operands[0]);
  in.ops[1] = source(instruction.operands[1], 8, Type::kU64);
  in.sources = 1;
  in.fn = lanes().handler_isspacep(space);
}

void FunctionDecoder::decode_createpolicy(const Instruction& instruction, Spec& spec, Instr& in) {
  // Every modifier names a kind of policy; none changes a result.
  spec.take_cache_hints();
  spec.take_one_of({"fractional", "range", "cvt"});
  in.ops[0] = destination(instruction.operands.at(0), 8);
  in.ops[1] = constant(0, 8);
  in.sources = 1;
  in.fn = lanes().pick_move(8);
}

void FunctionDecoder::decode_sleep(const Instruction& instruction, Spec& spec, Instr& in) {
  spec.take("u32");
  in.ops[1] = source(instruction.operands.at(0), 4, Type::kU32);
  in.sources = 1;
  in.fn = handler_sleep();
  module_.uses_time = true;
}

void FunctionDecoder::decode_nop(const Instruction&, Spec& spec, Instr& in) {
  spec.take_cache_hints();
  for (const char* word :
       {"gl",      "cta",     "sys", "sc",      "acq_rel", "gpu",       "cluster",
        "global",  "local",   "L1",  "L2",      "proxy",   "async",     "alias",
        "acquire", "release", "u32", "uniform", "mask",    "tensormap", "param"}) {
    spec.take(word);
  }
  in.fn = handler_nop();
  if (spec.op != k_griddepcontrol) return;
  spec.take("launch_dependents");
  if (spec.take("wait")) in.fn = handler_grid_wait();
}

void FunctionDecoder::decode_collective(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (!spec.take("sync")) throw Unsupported{"only the .sync form exists on this architecture"};
  const size_t last = 1u + spec.row.sources;  // the mask
  if (operands.size() != last + 1) throw Unsupported{"operands are missing"};
  in.kind = Kind::kCollective;
  in.destinations = 2;
  const Type type = spec.last_type();
  const bool vote = spec.op == k_vote;
  const bool is_pair = operands[0].is_pair;
  const Operand& result = is_pair ? operands[0].elements.at(0) : operands[0];
  in.ops[0] = vote && type == Type::kPred ? predicate(result) : destination(result, 4);
  if (is_pair) in.ops[1] = predicate_destination(operands[0].elements.at(1));
  for (size_t i = 1; i < last && i < 4; ++i) {
    in.ops[1 + i] =
        vote ? predicate(operands[i]) : source(operands[i], i == 1 ? lane_bytes(type) : 4, type);
  }
  in.extra = operands[1].negated ? 1 : 0;
  in.sources = spec.row.sources;
  in.ops[5] = source(operands[last], 4, Type::kB32);
  in.fn = pick_collective(spec, type);
  if (in.fn == nullptr) throw Unsupported{"this warp operation is not supported"};
}

void FunctionDecoder::decode_activemask(const Instruction& instruction, Spec&, Instr& in) {
  if (instruction.operands.size() != 1) throw Unsupported{"one operand is expected"};
  in.ops[0] = destination(instruction.operands[0], 4);
  in.fn = handler_activemask();
}

}  // namespace warplings::sim

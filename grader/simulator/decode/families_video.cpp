// Video instructions (vadd, vset4, ...): parts of registers and what is done with them.
#include <algorithm>

#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

using Operation = VideoOp::Operation;

// "b2" or "h1" of a scalar instruction.
VideoOp::Part part_of(const std::string& selector) {
  if (selector.empty()) return {};
  const uint8_t index = static_cast<uint8_t>(selector[1] - '0');
  const uint8_t bytes = selector[0] == 'b' ? 1 : 2;
  if (selector.size() != 2 || index * bytes >= 4) {
    throw Unsupported{"a part is b0, b1, b2, b3, h0 or h1"};
  }
  return {static_cast<uint8_t>(index * bytes), bytes};
}

// "h10" or "b7654" of an instruction with lanes: the highest part comes first.
std::array<uint8_t, 4> selection_of(const std::string& selector, int parts, int first) {
  std::array<uint8_t, 4> out{};
  for (int i = 0; i < parts; ++i) out[static_cast<size_t>(i)] = static_cast<uint8_t>(first + i);
  if (selector.empty()) return out;
  if (selector.size() != static_cast<size_t>(parts) + 1) {
    throw Unsupported{"a selector names every part"};
  }
  for (size_t i = 0; i < static_cast<size_t>(parts); ++i) {
    out[i] = static_cast<uint8_t>(selector[static_cast<size_t>(parts) - i] - '0');
    if (out[i] >= 2 * parts) throw Unsupported{"there is no such part"};
  }
  return out;
}

uint8_t mask_of(const std::string& selector, int parts) {
  if (selector.empty()) return static_cast<uint8_t>((1 << parts) - 1);
  uint8_t mask = 0;
  for (const char c : selector.substr(1)) {
    if (c - '0' >= parts) throw Unsupported{"there is no such part"};
    mask |= static_cast<uint8_t>(1 << (c - '0'));
  }
  return mask;
}

bool is_signed_word(Type type) {
  if (type != Type::kS32 && type != Type::kU32) throw Unsupported{"only u32 and s32"};
  return type == Type::kS32;
}

void read_modifiers(Spec& spec, VideoOp& op) {
  op.saturate = spec.take("sat");
  op.comparison = spec.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
  op.wrap = spec.take_one_of({"clamp", "wrap"}) == 1;
  op.plus_one = spec.take("po");
  op.scale = spec.take("shr7") ? 7 : spec.take("shr15") ? 15 : 0;
  op.second = static_cast<VideoOp::Second>(1 + spec.take_one_of({"add", "min", "max"}));
  const bool is_set = op.operation == Operation::kSet;
  if (is_set != (op.comparison >= 0)) throw Unsupported{"a comparison belongs to vset"};
  const size_t first = is_set ? 0 : 1;  // vset has no type of the result
  if (spec.types.size() != first + 2) throw Unsupported{"the types are not complete"};
  op.result_signed = !is_set && is_signed_word(spec.type(0));
  op.a_signed = is_signed_word(spec.type(first));
  op.b_signed = is_signed_word(spec.type(first + 1));
}

// Forms of which an H200 (CUDA 13.0) computes something else than the PTX ISA says. Nobody can rely
// on either, and nvcc does not make them.
void refuse_disputed(const VideoOp& op) {
  const auto refuse = [](const char* form) {
    throw Unsupported{std::string(form) + ": hardware and the PTX ISA differ in what it does"};
  };
  if (op.result.bytes != 4) refuse("a result that is a part of d");
  if (op.operation == Operation::kShl && op.saturate) refuse("vshl.sat");
  const bool second_compares =
      op.second == VideoOp::Second::kMin || op.second == VideoOp::Second::kMax;
  if (second_compares && op.a_signed != op.b_signed) refuse("a second .min or .max of mixed signs");
  if (op.plus_one && !op.a_signed && !op.b_signed) refuse(".po of unsigned numbers");
}

}  // namespace

void FunctionDecoder::decode_video(const Instruction& instruction, Spec& spec, Instr& in) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() < 3) throw Unsupported{"operands are missing"};
  VideoOp op;
  op.operation = spec.row.video;
  op.parts = spec.row.parts;
  read_modifiers(spec, op);
  if (op.parts == 1) {
    op.a = part_of(operands[1].selector);
    op.b = part_of(operands[2].selector);
    op.result = part_of(operands[0].selector);
    refuse_disputed(op);
  } else {
    op.mask = mask_of(operands[0].selector, op.parts);
    op.select_a = selection_of(operands[1].selector, op.parts, 0);
    op.select_b = selection_of(operands[2].selector, op.parts, op.parts);
  }
  op.negate_product = operands[1].negated != operands[2].negated;
  op.negate_c = operands.size() > 3 && operands[3].negated;
  const bool needs_c =
      op.parts > 1 || op.operation == Operation::kMad || op.second != VideoOp::Second::kNone;
  if (needs_c && operands.size() != 4) throw Unsupported{"four operands are expected"};
  for (size_t i = 0; i < operands.size() && i < 4; ++i) {
    Operand whole = operands[i];  // the part and the sign are in `op`
    whole.selector.clear();
    if (op.operation == Operation::kMad) whole.negated = false;
    in.ops[i] = i == 0 ? destination(whole, 4) : source(whole, 4, Type::kU32);
  }
  in.sources = static_cast<uint8_t>(operands.size() - 1);
  in.extra = static_cast<uint32_t>(module_.videos.size());
  in.fn = handler_video(op);
  module_.videos.push_back(op);
}

}  // namespace warplings::sim

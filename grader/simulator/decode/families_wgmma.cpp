// wgmma and setmaxnreg: what four warps do together.
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

using enum MatrixType;

// Depth of one instruction: 32 bytes of k, twice as many where half of them are not stored.
int depth_of(MatrixType type, bool is_sparse) { return (is_sparse ? 512 : 256) / bits_of(type); }

bool is_small_float(MatrixType type) { return type == kE4M3 || type == kE5M2; }
bool is_small_integer(MatrixType type) { return type == kS8 || type == kU8; }

void check_types(MatrixType d, MatrixType a, MatrixType b) {
  const bool pair = a == b || (is_small_float(a) && is_small_float(b)) ||
                    (is_small_integer(a) && is_small_integer(b));
  bool known = false;
  if (a == kF16 || is_small_float(a)) known = d == kF16 || d == kF32;
  if (a == kBF16 || a == kTF32) known = d == kF32;
  if (is_small_integer(a) || a == kB1) known = d == kS32;
  if (!pair || !known) throw Unsupported{"wgmma has no product of these types"};
}

void check_shape(int m, int n, int k, MatrixType type, bool is_sparse) {
  // Integers and bits: 8, 16, 24, 32, then multiples of 16.
  const bool coarse = is_small_integer(type) || type == kB1;
  const bool fits = n >= 8 && n <= 256 && n % 8 == 0 && (!coarse || n <= 32 || n % 16 == 0);
  if (m != kWarpgroupRows || !fits || k != depth_of(type, is_sparse)) {
    throw Unsupported{"wgmma has no such shape for this type"};
  }
}

// 1, or -1: negated.
bool is_negated(const Operand& operand) {
  const auto value = static_cast<int64_t>(operand.bits);
  if (operand.kind != Operand::Kind::kInteger || (value != 1 && value != -1)) {
    throw Unsupported{"the scale of A or B is the number 1 or -1"};
  }
  return value == -1;
}

bool is_transposed(const Operand& operand) {
  if (operand.kind != Operand::Kind::kInteger || operand.bits > 1) {
    throw Unsupported{"whether A or B is transposed is the number 0 or 1"};
  }
  return operand.bits == 1;
}

}  // namespace

SharedMatrix::SharedMatrix(uint64_t descriptor, bool is_mn_major, MatrixType type)
    : mn_major(is_mn_major), per_unit(static_cast<int>(kUnit) * 8 / bits_of(type)) {
  const auto bytes = [&](int at) {
    return static_cast<uint32_t>(descriptor >> at & 0x3fff) * kUnit;
  };
  start = bytes(0);
  leading = bytes(16);
  stride = bytes(32);
  base_offset = static_cast<uint32_t>(descriptor >> 49 & 7);
  constexpr int kBits[] = {0, 3, 2, 1};
  swizzle = kBits[descriptor >> 62];
}

uint32_t SharedMatrix::unit_of(int mn, int k) const {
  const auto of = [](int value) { return static_cast<uint32_t>(value); };
  const uint32_t row_units = 1u << swizzle;  // of the pattern
  uint32_t at = start;
  if (mn_major) {
    const uint32_t unit = of(mn / per_unit), depth = of(k);
    at += depth % 8 * row_units * kUnit + unit % row_units * kUnit;
    at += swizzle == 0 ? unit * stride + depth / 8 * leading
                       : unit / row_units * leading + depth / 8 * stride;
  } else {
    const uint32_t row = of(mn), unit = of(k / per_unit);
    at += row % 8 * row_units * kUnit + row / 8 * stride;
    at += swizzle == 0 ? unit * leading : unit * kUnit;
  }
  at &= 0x3ffff;  // as many bits as a descriptor gives to an address
  return at ^ (at >> 7 & (row_units - 1)) << 4;
}

// ops: [1] descriptor of A, [2] of B, [3] whether D is added to.
void FunctionDecoder::decode_wgmma_product(const Instruction& instruction, Spec& spec, Instr& in) {
  const bool is_sparse = spec.take("sp");
  WgmmaOp op;
  int m = 0;
  std::vector<MatrixType> types;
  for (const std::string& word : instruction.modifiers) {
    if (const MatrixType type = matrix_type_from_name(word); type != kNone) {
      types.push_back(type);
    } else if (std::sscanf(word.c_str(), "m%dn%dk%d", &m, &op.n, &op.k) != 3) {
      continue;
    }
    spec.take(word);
  }
  if (types.size() != 3) throw Unsupported{"three types are expected"};
  op.a_type = types[1];
  op.b_type = types[2];
  check_types(types[0], op.a_type, op.b_type);
  check_shape(m, op.n, op.k, op.a_type, is_sparse);
  op.saturate = spec.take("satfinite");
  if (op.a_type == kB1 && is_sparse) throw Unsupported{"wgmma has no sparse bits"};
  if (op.a_type == kB1 && (!spec.take("and") || !spec.take("popc"))) {
    throw Unsupported{"products of bits are .and.popc"};
  }
  std::vector<Operand> operands = instruction.operands;
  if (operands.size() < (is_sparse ? 6u : 4u)) throw Unsupported{"operands are missing"};
  if (is_sparse) {
    sparse_operands(operands[3], operands[4], op.a_type, op.k, &op.sparse);
    operands.erase(operands.begin() + 3, operands.begin() + 5);
  }
  op.d = make_fragment(MatrixPart::kC, types[0], 16, op.n, op.k);
  fragment_registers(operands[0], true, op.d);
  if (operands[1].kind == Operand::Kind::kVector) {
    op.a = make_fragment(MatrixPart::kA, op.a_type, 16, op.n, op.stored_k());
    fragment_registers(operands[1], false, op.a);
  } else {
    in.ops[1] = source(operands[1], 8, Type::kB64);
  }
  in.ops[2] = source(operands[2], 8, Type::kB64);
  in.ops[3] = predicate(operands[3]);
  const bool halves = op.a_type == kF16 || op.a_type == kBF16;
  const bool floats = halves || op.a_type == kTF32 || is_small_float(op.a_type);
  const size_t scales = floats ? 2 : 0, orders = halves ? (op.reads_a() ? 2 : 1) : 0;
  if (operands.size() != 4 + scales + orders) {
    throw Unsupported{"another number of operands is expected"};
  }
  if (scales != 0) {
    op.negate_a = is_negated(operands[4]);
    op.negate_b = is_negated(operands[5]);
  }
  if (orders != 0) op.mn_major_b = is_transposed(operands.back());
  if (orders == 2) op.mn_major_a = is_transposed(operands[6]);
  in.kind = Kind::kWarpgroup;
  in.extra = static_cast<uint32_t>(module_.wgmmas.size());
  module_.wgmmas.push_back(std::move(op));
}

void FunctionDecoder::decode_wgmma(const Instruction& instruction, Spec& spec, Instr& in) {
  in.destinations = 0;
  spec.take("sync");
  spec.take("aligned");
  module_.uses_wgmma = true;
  if (spec.take("mma_async")) {
    decode_wgmma_product(instruction, spec, in);
  } else if (spec.take("fence")) {
    in.fn = handler_wgmma_fence();
  } else if (spec.take("commit_group")) {
    in.fn = handler_wgmma_commit();
  } else if (spec.take("wait_group")) {
    const Operand& groups = instruction.operands.at(0);
    if (groups.kind != Operand::Kind::kInteger) throw Unsupported{"a constant is expected"};
    in.imm = static_cast<int64_t>(groups.bits);
    in.fn = handler_wgmma_wait();
  }
}

// imm: registers of a thread; extra: 1 asks for more of them.
void FunctionDecoder::decode_setmaxnreg(const Instruction& instruction, Spec& spec, Instr& in) {
  spec.take("sync");
  spec.take("aligned");
  const int direction = spec.take_one_of({"dec", "inc"});
  if (direction < 0) throw Unsupported{".inc or .dec is expected"};
  const Operand& count = instruction.operands.at(0);
  if (count.kind != Operand::Kind::kInteger || count.bits < 24 || count.bits > 256 ||
      count.bits % 8 != 0) {
    throw Unsupported{"the number of registers is a multiple of 8 from 24 to 256"};
  }
  if (spec.last_type() != Type::kU32) throw Unsupported{".u32 is expected"};
  in.imm = static_cast<int64_t>(count.bits);
  in.extra = static_cast<uint32_t>(direction);
  in.kind = Kind::kWarpgroup;
  in.fn = handler_setmaxnreg();
  module_.uses_wgmma = true;
}

}  // namespace warplings::sim

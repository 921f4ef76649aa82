// wmma, mma, ldmatrix, stmatrix, movmatrix: shapes, types and fragments.
#include <algorithm>
#include <array>

#include "decode/decoder.h"
#include "decode/handlers.h"

namespace warplings::sim {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

namespace {

struct Shape {
  int m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};

// The shapes of mma.sync and wmma by the type of A and B.
struct ShapeRow {
  MatrixType type;
  Shape shape;
};
using enum MatrixType;
constexpr std::array kMmaShapes = {
    ShapeRow{kF16, {8, 8, 4}},    ShapeRow{kF16, {16, 8, 8}},   ShapeRow{kF16, {16, 8, 16}},
    ShapeRow{kBF16, {16, 8, 8}},  ShapeRow{kBF16, {16, 8, 16}}, ShapeRow{kTF32, {16, 8, 4}},
    ShapeRow{kTF32, {16, 8, 8}},  ShapeRow{kF64, {8, 8, 4}},    ShapeRow{kF64, {16, 8, 4}},
    ShapeRow{kF64, {16, 8, 8}},   ShapeRow{kF64, {16, 8, 16}},  ShapeRow{kE4M3, {16, 8, 16}},
    ShapeRow{kE4M3, {16, 8, 32}}, ShapeRow{kE5M2, {16, 8, 16}}, ShapeRow{kE5M2, {16, 8, 32}},
    ShapeRow{kS8, {8, 8, 16}},    ShapeRow{kS8, {16, 8, 16}},   ShapeRow{kS8, {16, 8, 32}},
    ShapeRow{kU8, {8, 8, 16}},    ShapeRow{kU8, {16, 8, 16}},   ShapeRow{kU8, {16, 8, 32}},
    ShapeRow{kS4, {8, 8, 32}},    ShapeRow{kS4, {16, 8, 32}},   ShapeRow{kS4, {16, 8, 64}},
    ShapeRow{kU4, {8, 8, 32}},    ShapeRow{kU4, {16, 8, 32}},   ShapeRow{kU4, {16, 8, 64}},
    ShapeRow{kB1, {8, 8, 128}},   ShapeRow{kB1, {16, 8, 128}},  ShapeRow{kB1, {16, 8, 256}},
};
constexpr std::array kSparseShapes = {
    ShapeRow{kF16, {16, 8, 16}},  ShapeRow{kF16, {16, 8, 32}},  ShapeRow{kBF16, {16, 8, 16}},
    ShapeRow{kBF16, {16, 8, 32}}, ShapeRow{kTF32, {16, 8, 8}},  ShapeRow{kTF32, {16, 8, 16}},
    ShapeRow{kE4M3, {16, 8, 64}}, ShapeRow{kE5M2, {16, 8, 64}}, ShapeRow{kS8, {16, 8, 32}},
    ShapeRow{kS8, {16, 8, 64}},   ShapeRow{kU8, {16, 8, 32}},   ShapeRow{kU8, {16, 8, 64}},
    ShapeRow{kS4, {16, 8, 64}},   ShapeRow{kS4, {16, 8, 128}},  ShapeRow{kU4, {16, 8, 64}},
    ShapeRow{kU4, {16, 8, 128}},
};
constexpr std::array kWmmaShapes = {
    ShapeRow{kF16, {16, 16, 16}},  ShapeRow{kF16, {32, 8, 16}},  ShapeRow{kF16, {8, 32, 16}},
    ShapeRow{kBF16, {16, 16, 16}}, ShapeRow{kBF16, {32, 8, 16}}, ShapeRow{kBF16, {8, 32, 16}},
    ShapeRow{kS8, {16, 16, 16}},   ShapeRow{kS8, {32, 8, 16}},   ShapeRow{kS8, {8, 32, 16}},
    ShapeRow{kU8, {16, 16, 16}},   ShapeRow{kU8, {32, 8, 16}},   ShapeRow{kU8, {8, 32, 16}},
    ShapeRow{kTF32, {16, 16, 8}},  ShapeRow{kF64, {8, 8, 4}},    ShapeRow{kS4, {8, 8, 32}},
    ShapeRow{kU4, {8, 8, 32}},     ShapeRow{kB1, {8, 8, 128}},
};

// The modifiers of a matrix instruction, sorted.
struct Words {
  Shape shape;
  std::vector<MatrixType> types;
  std::vector<bool> column_major;  // .row or .col, in the order written
};

// "m16n8k16"; m8n8 has no k.
bool read_shape(const std::string& word, Shape* shape) {
  if (word.size() < 4 || word[0] != 'm') return false;
  int* target = nullptr;
  for (const char c : word) {
    if (c == 'm') {
      target = &shape->m;
    } else if (c == 'n') {
      target = &shape->n;
    } else if (c == 'k') {
      target = &shape->k;
    } else if (c >= '0' && c <= '9') {
      *target = *target * 10 + (c - '0');
    } else {
      return false;
    }
  }
  return shape->m != 0 && shape->n != 0;
}

Words read_words(const Instruction& instruction, Spec& spec) {
  Words words;
  for (const std::string& word : instruction.modifiers) {
    Shape shape;
    if (const MatrixType type = matrix_type_from_name(word); type != kNone) {
      words.types.push_back(type);
    } else if (read_shape(word, &shape)) {
      words.shape = shape;
    } else if (word == "row" || word == "col") {
      words.column_major.push_back(word == "col");
    } else {
      continue;
    }
    spec.take(word);
  }
  return words;
}

template <class Rows>
void check_shape(const Rows& rows, const Words& words, MatrixType type) {
  const bool known = std::any_of(rows.begin(), rows.end(), [&](const ShapeRow& row) {
    return row.type == type && row.shape == words.shape;
  });
  if (!known) throw Unsupported{"this shape does not exist for this type"};
}

bool is_integer(MatrixType type) {
  return type == kS8 || type == kU8 || type == kS4 || type == kU4 || type == kB1;
}

// Types that may stand together as A and B.
bool can_pair(MatrixType a, MatrixType b) {
  const auto kind = [](MatrixType t) {
    return t == kU8 ? kS8 : t == kU4 ? kS4 : t == kE5M2 ? kE4M3 : t;
  };
  return kind(a) == kind(b);
}

Handler product_handler(MatrixType type) {
  if (type == kF64) return handler_mma_double();
  return is_integer(type) ? handler_mma_integer() : handler_mma_float();
}

}  // namespace

// The registers of a fragment: {a, b, c}, or one register that stands alone.
void FunctionDecoder::sparse_operands(const Operand& metadata, const Operand& selector,
                                      MatrixType type, int k, SparseA* sparse) {
  sparse->metadata = source(metadata, 4, Type::kB32);
  if (selector.kind != Operand::Kind::kInteger || !make_sparse(type, k, selector.bits, sparse)) {
    throw Unsupported{"the selector is a number, and this shape has none so high"};
  }
}

void FunctionDecoder::fragment_registers(const Operand& operand, bool written, Fragment& fragment) {
  const std::vector<Operand> alone{operand};
  const bool is_vector = operand.kind == Operand::Kind::kVector;
  for (const Operand& part : is_vector ? operand.elements : alone) {
    fragment.registers.push_back(written ? destination(part, fragment.register_bytes())
                                         : source(part, fragment.register_bytes(), Type::kNone));
  }
  const size_t filled = static_cast<size_t>(fragment.filled_registers());
  if (filled == 0) throw Unsupported{"this matrix has no such shape and type"};
  // wmma names eight registers for A and B of f16 whatever the shape.
  const bool copies = fragment.type == kF16 && fragment.part != MatrixPart::kC &&
                      fragment.registers.size() == 8 && 8 % filled == 0;
  if (fragment.registers.size() != filled && !copies) {
    throw Unsupported{"this matrix fragment has " + std::to_string(filled) + " registers, not " +
                      std::to_string(fragment.registers.size())};
  }
}

// All lanes of the warp take part: the interpreter waits for them as for a shuffle.
void FunctionDecoder::whole_warp(Spec& spec, Instr& in) {
  spec.take("sync");
  spec.take("aligned");
  in.kind = Kind::kCollective;
  in.ops[5] = constant(0xffffffffu, 4);
}

void FunctionDecoder::matrix_product(const Instruction& instruction, Spec& spec, Instr& in,
                                     bool is_wmma) {
  // ::ordered_metadata promises that the two places in a chunk ascend; it changes no result.
  const bool is_sparse = !is_wmma && spec.take_one_of({"sp", "sp::ordered_metadata"}) >= 0;
  if (instruction.operands.size() != (is_sparse ? 6 : 4)) {
    throw Unsupported{is_sparse ? "four matrices, metadata and a selector are expected"
                                : "four matrices are expected"};
  }
  Words words = read_words(instruction, spec);
  // wmma leaves the types of A and B out when they are f16.
  if (words.types.size() == 2) words.types = {words.types[0], kF16, kF16, words.types[1]};
  if (words.types.size() != 4) throw Unsupported{"four types are expected"};
  const MatrixType a = words.types[1], b = words.types[2];
  if (!can_pair(a, b)) throw Unsupported{"these types do not go together"};
  if (is_wmma) {
    check_shape(kWmmaShapes, words, a);
  } else if (is_sparse) {
    check_shape(kSparseShapes, words, a);
  } else {
    check_shape(kMmaShapes, words, a);
  }
  MatrixOp op;
  op.saturate = spec.take("satfinite");
  op.rounding = static_cast<uint8_t>(spec.take_rounding());
  spec.take("popc");
  op.bits = spec.take("xor")   ? MatrixOp::Bits::kXor
            : spec.take("and") ? MatrixOp::Bits::kAnd
                               : MatrixOp::Bits::kNone;
  if ((a == kB1) != (op.bits != MatrixOp::Bits::kNone)) {
    throw Unsupported{"products of bits are .xor.popc or .and.popc, and only those"};
  }
  const auto [m, n, k] = words.shape;
  if (a == kF16 && m == 8 && n == 8) op.products = 4;
  if (words.column_major.size() != 2) throw Unsupported{"two layouts are expected"};
  if (op.products == 4) {
    op.a = make_quad_fragment(MatrixPart::kA, a, words.column_major[0]);
    op.b = make_quad_fragment(MatrixPart::kB, b, words.column_major[1]);
    op.c = make_quad_fragment(MatrixPart::kC, words.types[3], false);
    op.d = make_quad_fragment(MatrixPart::kC, words.types[0], false);
  } else {
    op.a = make_fragment(MatrixPart::kA, a, m, n, is_sparse ? k / 2 : k);
    op.b = make_fragment(MatrixPart::kB, b, m, n, k);
    op.c = make_fragment(MatrixPart::kC, words.types[3], m, n, k);
    op.d = make_fragment(MatrixPart::kC, words.types[0], m, n, k);
  }
  fragment_registers(instruction.operands[0], true, op.d);
  fragment_registers(instruction.operands[1], false, op.a);
  fragment_registers(instruction.operands[2], false, op.b);
  fragment_registers(instruction.operands[3], false, op.c);
  if (is_sparse) {
    sparse_operands(instruction.operands[4], instruction.operands[5], a, k, &op.sparse);
  }
  whole_warp(spec, in);
  in.fn = product_handler(a);
  in.extra = static_cast<uint32_t>(module_.matrices.size());
  module_.matrices.push_back(std::move(op));
}

void FunctionDecoder::decode_mma(const Instruction& instruction, Spec& spec, Instr& in) {
  matrix_product(instruction, spec, in, false);
}

void FunctionDecoder::decode_wmma(const Instruction& instruction, Spec& spec, Instr& in) {
  if (spec.take("mma")) {
    matrix_product(instruction, spec, in, true);
    return;
  }
  const bool load = spec.take("load");
  if (!load && !spec.take("store")) throw Unsupported{"a load, a store or an mma is expected"};
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.size() < 2) throw Unsupported{"operands are missing"};
  const int which = spec.take_one_of({"a", "b", "c", "d"});
  const Space space = take_space(spec);
  if (space != Space::kGlobal && space != Space::kShared && space != Space::kGeneric) {
    throw Unsupported{"matrices lie in global or shared memory"};
  }
  const Words words = read_words(instruction, spec);
  if (words.types.size() != 1 || words.column_major.size() != 1 || which < 0) {
    throw Unsupported{"one type, one layout and one of a, b, c, d are expected"};
  }
  const auto [m, n, k] = words.shape;
  const bool is_accumulator = which >= 2;
  const MatrixPart part = is_accumulator ? MatrixPart::kC : static_cast<MatrixPart>(which);
  if (!is_accumulator) check_shape(kWmmaShapes, words, words.types[0]);
  MatrixOp op;
  op.column_major = words.column_major[0];
  op.a = make_fragment(part, words.types[0], m, n, k);
  const bool along_runs = op.column_major == (part == MatrixPart::kB);
  if (bits_of(op.a.type) < 8 && !along_runs) {
    throw Unsupported{"types below 8 bits are loaded by rows of A and columns of B only"};
  }
  const Operand& address = operands[load ? 1 : 0];
  fragment_registers(operands[load ? 0 : 1], load, op.a);
  if (operands.size() > 2) in.ops[3] = source(operands[2], 4, Type::kU32);
  memory_address(address, space, in);
  in.destinations = load ? 1 : 0;
  whole_warp(spec, in);
  in.size = 1;
  in.fn = load ? handler_wmma_load() : handler_wmma_store();
  in.extra = static_cast<uint32_t>(module_.matrices.size());
  module_.matrices.push_back(std::move(op));
}

// ldmatrix and stmatrix: one, two or four blocks of 8 rows of 16 bytes; lane i of each group of
// eight gives the address of a row.
void FunctionDecoder::decode_ldmatrix(const Instruction& instruction, Spec& spec, Instr& in) {
  const bool load = in.destinations != 0;
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  Space space = take_space(spec);
  if (space != Space::kShared && space != Space::kGeneric) {
    throw Unsupported{"the matrices lie in shared memory"};
  }
  if (!spec.take("m8n8")) throw Unsupported{"only blocks of 8 x 8 are supported"};
  MatrixOp op;
  op.transposed = spec.take("trans");
  op.blocks = 1 << std::max(0, spec.take_one_of({"x1", "x2", "x4"}));
  if (spec.last_type() != Type::kB16) throw Unsupported{"only elements of 16 bits are supported"};
  const Operand& registers = instruction.operands[load ? 0 : 1];
  const std::vector<Operand> alone{registers};
  const bool is_vector = registers.kind == Operand::Kind::kVector;
  for (const Operand& part : is_vector ? registers.elements : alone) {
    op.a.registers.push_back(load ? destination(part, 4) : source(part, 4, Type::kB32));
  }
  if (op.a.registers.size() != static_cast<size_t>(op.blocks)) {
    throw Unsupported{"one register per matrix is expected"};
  }
  memory_address(instruction.operands[load ? 1 : 0], space, in);
  whole_warp(spec, in);
  in.size = 16;
  in.fn = load ? handler_ldmatrix() : handler_stmatrix();
  in.extra = static_cast<uint32_t>(module_.matrices.size());
  module_.matrices.push_back(std::move(op));
}

void FunctionDecoder::decode_movmatrix(const Instruction& instruction, Spec& spec, Instr& in) {
  if (instruction.operands.size() != 2) throw Unsupported{"two operands are expected"};
  if (!spec.take("m8n8") || !spec.take("trans") || spec.last_type() != Type::kB16) {
    throw Unsupported{"only .m8n8.trans.b16 exists"};
  }
  in.ops[0] = destination(instruction.operands[0], 4);
  in.ops[1] = source(instruction.operands[1], 4, Type::kB32);
  whole_warp(spec, in);
  in.fn = handler_movmatrix();
}

}  // namespace warplings::sim

#include "decode/matrix.h"

#include <algorithm>
#include <array>

namespace warplings::sim {
namespace {

struct TypeRow {
  std::string_view name;
  MatrixType type;
  int bits;
};
constexpr std::array kTypes = {
    TypeRow{"f16", MatrixType::kF16, 16},   TypeRow{"bf16", MatrixType::kBF16, 16},
    TypeRow{"tf32", MatrixType::kTF32, 32}, TypeRow{"f32", MatrixType::kF32, 32},
    TypeRow{"f64", MatrixType::kF64, 64},   TypeRow{"e4m3", MatrixType::kE4M3, 8},
    TypeRow{"e5m2", MatrixType::kE5M2, 8},  TypeRow{"s8", MatrixType::kS8, 8},
    TypeRow{"u8", MatrixType::kU8, 8},      TypeRow{"s4", MatrixType::kS4, 4},
    TypeRow{"u4", MatrixType::kU4, 4},      TypeRow{"b1", MatrixType::kB1, 1},
    TypeRow{"s32", MatrixType::kS32, 32},
};

// What the place of a block depends on.
struct BlockPosition {
  int row, column;
};

// Block b of a fragment: A goes down 8 rows, then along k, then to the next 16 rows; B along k,
// then along n; C (blocks of 8 x 8) down 8 rows, then along n, then to the next 16 rows.
BlockPosition block_position(const Fragment& f, int block, int width) {
  if (f.part == MatrixPart::kB) {
    const int along_k = f.rows / width;
    return {block % along_k * width, block / along_k * 8};
  }
  const int down = f.rows >= 16 ? 2 : 1;
  const int across = f.columns / width;
  const int row8 = block % down;
  const int column = block / down % across;
  const int row16 = block / down / across;
  return {row16 * 16 + row8 * 8, column * width};
}

}  // namespace

MatrixType matrix_type_from_name(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return MatrixType::kNone;
}

int bits_of(MatrixType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.bits;
  }
  return 0;
}

Fragment make_fragment(MatrixPart part, MatrixType type, int m, int n, int k) {
  Fragment f;
  f.part = part;
  f.type = type;
  f.rows = part == MatrixPart::kB ? k : m;
  f.columns = part == MatrixPart::kA ? k : n;
  f.elements = f.rows * f.columns / 32;
  f.per_register = std::max(1, 32 / bits_of(type));
  // Neighbouring elements of one lane: a register of A and B, a pair of C.
  const int run = part == MatrixPart::kC ? 2 : f.per_register;
  const int width = 4 * run;  // of a block, along k or along n
  f.at.resize(static_cast<size_t>(f.elements) * 32);
  for (int e = 0; e < f.elements; ++e) {
    const BlockPosition block = block_position(f, e / run, width);
    for (int lane = 0; lane < 32; ++lane) {
      const int along = lane % 4 * run + e % run;
      const int row = part == MatrixPart::kB ? block.row + along : block.row + lane / 4;
      const int column = part == MatrixPart::kB ? block.column + lane / 4 : block.column + along;
      f.at[static_cast<size_t>(e) * 32 + lane] = static_cast<uint16_t>(row * f.columns + column);
    }
  }
  return f;
}

Fragment make_quad_fragment(MatrixPart part, MatrixType type, bool column_major) {
  Fragment f;
  f.part = part;
  f.type = type;
  f.rows = part == MatrixPart::kB ? 4 : 8;
  f.columns = part == MatrixPart::kA ? 4 : 8;
  f.elements = part == MatrixPart::kC ? 8 : 4;
  f.per_register = 32 / bits_of(type);
  f.at.resize(static_cast<size_t>(f.elements) * 32);
  for (int e = 0; e < f.elements; ++e) {
    for (int lane = 0; lane < 32; ++lane) {
      const int upper = lane < 16 ? 0 : 4;
      const int own = lane % 4 + upper;  // the row or column that is this lane's
      int row = own, column = e;         // A by rows, C of f16
      if (part == MatrixPart::kA && column_major) {
        row = e + upper;
        column = lane % 4;
      } else if (part == MatrixPart::kB) {
        row = column_major ? e : lane % 4;
        column = column_major ? own : e + upper;
      } else if (part == MatrixPart::kC && type == MatrixType::kF32) {
        row = (lane & 1) + (e & 2) + upper;
        column = (e & 4) + (lane & 2) + (e & 1);
      }
      const int before = lane % 16 / 4 * f.rows * f.columns;
      f.at[static_cast<size_t>(e) * 32 + lane] =
          static_cast<uint16_t>(before + row * f.columns + column);
    }
  }
  return f;
}

SparseA::Bits SparseA::bits_of_chunk(MatrixType type, int row, int index) const {
  const int quad = row % 8 * 4, lower = row / 8;
  if (bits_of(type) >= 16) {  // a lane holds four chunks of both of its rows
    const int lanes = chunks / 4;
    return {quad + selector * lanes + index / 4, 4 * (4 * lower + index % 4)};
  }
  return {quad + 2 * selector + 2 * (index / 8) + lower, 4 * (index % 8)};
}

int SparseA::column(MatrixType type, uint32_t bits, int stored) const {
  const int per_chunk = chunk / 2;
  const int begin = stored / per_chunk * chunk, within = stored % per_chunk;
  const auto place = [=](int i) { return static_cast<int>(bits >> (2 * i) & 3); };
  if (bits_of(type) == 32) return begin + place(0) / 2;  // two places make one element
  if (bits_of(type) == 4) return begin + 2 * place(within / 2) + within % 2;  // pairs
  return begin + place(within);
}

uint32_t SparseA::lanes(MatrixType type) const {
  uint32_t found = 0;
  for (int row = 0; row < 16; ++row) {
    for (int i = 0; i < chunks; ++i) found |= 1u << bits_of_chunk(type, row, i).lane;
  }
  return found;
}

bool make_sparse(MatrixType type, int k, uint64_t selector, SparseA* sparse) {
  const int bits = bits_of(type);
  sparse->chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
  sparse->chunks = k / sparse->chunk;
  sparse->selector = static_cast<int>(selector);
  // 16 rows need 64 bits for each chunk of a row; the lanes have 1,024.
  return selector < static_cast<uint64_t>(16 / sparse->chunks);
}

}  // namespace warplings::sim

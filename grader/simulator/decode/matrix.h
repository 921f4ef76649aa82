// Matrix instructions, decoded: which element of a matrix each lane holds in which register.
#ifndef WARPLINGS_SIMULATOR_DECODE_MATRIX_H_
#define WARPLINGS_SIMULATOR_DECODE_MATRIX_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace warplings::sim {

enum class MatrixType : uint8_t {
  kNone,
  kF16,
  kBF16,
  kTF32,
  kF32,
  kF64,
  kE4M3,
  kE5M2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kS32,
};
MatrixType matrix_type_from_name(std::string_view name);  // "bf16"; kNone if it is no such type
int bits_of(MatrixType type);

enum class MatrixPart : uint8_t { kA, kB, kC };  // m x k, k x n, m x n; d is laid out as c

// One operand of a matrix instruction, spread over the 32 lanes.
struct Fragment {
  MatrixPart part = MatrixPart::kA;
  MatrixType type = MatrixType::kNone;
  int rows = 0, columns = 0;
  int elements = 0;                 // per lane
  int per_register = 0;             // elements
  std::vector<uint32_t> registers;  // places; more than the elements fill: the rest are copies
  // Element e of lane l stands at index at[32 * e + l] = row * columns + column, behind the
  // matrices of earlier products.
  std::vector<uint16_t> at;

  int register_bytes() const { return bits_of(type) == 64 ? 8 : 4; }
  int filled_registers() const { return per_register == 0 ? 0 : elements / per_register; }
};

// Sizes and layout of a fragment of an m x n x k instruction; `registers` stays empty.
//
// All but one follow a single scheme (PTX ISA, "Matrix Fragments"): lane l holds row l / 4 of an
// 8-row block of A and C (column l / 4 of B), and in it the l % 4-th of four neighbouring groups,
// one register of A and B, two elements of C. Blocks 8 rows below come next, then those further
// along k, then further m or n. wmma does not fix its layout; the one measured on sm_80 is the same
// (docs of wmma_extension), so printed fragments look as on hardware.
Fragment make_fragment(MatrixPart part, MatrixType type, int m, int n, int k);
// mma.m8n8k4 of f16, from the first tensor cores: four products at once, one per group of lanes
// {q, q + 1, q + 2, q + 3, q + 16 ... q + 19}; each lane holds a row or a column.
Fragment make_quad_fragment(MatrixPart part, MatrixType type, bool column_major);

// mma.sp: a row of A holds half of its elements, and metadata says which. A row is cut into chunks;
// a chunk has four bits of metadata, two places in it (PTX ISA, "Sparse matrix storage"). The lanes
// that hold them were found on an H200.
struct SparseA {
  uint32_t metadata = 0xffffffffu;  // a place
  int selector = 0;                 // which lanes of each four hold the metadata
  int chunk = 0;                    // elements of A; 0: A is not sparse
  int chunks = 0;                   // of a row

  // Where the four bits of a chunk are.
  struct Bits {
    int lane, shift;
  };
  Bits bits_of_chunk(MatrixType type, int row, int index) const;
  // The column of A that the element of the given number in its row, of those stored, stands in.
  int column(MatrixType type, uint32_t bits, int stored) const;
  uint32_t lanes(MatrixType type) const;  // whose metadata counts
};
// Sets chunk and chunks; false if this selector does not exist for the shape.
bool make_sparse(MatrixType type, int k, uint64_t selector, SparseA* sparse);

struct MatrixOp {
  enum class Bits : uint8_t { kNone, kXor, kAnd };  // b1: how two bits are combined
  Fragment a, b, c, d;
  SparseA sparse;  // then `a` has half as many columns
  Bits bits = Bits::kNone;
  bool saturate = false;  // .satfinite
  int products = 1;       // 4: groups of 8 lanes, each with matrices of its own
  uint8_t rounding = 0;   // f64: a Rounding
  // wmma.load, wmma.store: `d` or `a` moves; ldmatrix, stmatrix: 8 x 8 blocks of 16 bits.
  bool column_major = false;
  bool transposed = false;
  int blocks = 0;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_MATRIX_H_

// wgmma, decoded: products of a 64 x k by a k x n matrix that the four warps of a warpgroup
// compute together, 16 rows each.
#ifndef WARPLINGS_SIMULATOR_DECODE_WGMMA_H_
#define WARPLINGS_SIMULATOR_DECODE_WGMMA_H_

#include <cstdint>

#include "decode/matrix.h"

namespace warplings::sim {

inline constexpr int kWarpgroup = 4;       // warps
inline constexpr int kWarpgroupRows = 64;  // of A and D
inline constexpr uint32_t kUnit = 16;      // bytes: what the tensor cores read at a time

struct WgmmaOp {
  int n = 0, k = 0;
  MatrixType a_type = MatrixType::kNone, b_type = MatrixType::kNone;
  Fragment a;  // of one warp, 16 x stored_k(); without registers: A lies in shared memory
  Fragment d;  // of one warp, 16 x n
  SparseA sparse;
  bool negate_a = false, negate_b = false;
  bool mn_major_a = false, mn_major_b = false;  // "transposed": not k is what lies together
  bool saturate = false;                        // .satfinite

  bool reads_a() const { return a.registers.empty(); }
  int stored_k() const { return sparse.chunk == 0 ? k : k / 2; }  // of A
};

// A matrix in shared memory as its descriptor says (PTX ISA, "Matrix Descriptor Format" and
// "Strides"). Units of 16 bytes hold neighbours along k (k-major), or along m or n (mn-major). With
// a swizzle of 32, 64 or 128 bytes a row of the pattern is two, four or eight units long, eight
// rows are a pattern, and the number of the row is added, without carry, to that of the unit.
struct SharedMatrix {
  uint32_t start = 0, leading = 0, stride = 0;  // bytes
  uint32_t base_offset = 0;                     // of the pattern, where it is not aligned
  int swizzle = 0;                              // bits: 0 none, 1: 32, 2: 64, 3: 128 bytes
  bool mn_major = false;
  int per_unit = 0;  // elements

  SharedMatrix(uint64_t descriptor, bool is_mn_major, MatrixType type);
  // Offset in shared memory of the unit that holds element `mn` (row of A, column of B) at depth k.
  uint32_t unit_of(int mn, int k) const;
};

}  // namespace warplings::sim

#endif  // WARPLINGS_SIMULATOR_DECODE_WGMMA_H_

// Given code of chapter 07, for exercises 08 and later: four neighbouring floats at a time, also
// where a matrix ends; copies in the background; tiles that are loaded while others are multiplied;
// products in the registers of a warp.
#ifndef CHAPTERS_07_TILED_MATMUL_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <cstdint>

// What is known of the sizes, from the best case to any case.
//   kWhole    every tile is full, and 4 floats that are loaded together are 16-byte aligned
//   kVectors  rows begin at multiples of 16 bytes and have a multiple of 4 floats: 4 floats are
//             either all inside or all outside
//   kScalars  nothing: 4 floats are loaded one by one
enum class Edges { kWhole, kVectors, kScalars };

// The best case that holds for a (m x k), b (k x n) and c (m x n) with these tiles.
inline Edges edges_of(const float* a, const float* b, const float* c, int m, int n, int k,
                      int tile_rows, int tile_cols, int step) {
  const auto bits = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                    reinterpret_cast<uintptr_t>(c);
  if (bits % 16 != 0 || n % 4 != 0 || k % 4 != 0) return Edges::kScalars;
  const bool whole = m % tile_rows == 0 && n % tile_cols == 0 && k % step == 0;
  return whole ? Edges::kWhole : Edges::kVectors;
}

// Four neighbours, 16-byte aligned, as one access.
__device__ inline const float4& four(const float* p) { return *reinterpret_cast<const float4*>(p); }
__device__ inline float4& four(float* p) { return *reinterpret_cast<float4*>(p); }

// The four floats from p on, zeros where there are none. `rows` and `cols` say how many rows and
// columns the matrix still has at p, this one included; they may be negative.
template <Edges kEdges>
__device__ inline float4 load4(const float* p, int rows, int cols) {
  if (kEdges == Edges::kWhole) return *reinterpret_cast<const float4*>(p);
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (rows <= 0 || cols <= 0) return v;
  if (kEdges == Edges::kVectors) return *reinterpret_cast<const float4*>(p);
  v.x = p[0];
  if (cols > 1) v.y = p[1];
  if (cols > 2) v.z = p[2];
  if (cols > 3) v.w = p[3];
  return v;
}

// The same, from (row, col) on of a matrix of rows x cols.
template <Edges kEdges>
__device__ inline float4 load4(const float* matrix, int row, int col, int rows, int cols) {
  return load4<kEdges>(matrix + static_cast<size_t>(row) * cols + col, rows - row, cols - col);
}

// Writes the four floats to p, as far as the matrix goes.
template <Edges kEdges>
__device__ inline void store4(float* p, float4 v, int rows, int cols) {
  if (kEdges != Edges::kWhole && (rows <= 0 || cols <= 0)) return;
  if (kEdges != Edges::kScalars) {
    *reinterpret_cast<float4*>(p) = v;
    return;
  }
  p[0] = v.x;
  if (cols > 1) p[1] = v.y;
  if (cols > 2) p[2] = v.z;
  if (cols > 3) p[3] = v.w;
}

// The same, from (row, col) on of a matrix of rows x cols.
template <Edges kEdges>
__device__ inline void store4(float* matrix, float4 v, int row, int col, int rows, int cols) {
  store4<kEdges>(matrix + static_cast<size_t>(row) * cols + col, v, rows - row, cols - col);
}

// ---- copies that go on in the background -------------------------------------------------------

// Begins to copy 16 bytes, aligned, from global to shared memory, past the registers. (.cg: not
// kept in L1, as nobody in this block reads them twice.)
__device__ inline void copy16_async(void* shared, const void* global) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(global) : "memory");
}
// The same for kBytes, 4 or 16. With `inside` false nothing is read, and zeros are written; the
// address must be one that may be named.
template <int kBytes>
__device__ inline void copy_or_zero_async(void* shared, const void* global, bool inside) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int from = inside ? kBytes : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(kBytes),
               "r"(from)
               : "memory");
}

// Copies that were begun since the last call belong together: they are one group.
__device__ inline void close_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kNewest groups of this thread are still on their way. Other threads see what
// was copied behind a __syncthreads().
template <int kNewest>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

// ---- products in the registers of a thread (09 to 14) ------------------------------------------

// What a thread multiplies in one step of k, in groups of four: the Fragments of 08. Of c the
// thread makes S::kRows x S::kCols elements. Lanes (of a block or of a warp) stand S::kLanesX wide
// and S::kLanesY high, and between two groups of a thread lie those of all the other lanes.
template <class S>
struct Groups {
  float4 a[S::kRows / 4], b[S::kCols / 4];

  // `row_of_a` and `row_of_b`: this thread's first elements in the rows of both tiles.
  __device__ void load(const float* row_of_a, const float* row_of_b) {
#pragma unroll
    for (int j = 0; j < S::kCols / 4; ++j) b[j] = four(row_of_b + 4 * S::kLanesX * j);
#pragma unroll
    for (int i = 0; i < S::kRows / 4; ++i) a[i] = four(row_of_a + 4 * S::kLanesY * i);
  }
  // Adds all pairs to their sums; product(x, y) is what a pair adds.
  template <class Product>
  __device__ void multiply(float (&sums)[S::kRows][S::kCols], const Product& product) const {
    const float* x = reinterpret_cast<const float*>(a);
    const float* y = reinterpret_cast<const float*>(b);
#pragma unroll
    for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
      for (int j = 0; j < S::kCols; ++j) sums[i][j] += product(x[i], y[j]);
    }
  }
  __device__ void multiply(float (&sums)[S::kRows][S::kCols]) const {
    multiply(sums, [](float x, float y) { return x * y; });
  }
};

// Writes the sums of a thread whose first element is (row, col) of c (m x n), as far as c goes.
template <Edges kEdges, class S>
__device__ inline void store_groups(const float (&sums)[S::kRows][S::kCols], float* c, int row,
                                    int col, int m, int n) {
#pragma unroll
  for (int i = 0; i < S::kRows; ++i) {
#pragma unroll
    for (int j = 0; j < S::kCols; j += 4) {
      const float* s = &sums[i][j];
      store4<kEdges>(c, make_float4(s[0], s[1], s[2], s[3]), row + i / 4 * 4 * S::kLanesY + i % 4,
                     col + j * S::kLanesX, m, n);
    }
  }
}

// ---- tiles of floats, loaded ahead -------------------------------------------------------------

// The tile of c that a block makes, from the block's number. Blocks with near numbers run at the
// same time. They find more of a and b in L2 if their tiles lie in a block of kGroup rows of tiles
// than if they lie in one long row.
struct TilePosition {
  int row, col;  // in tiles
};
__device__ inline TilePosition tile_of_block(int block, int tile_rows, int tile_cols) {
  constexpr int kGroup = 8;
  const int group = block / (kGroup * tile_cols), within = block % (kGroup * tile_cols);
  const int height = min(kGroup, tile_rows - group * kGroup);  // the last group may have fewer rows
  return {group * kGroup + within % height, within / height};
}

// load4 straight into shared memory, in the background.
template <Edges kEdges>
__device__ inline void copy4_async(float* shared, const float* p, int rows, int cols) {
  if (kEdges != Edges::kScalars) {  // the last argument: bytes at the end that become zeros
    __pipeline_memcpy_async(shared, p, 16, rows > 0 && cols > 0 ? 0 : 16);
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      __pipeline_memcpy_async(shared + i, p + i, 4, rows > 0 && cols > i ? 0 : 4);
    }
  }
}

// How c is shared out: a block makes a tile of kTileRows x kTileCols elements, each of its warps
// kWarpRows x kWarpCols, a thread kRows x kCols.
template <int kTileRows_, int kTileCols_, int kWarpRows_, int kWarpCols_, int kRows_, int kCols_>
struct TileShape {
  static constexpr int kTileRows = kTileRows_, kTileCols = kTileCols_;
  static constexpr int kWarpRows = kWarpRows_, kWarpCols = kWarpCols_;
  static constexpr int kRows = kRows_, kCols = kCols_;
  static constexpr int kWarpsX = kTileCols / kWarpCols;
  static constexpr int kLanesX = kWarpCols / kCols, kLanesY = kWarpRows / kRows;
  static constexpr int kThreads = 32 * kWarpsX * (kTileRows / kWarpRows);
};

// What a block multiplies from barrier to barrier: a tile of a and a tile of b.
template <int kTileRows, int kTileCols, int kStep>
struct TilePair {
  float a[kStep][kTileRows + 4];  // [step of k][row of c]: transposed; padded as in 08
  float b[kStep][kTileCols];      // [step of k][column of c]
};

// One thread's share of loading such pairs, one after the other along k. What is past the end of a
// matrix is zero. b goes to shared memory by itself; a is transposed on its way, so it passes
// through registers.
template <Edges kEdges, int kTileRows, int kTileCols, int kStep, int kThreads>
class TileLoads {
 public:
  using Pair = TilePair<kTileRows, kTileCols, kStep>;
  static constexpr int kLoadsA = kTileRows * kStep / 4 / kThreads;  // of 16 bytes, per pair
  static constexpr int kLoadsB = kTileCols * kStep / 4 / kThreads;

  // The tile of c begins at (first_row, first_col).
  __device__ TileLoads(const float* a, const float* b, int first_row, int first_col, int m, int n,
                       int k)
      : row_a_(threadIdx.x / (kStep / 4)), i_a_(threadIdx.x % (kStep / 4) * 4) {
    const int row = first_row + row_a_, i_b = threadIdx.x / (kTileCols / 4);
    const int col = first_col + threadIdx.x % (kTileCols / 4) * 4;
    a_ = a + static_cast<size_t>(row) * k + i_a_, rows_a_ = m - row, cols_a_ = k - i_a_;
    b_ = b + static_cast<size_t>(i_b) * n + col, rows_b_ = k - i_b, cols_b_ = n - col;
  }

  // Begins to load the next pair, b into `pair`. Nobody may read `pair` any more.
  __device__ void begin(Pair& pair, int n, int k) {
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      constexpr int kApart = kStep / kLoadsB;  // rows of b, between two loads of a thread
      const int at = threadIdx.x / (kTileCols / 4) + kApart * i;
      copy4_async<kEdges>(&pair.b[at][threadIdx.x % (kTileCols / 4) * 4],
                          b_ + static_cast<size_t>(kApart * i) * n, rows_b_ - kApart * i, cols_b_);
    }
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      held_[i] =
          load4<kEdges>(a_ + static_cast<size_t>(kApartA * i) * k, rows_a_ - kApartA * i, cols_a_);
    }
    a_ += kStep, cols_a_ -= kStep;
    b_ += static_cast<size_t>(kStep) * n, rows_b_ -= kStep;
  }

  // Stores what load i of a has brought, waiting for it if need be.
  __device__ void store_a(Pair& pair, int i) const {
    const int row = row_a_ + kApartA * i;
    pair.a[i_a_][row] = held_[i].x;
    pair.a[i_a_ + 1][row] = held_[i].y;
    pair.a[i_a_ + 2][row] = held_[i].z;
    pair.a[i_a_ + 3][row] = held_[i].w;
  }

 private:
  static constexpr int kApartA = kTileRows / kLoadsA;  // rows of a, between two loads of a thread

  int row_a_, i_a_;                        // place of this thread's first load in the tile of a
  const float *a_, *b_;                    // what this thread loads first of the next pair
  int rows_a_, cols_a_, rows_b_, cols_b_;  // what the matrices have from there on
  float4 held_[kLoadsA];                   // of a, between global and shared memory
};

// ---- products in the registers of a warp (21) --------------------------------------------------

// A warp makes sums of 32 rows and 64 columns, 8 x 8 in each lane. Its lanes stand 8 wide and 4
// high: lane (x, y) has the rows y + 4 r. Bit 0 of the lane belongs to x and bit 1 to y: so two
// neighbours always read the same 16 bytes, and the hardware serves both halves of a warp at once.
struct Lane {
  int x, y;
};
__device__ inline Lane lane_of(int lane) {
  return {(lane & 1) | (lane >> 1 & 6), (lane >> 1 & 1) | (lane >> 3 & 2)};
}

// Of the values of the eight lanes that have the same rows, in each of them. The whole warp calls
// these.
__device__ inline float greatest_of_row(float value) {
  for (const int bit : {1, 4, 8}) value = fmaxf(value, __shfl_xor_sync(0xFFFFFFFF, value, bit));
  return value;
}
__device__ inline float sum_of_row(float value) {
  for (const int bit : {1, 4, 8}) value += __shfl_xor_sync(0xFFFFFFFF, value, bit);
  return value;
}

// sums[r][c] += the products of row y + 4 r of a with row x + 8 c of b: a times b transposed.
template <int kPitchA, int kPitchB>
__device__ inline void add_rows_by_rows(const float (&a)[32][kPitchA],
                                        const float (&b)[64][kPitchB], Lane lane,
                                        float (&sums)[8][8]) {
#pragma unroll 2
  for (int i = 0; i < 64; i += 4) {  // 16 requests of 16 bytes, 256 multiply-adds
    float4 from_a[8], from_b[8];
    for (int r = 0; r < 8; ++r) from_a[r] = four(&a[lane.y + 4 * r][i]);
    for (int c = 0; c < 8; ++c) from_b[c] = four(&b[lane.x + 8 * c][i]);
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) sums[r][c] += from_a[r].x * from_b[c].x;
    }
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) sums[r][c] += from_a[r].y * from_b[c].y;
    }
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) sums[r][c] += from_a[r].z * from_b[c].z;
    }
    for (int r = 0; r < 8; ++r) {
      for (int c = 0; c < 8; ++c) sums[r][c] += from_a[r].w * from_b[c].w;
    }
  }
}

// sums[r][c] += the products of row y + 4 r of a with column 4 x + c of b, from c = 4 on with the
// column 32 further right: a times b.
template <int kPitchA, int kPitchB>
__device__ inline void add_rows_by_columns(const float (&a)[32][kPitchA],
                                           const float (&b)[64][kPitchB], Lane lane,
                                           float (&sums)[8][8]) {
#pragma unroll 2
  for (int i = 0; i < 64; i += 4) {
    float4 from_a[8];
    for (int r = 0; r < 8; ++r) from_a[r] = four(&a[lane.y + 4 * r][i]);
    for (int j = 0; j < 4; ++j) {
      const float4 left = four(&b[i + j][4 * lane.x]), right = four(&b[i + j][4 * lane.x + 32]);
      for (int r = 0; r < 8; ++r) {
        const float x = reinterpret_cast<const float*>(&from_a[r])[j];
        sums[r][0] += x * left.x;
        sums[r][1] += x * left.y;
        sums[r][2] += x * left.z;
        sums[r][3] += x * left.w;
        sums[r][4] += x * right.x;
        sums[r][5] += x * right.y;
        sums[r][6] += x * right.z;
        sums[r][7] += x * right.w;
      }
    }
  }
}

// Begins to copy kRows rows of 64 floats, from row `first` of `from` on; past the last of its
// `rows` there are zeros. `count` threads call it, a multiple of 16, and this one is number t.
template <int kRows, int kPitch>
__device__ inline void load_rows(float (&to)[kRows][kPitch], const float* from, int first, int rows,
                                 int t, int count) {
  const int col = t % 16 * 4;  // the same in all rows of a thread
  for (int row = t / 16; row < kRows; row += count / 16) {
    const bool inside = first + row < rows;
    const float* source = from + (inside ? static_cast<size_t>(first + row) * 64 + col : 0);
    copy_or_zero_async<16>(&to[row][col], source, inside);
  }
}

#endif  // CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

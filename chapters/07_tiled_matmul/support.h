// Given code of chapter 07, for exercises 08 and later: four neighbouring floats at a time, also
// where a matrix ends; copies in the background; and what was written in 08, for any shape.
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
// The same for kBytes, 4 or 16. With `inside` false nothing is read, wherever the address points,
// and zeros are written.
template <int kBytes>
__device__ inline void copy_or_zero_async(void* shared, const void* global, bool inside) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int from = inside ? kBytes : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global), "n"(kBytes),
               "r"(from)
               : "memory");
}

// The first load4 straight into shared memory, in the background: `rows` and `cols` as there.
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

// Copies that were begun since the last call belong together: they are one group.
__device__ inline void close_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kNewest groups of this thread are still on their way. Other threads see what
// was copied behind a __syncthreads().
template <int kNewest>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

// ---- products in the registers of a thread: your own code of 08, for any shape -----------------

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

// ---- the order of the tiles --------------------------------------------------------------------

// The tile of c that a block makes, from the block's number. Blocks with near numbers run at the
// same time. They find more of a and b in L2 if their tiles lie in a block of kGroup rows of tiles
// than if they lie in one long row.
struct TilePosition {
  int row, col;  // here in tiles
};
__device__ inline TilePosition tile_of_block(int block, int tile_rows, int tile_cols) {
  constexpr int kGroup = 8;
  const int group = block / (kGroup * tile_cols), within = block % (kGroup * tile_cols);
  const int height = min(kGroup, tile_rows - group * kGroup);  // the last group may have fewer rows
  return {group * kGroup + within % height, within / height};
}

#endif  // CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

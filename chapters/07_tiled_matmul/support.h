// Given code of chapter 07, for exercise 08: four neighbouring floats at a time, also
// where a matrix ends.
#ifndef CHAPTERS_07_TILED_MATMUL_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

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

#endif  // CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

// Given code of chapter 07, for exercises 08 and later: four neighbouring floats at a time, also
// where a matrix ends; copies in the background.
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

#endif  // CHAPTERS_07_TILED_MATMUL_SUPPORT_H_

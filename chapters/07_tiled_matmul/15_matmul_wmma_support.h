// Given code of 07/15: tiles of bfloat16 on their way to shared memory, and sums on their way out.
#ifndef CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_SUPPORT_H_

#include <cuda_bf16.h>
#include <mma.h>

#include <cstdint>

#include "support.h"

constexpr int kChunk = 8;  // bfloat16 in 16 bytes

// Rows of all three matrices begin where 16 bytes can be copied at once, and fragments of c, whose
// rows store_matrix_sync writes, where 32 bytes begin.
inline bool rows_are_aligned(const __nv_bfloat16* a, const __nv_bfloat16* b, const float* c, int n,
                             int k) {
  const auto bits = reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) |
                    reinterpret_cast<uintptr_t>(c);
  return bits % 32 == 0 && n % kChunk == 0 && k % kChunk == 0;
}

// Copies the kRows x kCols elements at (row, col) of a matrix of rows x cols, which lies row-major,
// to `tile`, whose rows lie kPitch elements apart. All threads of the block take part. What lies
// outside becomes zero. This one takes any rows, and is done when it returns.
template <int kRows, int kCols, int kPitch, int kThreads>
__device__ inline void copy_tile_by_elements(__nv_bfloat16* tile, const __nv_bfloat16* matrix,
                                             int row, int col, int rows, int cols) {
#pragma unroll 1  // rare: short code
  for (int i = threadIdx.x; i < kRows * kCols; i += kThreads) {
    const int r = row + i / kCols, s = col + i % kCols;
    const bool inside = r < rows && s < cols;
    tile[i / kCols * kPitch + i % kCols] =
        inside ? matrix[static_cast<size_t>(r) * cols + s] : __nv_bfloat16(0.0f);
  }
}

// The same for aligned rows, in the background. kWhole: all of the tile lies inside.
template <bool kWhole, int kRows, int kCols, int kPitch, int kThreads>
__device__ inline void copy_tile_async(__nv_bfloat16* tile, const __nv_bfloat16* matrix, int row,
                                       int col, int rows, int cols) {
  constexpr int kAcross = kCols / kChunk;        // threads that copy a row of the tile
  constexpr int kTogether = kThreads / kAcross;  // rows that the block copies at a time
  static_assert(kThreads % kAcross == 0 && kRows % kTogether == 0, "no thread copies less");
  row += threadIdx.x / kAcross;
  col += threadIdx.x % kAcross * kChunk;
  tile += threadIdx.x / kAcross * kPitch + threadIdx.x % kAcross * kChunk;
  const __nv_bfloat16* from = matrix + static_cast<size_t>(row) * cols + col;
#pragma unroll
  for (int r = 0; r < kRows; r += kTogether) {
    if (kWhole) {
      copy16_async(tile + r * kPitch, from);
    } else {
      const bool inside = row + r < rows && col < cols;
      copy_or_zero_async<16>(tile + r * kPitch, inside ? from : matrix, inside);
    }
    from += static_cast<size_t>(kTogether) * cols;
  }
}

// What a warp multiplies with one call: 16 x 16 elements each, in the registers of its lanes.
using FragmentA = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __nv_bfloat16,
                                         nvcuda::wmma::row_major>;
using FragmentB = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __nv_bfloat16,
                                         nvcuda::wmma::row_major>;

// wmma::load_matrix_sync for bfloat16 in shared memory. The function of mma.h does the same, but
// for bfloat16 nvcc (12.4 to 13.0) emits it for an address of any kind, and then the assembler
// cannot use ldmatrix. Here the address is said to be one of shared memory.
__device__ inline void load_shared(FragmentA& fragment, const __nv_bfloat16* tile, int pitch) {
  auto* to = reinterpret_cast<unsigned*>(&fragment);  // 8 elements: 4 registers
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))), "r"(pitch)
               : "memory");
}
__device__ inline void load_shared(FragmentB& fragment, const __nv_bfloat16* tile, int pitch) {
  auto* to = reinterpret_cast<unsigned*>(&fragment);
  asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.bf16 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))), "r"(pitch)
               : "memory");
}

// 16 x 16 sums of a warp, in the registers of its lanes.
using Sums = nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float>;

// Writes the part of `sums` that c (m x n) has at (row, col). `scratch` is this warp's own, 16 x 16
// floats of shared memory: which lane holds which sum only the warp's own store knows.
__device__ inline void store_inside(float* c, const Sums& sums, float* scratch, int row, int col,
                                    int m, int n) {
  nvcuda::wmma::store_matrix_sync(scratch, sums, 16, nvcuda::wmma::mem_row_major);
  __syncwarp();   // closes write against read: a lane copies what other lanes have stored
#pragma unroll 1  // at edges only: short code
  for (int e = threadIdx.x % 32; e < 16 * 16; e += 32) {
    const int r = row + e / 16, s = col + e % 16;
    if (r < m && s < n) c[static_cast<size_t>(r) * n + s] = scratch[e];
  }
  __syncwarp();  // closes read against write: the next 16 x 16 sums go to the same place
}

#endif  // CHAPTERS_07_TILED_MATMUL_15_MATMUL_WMMA_SUPPORT_H_

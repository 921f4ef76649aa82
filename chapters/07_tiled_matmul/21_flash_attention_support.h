// Given code of 07/21: products in the registers of a warp, and the loads of their tiles.
#ifndef CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_SUPPORT_H_
#define CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_SUPPORT_H_

#include <cuda_runtime.h>

#include "support.h"

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

#endif  // CHAPTERS_07_TILED_MATMUL_21_FLASH_ATTENTION_SUPPORT_H_

// 05/10 Softmax of rows: a block (or a warp) reads a row once, keeps it in registers, writes it
// once.
//   x, y      rows x cols floats in device memory, row-major, aligned to 16 bytes; any cols >= 1
//   A part of a row is described by two numbers: its greatest value m, and the sum s of exp(x - m).
//   That is enough to join two parts without looking at them again: the online softmax.
//   launch_softmax_rows, at the end, says which rows take which kernel; how many threads a row gets
//   is yours.
//   TODOs     3
#include <cfloat>

#include "10_softmax_rows.h"
#include "support.h"

constexpr int kMostThreads = 1024;     // of a block
inline constexpr int kNarrowRows = 8;  // that a block takes where a warp is enough for a row

// -FLT_MAX instead of -infinity: exp(m - m) must be 1, also in a part that is empty or all masked.
struct Part {
  float m = -FLT_MAX, s = 0.0f;
};

// What describes both parts together.
__device__ Part join(Part a, Part b) {
  // TODO(1): What a Part of all the values of both would be (about 2 lines).
  return a.m > b.m ? a : b;
}

// What describes the parts of all lanes of the warp together, in every lane.
__device__ Part join_warp(Part part) {
  return part;  // TODO(2): The Part of all 32 lanes, in every lane (about 2 lines).
}

// What describes the parts of all threads of a row together, in every thread.
__device__ Part join_block(Part part) {
  // Still TODO(2): The Part of all threads with this threadIdx.y, in every one of them. With a
  // single warp there is nobody to wait for; blockDim.x is at most 1024 (about 8 lines).
  return part;
}

// Rows of up to 4 * blockDim.x * kLoads floats, a multiple of four. A block has blockDim.y rows;
// with more than one, blockDim.x is a warp: then no barrier is needed.
template <int kLoads>
__global__ void __launch_bounds__(kMostThreads)
    softmax_in_registers(const float4* x, float4* y, int rows, int fours) {
  // TODO(3): Row r of x, `fours` float4 long, becomes row r of y. Each element is loaded once, kept
  // in registers, and exponentiated once (about 33 lines).
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice.
__global__ void __launch_bounds__(kMostThreads) softmax_online(const float* x, float* y, int cols) {
  // Still TODO(1): Block r has row r, and reads it twice in all (about 8 lines).
}

// As many whole warps as the row fills with kLoads float4 per thread.
template <int kLoads>
void launch_in_registers(const float* d_x, float* d_y, int rows, int cols) {
  // Still TODO(3): Enough threads for a row. Rows for which one warp is enough share a block: a
  // multiprocessor holds only 32 blocks at a time (about 6 lines).
}

void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  if (cols % 4 != 0 || cols > 4 * 8 * kMostThreads) {
    softmax_online<<<rows, 256>>>(d_x, d_y, cols);
  } else if (cols <= 4 * 2 * kMostThreads) {
    launch_in_registers<2>(d_x, d_y, rows, cols);
  } else if (cols <= 4 * 4 * kMostThreads) {
    launch_in_registers<4>(d_x, d_y, rows, cols);
  } else {
    launch_in_registers<8>(d_x, d_y, rows, cols);
  }
}

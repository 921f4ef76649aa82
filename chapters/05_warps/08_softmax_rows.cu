// 05/08 Softmax of rows: a block (or a warp) reads a row once, keeps it in registers, writes it
// once.
//   x, y      rows x cols floats in device memory, row-major, aligned to 16 bytes; any cols >= 1
//   A part of a row is described by two numbers: its greatest value m, and the sum s of exp(x - m).
//   That is enough to join two parts without looking at them again: the online softmax.
//   TODOs     3
#include <cfloat>

#include "08_softmax_rows.h"
#include "support.h"

constexpr int kNarrowRows = 8;  // that a block takes where a warp is enough for a row

// -FLT_MAX instead of -infinity: exp(m - m) must be 1, also in a part that is empty or all masked.
struct Part {
  float m = -FLT_MAX, s = 0.0f;
};

// What describes both parts together.
__device__ Part join(Part a, Part b) {
  // TODO(1): The greater m; each s scaled to it (about 2 lines).
  return a.m > b.m ? a : b;
}

// What describes the parts of all lanes of the warp together, in every lane.
__device__ Part join_warp(Part part) {
  // TODO(2): The greatest m of all lanes, and each s scaled to it (warp_max and warp_sum; 2 lines).
  // Then, below, the warps: a Part per warp in of_warp, which every warp joins (about 4 lines).
  return part;
}

// What describes the parts of all threads of a row together, in every thread.
template <int kThreads>
__device__ Part join_block(Part part) {
  __shared__ Part of_warp[kThreads / kWarp];  // [warp]
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  part = join_warp(part);
  if (kThreads == kWarp) return part;  // the row has no other warp
  if (lane == 0) {
    of_warp[warp].m = part.m;
    part.m = of_warp[warp].m;
  }
  return part;
}

// Rows of up to 4 * kThreads * kLoads floats, a multiple of four. A block has kThreads x (rows)
// threads; with more than one row these are warps, which need no barrier.
template <int kThreads, int kLoads>
__global__ void __launch_bounds__(kThreads == kWarp ? kNarrowRows * kWarp : kThreads)
    softmax_in_registers(const float4* x, float4* y, int rows, int fours) {
  const int row_of_x = blockIdx.x * blockDim.y + threadIdx.y;
  if (row_of_x >= rows) return;
  const size_t begin = static_cast<size_t>(row_of_x) * fours;
  float4 v[kLoads];  // [load]: neighbouring threads hold neighbouring float4
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    v[k] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);  // past the end: weight 0
    if (i < fours) v[k] = x[begin + i];
  }
  float factor = 1.0f;
  // TODO(3): Describe the values of this thread by a Part, and replace each by exp(value - its m)
  // on the way. Join the block. What must each be multiplied by to become the result? (about 14
  // lines)
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * kThreads + threadIdx.x;
    if (i < fours) {
      y[begin + i] =
          make_float4(v[k].x * factor, v[k].y * factor, v[k].z * factor, v[k].w * factor);
    }
  }
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice.
template <int kThreads>
__global__ void __launch_bounds__(kThreads) softmax_online(const float* x, float* y, int cols) {
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  Part mine;
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    mine = join(mine, {fmaxf(x[begin + col], -FLT_MAX), x[begin + col] < -FLT_MAX ? 0.0f : 1.0f});
  }
  const Part row = join_block<kThreads>(mine);
  for (int col = threadIdx.x; col < cols; col += kThreads) {
    y[begin + col] = expf(x[begin + col] - row.m) / row.s;
  }
}

template <int kThreads, int kLoads>
void launch_in_registers(const float* d_x, float* d_y, int rows, int cols) {
  const dim3 block(kThreads, kThreads == kWarp ? kNarrowRows : 1);
  const int grid = (rows + block.y - 1) / block.y;
  softmax_in_registers<kThreads, kLoads><<<grid, block>>>(
      reinterpret_cast<const float4*>(d_x), reinterpret_cast<float4*>(d_y), rows, cols / 4);
}

void launch_softmax_rows(const float* d_x, float* d_y, int rows, int cols) {
  if (rows == 0) return;
  if (cols % 4 != 0 || cols > 32768) {
    softmax_online<256><<<rows, 256>>>(d_x, d_y, cols);
  } else if (cols <= 256) {
    launch_in_registers<kWarp, 2>(d_x, d_y, rows, cols);
  } else if (cols <= 1024) {
    launch_in_registers<128, 2>(d_x, d_y, rows, cols);
  } else if (cols <= 2048) {
    launch_in_registers<256, 2>(d_x, d_y, rows, cols);
  } else if (cols <= 4096) {
    launch_in_registers<512, 2>(d_x, d_y, rows, cols);
  } else if (cols <= 8192) {
    launch_in_registers<1024, 2>(d_x, d_y, rows, cols);
  } else if (cols <= 16384) {
    launch_in_registers<1024, 4>(d_x, d_y, rows, cols);
  } else {
    launch_in_registers<1024, 8>(d_x, d_y, rows, cols);
  }
}

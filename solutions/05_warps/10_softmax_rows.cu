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
  //~ // TODO(1): What a Part of all the values of both would be (about 2 lines).
  //~ return a.m > b.m ? a : b;
  //~begin 1
  const float m = fmaxf(a.m, b.m);
  return {m, a.s * expf(a.m - m) + b.s * expf(b.m - m)};  // one of the two factors is 1
  //~end
}

// What describes the parts of all lanes of the warp together, in every lane.
__device__ Part join_warp(Part part) {
  //~ return part;  // TODO(2): The Part of all 32 lanes, in every lane (about 2 lines).
  //~begin 2
  const float m = warp_max(part.m);
  return {m, warp_sum(part.s * expf(part.m - m))};  // one exp per lane, not two per step
  //~end
}

// What describes the parts of all threads of a row together, in every thread.
__device__ Part join_block(Part part) {
  //~ // Still TODO(2): The Part of all threads with this threadIdx.y, in every one of them. With a
  //~ // single warp there is nobody to wait for; blockDim.x is at most 1024 (about 8 lines).
  //~ return part;
  //~begin 2
  __shared__ Part of_warp[kWarp];  // [warp]: at most 32 of them
  const int warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp, warps = blockDim.x / kWarp;
  part = join_warp(part);
  if (warps == 1) return part;  // the row has no other warp
  if (lane == 0) of_warp[warp] = part;
  __syncthreads();  // every warp reads the parts of all
  part = join_warp(lane < warps ? of_warp[lane] : Part());
  return part;
  //~end
}

// Rows of up to 4 * blockDim.x * kLoads floats, a multiple of four. A block has blockDim.y rows;
// with more than one, blockDim.x is a warp: then no barrier is needed.
template <int kLoads>
__global__ void __launch_bounds__(kMostThreads)
    softmax_in_registers(const float4* x, float4* y, int rows, int fours) {
  //~ // TODO(3): Row r of x, `fours` float4 long, becomes row r of y. Each element is loaded once, kept
  //~ // in registers, and exponentiated once (about 33 lines).
  //~begin 3
  const int row_of_x = blockIdx.x * blockDim.y + threadIdx.y;
  if (row_of_x >= rows) return;
  const size_t begin = static_cast<size_t>(row_of_x) * fours;
  float4 v[kLoads];  // [load]: neighbouring threads hold neighbouring float4
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * blockDim.x + threadIdx.x;
    v[k] = make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);  // past the end: weight 0
    if (i < fours) v[k] = x[begin + i];
  }
  Part mine;
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    mine.m = fmaxf(mine.m, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
  }
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    v[k] = make_float4(expf(v[k].x - mine.m), expf(v[k].y - mine.m), expf(v[k].z - mine.m),
                       expf(v[k].w - mine.m));
    mine.s += (v[k].x + v[k].y) + (v[k].z + v[k].w);
  }
  const Part row = join_block(mine);
  const float factor = expf(mine.m - row.m) / row.s;  // from this thread's greatest to the row's
#pragma unroll
  for (int k = 0; k < kLoads; ++k) {
    const int i = k * blockDim.x + threadIdx.x;
    if (i < fours) {
      y[begin + i] =
          make_float4(v[k].x * factor, v[k].y * factor, v[k].z * factor, v[k].w * factor);
    }
  }
  //~end
}

// Any cols: rows that are not made of whole float4, or too long for registers, are read twice.
__global__ void __launch_bounds__(kMostThreads) softmax_online(const float* x, float* y, int cols) {
  //~ // Still TODO(1): Block r has row r, and reads it twice in all (about 8 lines).
  //~begin 1
  const size_t begin = static_cast<size_t>(blockIdx.x) * cols;
  Part mine;
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    mine = join(mine, {fmaxf(x[begin + col], -FLT_MAX), x[begin + col] < -FLT_MAX ? 0.0f : 1.0f});
  }
  const Part row = join_block(mine);
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    y[begin + col] = expf(x[begin + col] - row.m) / row.s;
  }
  //~end
}

// As many whole warps as the row fills with kLoads float4 per thread.
template <int kLoads>
void launch_in_registers(const float* d_x, float* d_y, int rows, int cols) {
  //~ // Still TODO(3): Enough threads for a row. Rows for which one warp is enough share a block: a
  //~ // multiprocessor holds only 32 blocks at a time (about 6 lines).
  //~begin 3
  const int floats_per_warp = 4 * kLoads * kWarp;
  const int warps = (cols + floats_per_warp - 1) / floats_per_warp;
  const dim3 block(warps * kWarp, warps == 1 ? kNarrowRows : 1);
  const int grid = (rows + block.y - 1) / block.y;
  softmax_in_registers<kLoads><<<grid, block>>>(reinterpret_cast<const float4*>(d_x),
                                                reinterpret_cast<float4*>(d_y), rows, cols / 4);
  //~end
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

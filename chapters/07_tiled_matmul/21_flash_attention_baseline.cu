// Given kernels of 07/21: attention as three kernels, with the scores in global memory. The
// products are those of 07, with 8 x 8 (or 8 x 4) sums per thread, for each head.
#include <cfloat>

#include "21_flash_attention.h"

namespace {

constexpr int kTile = 128, kStep = 8, kSide = 16;  // rows of a tile; along k; threads of a side
constexpr int kRows = kTile / kSide;               // rows of a thread
constexpr int kSoftmaxThreads = 256;

// c = scale * a b for each head (blockIdx.z), tiles of 128 x kCols.
//   a  m x k,  c  m x n;  b  n x k if kTransposed (then c = scale * a b^T), else k x n
template <int kCols, bool kTransposed>
__global__ void __launch_bounds__(kSide* kSide)
    multiply_heads(const float* a, const float* b, float* c, int m, int n, int k, float scale) {
  constexpr int kEachCol = kCols / kSide;
  __shared__ float tile_a[kTile][kStep + 1];  // [row of c][step of k]
  __shared__ float tile_b[kStep][kCols + 1];  // [step of k][column of c]
  const size_t head = blockIdx.z;
  a += head * m * k, b += head * n * k, c += head * m * n;
  const int t = threadIdx.x, tx = t % kSide, ty = t / kSide;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kCols;
  float sums[kRows][kEachCol] = {};
  for (int first = 0; first < k; first += kStep) {
    for (int e = t; e < kTile * kStep; e += kSide * kSide) {
      const int row = first_row + e / kStep, i = first + e % kStep;
      tile_a[e / kStep][e % kStep] = row < m && i < k ? a[static_cast<size_t>(row) * k + i] : 0.0f;
    }
    for (int e = t; e < kCols * kStep; e += kSide * kSide) {
      const int at_col = kTransposed ? e / kStep : e % kCols;
      const int at_i = kTransposed ? e % kStep : e / kCols;
      const int col = first_col + at_col, i = first + at_i;
      const size_t at =
          kTransposed ? static_cast<size_t>(col) * k + i : static_cast<size_t>(i) * n + col;
      tile_b[at_i][at_col] = col < n && i < k ? b[at] : 0.0f;
    }
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
    for (int i = 0; i < kStep; ++i) {
      float from_a[kRows], from_b[kEachCol];
      for (int r = 0; r < kRows; ++r) from_a[r] = tile_a[ty + kSide * r][i];
      for (int s = 0; s < kEachCol; ++s) from_b[s] = tile_b[i][tx + kSide * s];
      for (int r = 0; r < kRows; ++r) {
        for (int s = 0; s < kEachCol; ++s) sums[r][s] += from_a[r] * from_b[s];
      }
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  for (int r = 0; r < kRows; ++r) {
    for (int s = 0; s < kEachCol; ++s) {
      const int row = first_row + ty + kSide * r, col = first_col + tx + kSide * s;
      if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = scale * sums[r][s];
    }
  }
}

// The greatest, or the sum, of the values of all threads of the block.
template <bool kGreatest>
__device__ float over_block(float value) {
  __shared__ float of_warp[kSoftmaxThreads / 32];
  const auto join = [](float a, float b) { return kGreatest ? fmaxf(a, b) : a + b; };
  for (int step = 16; step > 0; step /= 2) {
    value = join(value, __shfl_xor_sync(0xFFFFFFFF, value, step));
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();  // every thread reads what all warps have found
  value = of_warp[0];
  for (int warp = 1; warp < kSoftmaxThreads / 32; ++warp) value = join(value, of_warp[warp]);
  __syncthreads();  // the next call overwrites of_warp
  return value;
}

// Each row of x, in place: a block per row.
__global__ void __launch_bounds__(kSoftmaxThreads) softmax_rows(float* x, int cols) {
  float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float greatest = -FLT_MAX, sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += kSoftmaxThreads) greatest = fmaxf(greatest, row[i]);
  greatest = over_block<true>(greatest);
  for (int i = threadIdx.x; i < cols; i += kSoftmaxThreads) {
    row[i] = expf(row[i] - greatest);
    sum += row[i];
  }
  sum = over_block<false>(sum);
  for (int i = threadIdx.x; i < cols; i += kSoftmaxThreads) row[i] /= sum;
}

}  // namespace

void launch_attention_in_three_kernels(const float* d_q, const float* d_k, const float* d_v,
                                       float* d_scores, float* d_out, int heads, int queries,
                                       int keys) {
  if (heads == 0 || queries == 0) return;
  const int tiles = (queries + kTile - 1) / kTile;
  multiply_heads<128, true><<<dim3((keys + 127) / 128, tiles, heads), kSide * kSide>>>(
      d_q, d_k, d_scores, queries, keys, kDim, 0.125f);
  softmax_rows<<<heads * queries, kSoftmaxThreads>>>(d_scores, keys);
  multiply_heads<kDim, false>
      <<<dim3(1, tiles, heads), kSide * kSide>>>(d_scores, d_v, d_out, queries, kDim, keys, 1.0f);
}

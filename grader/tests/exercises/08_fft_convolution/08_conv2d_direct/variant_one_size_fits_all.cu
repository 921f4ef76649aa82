// Every filter size by one kernel: four outputs per thread, and a window that slides in registers.
#include "08_conv2d_direct.h"

namespace {

constexpr int kSide = 32;             // outputs of a tile, both ways
constexpr int kEach = 4;              // outputs of a thread
constexpr int kRows = kSide / kEach;  // of threads

__constant__ float taps[kMaxFilterSide][kMaxFilterSide];

__global__ void sliding(const float* x, float* y, int h, int w, int r, int s) {
  extern __shared__ float tile[];  // [kSide + r - 1][kSide + s - 1]
  const int cols = kSide + s - 1, size = (kSide + r - 1) * cols;
  const int top = blockIdx.y * kSide - (r - 1) / 2, left = blockIdx.x * kSide - (s - 1) / 2;
  for (int e = threadIdx.y * kSide + threadIdx.x; e < size; e += kSide * kRows) {
    const int row = top + e / cols, col = left + e % cols;
    const bool inside = row >= 0 && row < h && col >= 0 && col < w;
    tile[e] = inside ? x[static_cast<size_t>(row) * w + col] : 0.0f;
  }
  __syncthreads();
  float sums[kEach] = {};
  for (int j = 0; j < s; ++j) {
    const float* column = tile + kEach * threadIdx.y * cols + threadIdx.x + j;
    float v[kEach];  // v[o] meets the weight of row i in output o
#pragma unroll
    for (int o = 1; o < kEach; ++o) v[o] = column[(o - 1) * cols];
    for (int i = 0; i < r; ++i) {
#pragma unroll
      for (int o = 0; o + 1 < kEach; ++o) v[o] = v[o + 1];
      v[kEach - 1] = column[(i + kEach - 1) * cols];
#pragma unroll
      for (int o = 0; o < kEach; ++o) sums[o] += taps[i][j] * v[o];
    }
  }
  const int col = blockIdx.x * kSide + threadIdx.x;
  for (int o = 0; o < kEach; ++o) {
    const int row = blockIdx.y * kSide + kEach * threadIdx.y + o;
    if (row < h && col < w) y[static_cast<size_t>(row) * w + col] = sums[o];
  }
}

}  // namespace

void launch_conv2d_direct(const float* d_x, const float* d_f, float* d_y, int h, int w, int r,
                          int s) {
  if (h <= 0 || w <= 0) return;
  void* to = nullptr;
  cudaGetSymbolAddress(&to, taps);
  cudaMemcpy2DAsync(to, sizeof(taps[0]), d_f, s * sizeof(float), s * sizeof(float), r,
                    cudaMemcpyDeviceToDevice);
  const dim3 grid((w + kSide - 1) / kSide, (h + kSide - 1) / kSide);
  const size_t bytes = (kSide + r - 1) * (kSide + s - 1) * sizeof(float);
  sliding<<<grid, dim3(kSide, kRows), bytes>>>(d_x, d_y, h, w, r, s);
}

// Accepted: y is cut into parts that different blocks take. What a block finds for a row goes into
// one word of 64 bits, square above and place below, whose least value wins by an atomic.
#include <algorithm>

#include "22_nearest_rows.h"

namespace {

constexpr int kTile = 64, kStep = 32, kOwn = 8;
constexpr int kSide = kTile / kOwn, kThreads = kSide * kSide;
constexpr int kPart = kTile;  // rows of y of a block at a time
using Key = unsigned long long;

// The order of keys is that of squares, which are not negative, and then of places.
__device__ Key key_of(float square, int place) {
  return static_cast<Key>(__float_as_uint(square)) << 32 | static_cast<unsigned>(place);
}

__global__ void __launch_bounds__(kThreads)
    compare_parts(const float* x, const float* y, Key* keys, int m, int n, int k) {
  __shared__ float of_x[kTile][kStep + 1], of_y[kTile][kStep + 1];
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide;
  const int first_x = blockIdx.x * kTile;
  Key best[kOwn];
  for (Key& one : best) one = ~Key{0};
  for (int part = blockIdx.y * kPart; part < n; part += gridDim.y * kPart) {
    for (int first_y = part; first_y < min(part + kPart, n); first_y += kTile) {
      float sums[kOwn][kOwn] = {};
      for (int first = 0; first < k; first += kStep) {
        __syncthreads();
        // Every thread loads something, so that loads do not wait for one another; then zeros.
#pragma unroll 8
        for (int e = threadIdx.x; e < kTile * kStep; e += kThreads) {
          const int r = e / kStep, l = e % kStep;
          const size_t coordinate = min(first + l, k - 1);
          const float one = x[static_cast<size_t>(min(first_x + r, m - 1)) * k + coordinate];
          const float other = y[static_cast<size_t>(min(first_y + r, n - 1)) * k + coordinate];
          of_x[r][l] = first + l < k && first_x + r < m ? one : 0.0f;
          of_y[r][l] = first + l < k && first_y + r < n ? other : 0.0f;
        }
        __syncthreads();
        for (int l = 0; l < kStep; ++l) {
          float u[kOwn], v[kOwn];
#pragma unroll
          for (int o = 0; o < kOwn; ++o) u[o] = of_x[ty + o * kSide][l];
#pragma unroll
          for (int o = 0; o < kOwn; ++o) v[o] = of_y[tx + o * kSide][l];
#pragma unroll
          for (int r = 0; r < kOwn; ++r) {
#pragma unroll
            for (int c = 0; c < kOwn; ++c) {
              const float d = u[r] - v[c];
              sums[r][c] = fmaf(d, d, sums[r][c]);
            }
          }
        }
      }
#pragma unroll
      for (int r = 0; r < kOwn; ++r) {
#pragma unroll
        for (int c = 0; c < kOwn; ++c) {
          const int j = first_y + tx + c * kSide;
          if (j < n) best[r] = min(best[r], key_of(sums[r][c], j));
        }
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kOwn; ++r) {
    for (int step = 1; step < kSide; step *= 2) {
      best[r] = min(best[r], __shfl_xor_sync(0xffffffffu, best[r], step));
    }
    const int row = first_x + ty + r * kSide;
    if (tx == 0 && row < m) atomicMin(&keys[row], best[r]);
  }
}

__global__ void take_apart(const Key* keys, int* nearest, float* distance, int m) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m) return;
  nearest[row] = static_cast<int>(keys[row] & 0x7fffffff);
  distance[row] = __uint_as_float(static_cast<unsigned>(keys[row] >> 32));
}

}  // namespace

void launch_nearest_rows(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                         int m, int n, int k) {
  if (m == 0) return;
  Key* d_keys = nullptr;
  const size_t bytes = static_cast<size_t>(m) * sizeof(Key);
  if (cudaMallocAsync(reinterpret_cast<void**>(&d_keys), bytes, nullptr) != cudaSuccess) return;
  cudaMemsetAsync(d_keys, 0xff, bytes);
  const dim3 grid((m + kTile - 1) / kTile, std::min((n + kPart - 1) / kPart, 65535));
  compare_parts<<<grid, kThreads>>>(d_x, d_y, d_keys, m, n, k);
  take_apart<<<(m + 255) / 256, 256>>>(d_keys, d_nearest, d_distance, m);
  cudaFreeAsync(d_keys, nullptr);
}

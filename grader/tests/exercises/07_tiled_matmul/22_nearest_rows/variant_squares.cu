// Accepted: differences are squared one by one, in tiles of 64 rows of x and 32 of y, and the threads
// of a row compare what they have found in shared memory.
#include "22_nearest_rows.h"

namespace {

constexpr int kRowsX = 64, kRowsY = 32, kStep = 32;
constexpr int kAcross = 8, kDown = 16;  // threads along y and along x
constexpr int kOwnX = kRowsX / kDown, kOwnY = kRowsY / kAcross;
constexpr int kThreads = kAcross * kDown;

__global__ void nearest_by_squares(const float* x, const float* y, int* nearest, float* distance,
                                   int m, int n, int k) {
  __shared__ float a[kRowsX][kStep + 1], b[kRowsY][kStep + 1];
  __shared__ float values[kRowsX][kAcross];
  __shared__ int places[kRowsX][kAcross];
  const int tx = threadIdx.x, ty = threadIdx.y, me = ty * kAcross + tx;
  const int first_x = blockIdx.x * kRowsX;
  for (int r = 0; r < kOwnX; ++r) {
    values[ty * kOwnX + r][tx] = INFINITY;
    places[ty * kOwnX + r][tx] = 0;
  }
  for (int first_y = 0; first_y < n; first_y += kRowsY) {
    float sums[kOwnX][kOwnY] = {};
    for (int first = 0; first < k; first += kStep) {
      for (int e = me; e < kRowsX * kStep; e += kThreads) {
        const int row = first_x + e / kStep, l = first + e % kStep;
        a[e / kStep][e % kStep] = row < m && l < k ? x[static_cast<size_t>(row) * k + l] : 0.0f;
      }
      for (int e = me; e < kRowsY * kStep; e += kThreads) {
        const int row = first_y + e / kStep, l = first + e % kStep;
        b[e / kStep][e % kStep] = row < n && l < k ? y[static_cast<size_t>(row) * k + l] : 0.0f;
      }
      __syncthreads();
#pragma unroll 4
      for (int l = 0; l < kStep; ++l) {
        float u[kOwnX], v[kOwnY];
        for (int r = 0; r < kOwnX; ++r) u[r] = a[ty * kOwnX + r][l];
        for (int c = 0; c < kOwnY; ++c) v[c] = b[tx * kOwnY + c][l];
        for (int r = 0; r < kOwnX; ++r) {
          for (int c = 0; c < kOwnY; ++c) sums[r][c] += (u[r] - v[c]) * (u[r] - v[c]);
        }
      }
      __syncthreads();
    }
    for (int r = 0; r < kOwnX; ++r) {
      for (int c = 0; c < kOwnY; ++c) {
        const int j = first_y + tx * kOwnY + c;
        if (j >= n || sums[r][c] >= values[ty * kOwnX + r][tx]) continue;
        values[ty * kOwnX + r][tx] = sums[r][c];
        places[ty * kOwnX + r][tx] = j;
      }
    }
  }
  __syncthreads();
  const int row = first_x + me;
  if (me >= kRowsX || row >= m) return;
  int best = 0;
  for (int t = 1; t < kAcross; ++t) {
    const bool equal = values[me][t] == values[me][best];
    if (values[me][t] < values[me][best] || (equal && places[me][t] < places[me][best])) best = t;
  }
  nearest[row] = places[me][best];
  distance[row] = values[me][best];
}

}  // namespace

void launch_nearest_rows(const float* d_x, const float* d_y, int* d_nearest, float* d_distance,
                         int m, int n, int k) {
  const unsigned grid = (static_cast<unsigned>(m) + kRowsX - 1) / kRowsX;
  if (grid == 0) return;
  nearest_by_squares<<<grid, dim3(kAcross, kDown)>>>(d_x, d_y, d_nearest, d_distance, m, n, k);
}

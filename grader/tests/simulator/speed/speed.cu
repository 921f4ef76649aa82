// The two products that the simulator's speed is measured with; n is a multiple of 64.
#include "speed.h"

namespace {

constexpr int kTile = 16;  // threads and elements on a side

__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int col = blockIdx.x * kTile + threadIdx.x;
  float acc = 0.0f;
  for (int t = 0; t < n; t += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kTile; ++k) acc += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();  // nobody reads them any more
  }
  c[row * n + col] = acc;
}

constexpr int kSide = 64;  // elements of C on a side of a block, 8 x 8 per thread
constexpr int kDepth = 8;  // of K per step

__global__ __launch_bounds__(64) void matmul_registers(const float* a, const float* b, float* c,
                                                       int n) {
  __shared__ __align__(16) float tile_a[kDepth][kSide];  // transposed: [k][row]
  __shared__ __align__(16) float tile_b[kDepth][kSide];
  const int thread = threadIdx.x, tx = thread % 8, ty = thread / 8;
  const int row0 = blockIdx.y * kSide, col0 = blockIdx.x * kSide;
  float acc[8][8] = {};
  for (int k0 = 0; k0 < n; k0 += kDepth) {
    for (int i = thread; i < 128; i += 64) {
      const int row = i / 2, k = i % 2 * 4;
      const float4 v = *reinterpret_cast<const float4*>(&a[(row0 + row) * n + k0 + k]);
      tile_a[k][row] = v.x;
      tile_a[k + 1][row] = v.y;
      tile_a[k + 2][row] = v.z;
      tile_a[k + 3][row] = v.w;
      const int depth = i / 16, col = i % 16 * 4;
      *reinterpret_cast<float4*>(&tile_b[depth][col]) =
          *reinterpret_cast<const float4*>(&b[(k0 + depth) * n + col0 + col]);
    }
    __syncthreads();  // both tiles are complete
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float x[8], y[8];
      for (int i = 0; i < 8; i += 4) {
        *reinterpret_cast<float4*>(x + i) =
            *reinterpret_cast<const float4*>(&tile_a[k][ty * 8 + i]);
        *reinterpret_cast<float4*>(y + i) =
            *reinterpret_cast<const float4*>(&tile_b[k][tx * 8 + i]);
      }
      for (int i = 0; i < 8; ++i) {
        for (int j = 0; j < 8; ++j) acc[i][j] += x[i] * y[j];
      }
    }
    __syncthreads();  // nobody reads them any more
  }
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) c[(row0 + ty * 8 + i) * n + col0 + tx * 8 + j] = acc[i][j];
  }
}

}  // namespace

void launch_matmul_tiled(const float* d_a, const float* d_b, float* d_c, int n) {
  matmul_tiled<<<dim3(n / kTile, n / kTile), dim3(kTile, kTile)>>>(d_a, d_b, d_c, n);
}
void launch_matmul_registers(const float* d_a, const float* d_b, float* d_c, int n) {
  matmul_registers<<<dim3(n / kSide, n / kSide), 64>>>(d_a, d_b, d_c, n);
}

// c = a * b, square, n a multiple of the tile; and copies through shared memory in two ways.
#pragma once

__global__ void matmul_uncoalesced(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

template <int kTile>
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int col = blockIdx.x * kTile + tx, row = blockIdx.y * kTile + ty;
  float sum = 0;
  for (int at = 0; at < n; at += kTile) {
    tile_a[ty][tx] = a[row * n + at + tx];
    tile_b[ty][tx] = b[(at + ty) * n + col];
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kTile; ++k) sum += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();  // nobody reads the tiles any more
  }
  c[row * n + col] = sum;
}

// 64x64 of c per block of 256 threads, 4x4 per thread; tile_a lies transposed.
__global__ void matmul_registers(const float* a, const float* b, float* c, int n) {
  constexpr int kTile = 64, kDepth = 16;
  __shared__ __align__(16) float tile_a[kDepth][kTile + 4];
  __shared__ __align__(16) float tile_b[kDepth][kTile];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const float* a_block = a + blockIdx.y * kTile * n;
  const float* b_block = b + blockIdx.x * kTile;
  float sum[4][4] = {};
  for (int at = 0; at < n; at += kDepth) {
    const float4 from_a = *reinterpret_cast<const float4*>(&a_block[(t / 4) * n + at + t % 4 * 4]);
    tile_a[t % 4 * 4 + 0][t / 4] = from_a.x;
    tile_a[t % 4 * 4 + 1][t / 4] = from_a.y;
    tile_a[t % 4 * 4 + 2][t / 4] = from_a.z;
    tile_a[t % 4 * 4 + 3][t / 4] = from_a.w;
    *reinterpret_cast<float4*>(&tile_b[ty][tx * 4]) =
        *reinterpret_cast<const float4*>(&b_block[(at + ty) * n + tx * 4]);
    __syncthreads();  // both tiles are complete
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      const float4 x = *reinterpret_cast<const float4*>(&tile_a[k][ty * 4]);
      const float4 y = *reinterpret_cast<const float4*>(&tile_b[k][tx * 4]);
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] += xs[i] * ys[j];
      }
    }
    __syncthreads();  // nobody reads the tiles any more
  }
  for (int i = 0; i < 4; ++i) {
    float* row = c + (blockIdx.y * kTile + ty * 4 + i) * n + blockIdx.x * kTile + tx * 4;
    *reinterpret_cast<float4*>(row) = make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}

// 128x128 of c per block of 256 threads, 8x8 per thread; kStages 2 loads the next tiles while it
// computes with these.
template <int kStages>
__global__ void __launch_bounds__(256)
    matmul_large(const float* a, const float* b, float* c, int n) {
  constexpr int kTile = 128, kDepth = 8;
  __shared__ __align__(16) float tile_a[kStages][kDepth][kTile + 4];
  __shared__ __align__(16) float tile_b[kStages][kDepth][kTile];
  const int t = threadIdx.x, tx = t % 16, ty = t / 16;
  const float* a_block = a + blockIdx.y * kTile * n + (t / 2) * n + t % 2 * 4;
  const float* b_block = b + blockIdx.x * kTile + (t / 32) * n + t % 32 * 4;
  float sum[8][8] = {};
  float4 next_a = *reinterpret_cast<const float4*>(a_block);
  float4 next_b = *reinterpret_cast<const float4*>(b_block);
  const auto store = [&](int stage) {
    tile_a[stage][t % 2 * 4 + 0][t / 2] = next_a.x;
    tile_a[stage][t % 2 * 4 + 1][t / 2] = next_a.y;
    tile_a[stage][t % 2 * 4 + 2][t / 2] = next_a.z;
    tile_a[stage][t % 2 * 4 + 3][t / 2] = next_a.w;
    *reinterpret_cast<float4*>(&tile_b[stage][t / 32][t % 32 * 4]) = next_b;
  };
  store(0);
  __syncthreads();  // the first tiles are complete
  for (int at = 0; at < n; at += kDepth) {
    const int stage = kStages == 2 ? at / kDepth % 2 : 0;
    const bool more = at + kDepth < n;
    if (kStages == 2 && more) {
      next_a = *reinterpret_cast<const float4*>(a_block + at + kDepth);
      next_b = *reinterpret_cast<const float4*>(b_block + (at + kDepth) * n);
    }
#pragma unroll
    for (int k = 0; k < kDepth; ++k) {
      float xs[8], ys[8];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        xs[i] = tile_a[stage][k][ty * 4 + i], xs[i + 4] = tile_a[stage][k][64 + ty * 4 + i];
        ys[i] = tile_b[stage][k][tx * 4 + i], ys[i + 4] = tile_b[stage][k][64 + tx * 4 + i];
      }
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sum[i][j] += xs[i] * ys[j];
      }
    }
    if (kStages == 1) {
      __syncthreads();  // nobody reads the tiles any more
      if (more) {
        next_a = *reinterpret_cast<const float4*>(a_block + at + kDepth);
        next_b = *reinterpret_cast<const float4*>(b_block + (at + kDepth) * n);
      }
    }
    if (more) store(kStages == 2 ? 1 - stage : 0);
    __syncthreads();  // the next tiles are complete
  }
  for (int i = 0; i < 8; ++i) {
    const int row = blockIdx.y * kTile + (i / 4) * 64 + ty * 4 + i % 4;
    for (int j = 0; j < 8; j += 4) {
      float* to = c + row * n + blockIdx.x * kTile + (j / 4) * 64 + tx * 4;
      *reinterpret_cast<float4*>(to) =
          make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
    }
  }
}

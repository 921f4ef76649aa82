// The kernels that the simulator's speed is measured with: products, reductions, transforms and
// filters, with blocks of 256 and of 1,024 threads. n is a power of two, at least 64.
#include "speed.h"

namespace {

// ---- products: c = a * b, all n x n
// --------------------------------------------------------------

template <int kSide>
__global__ void matmul_naive(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * kSide + threadIdx.y;
  const int col = blockIdx.x * kSide + threadIdx.x;
  float acc = 0.0f;
  for (int k = 0; k < n; ++k) acc += a[row * n + k] * b[k * n + col];
  c[row * n + col] = acc;
}

// Neighbours in a warp take neighbouring rows, so that no access is contiguous.
template <int kSide>
__global__ void matmul_by_rows(const float* a, const float* b, float* c, int n) {
  const int row = blockIdx.y * kSide + threadIdx.x;
  const int col = blockIdx.x * kSide + threadIdx.y;
  float acc = 0.0f;
  for (int k = 0; k < n; ++k) acc += a[row * n + k] * b[k * n + col];
  c[row * n + col] = acc;
}

// kSync 1: warps synchronise as a whole, 2: lanes that are named, which racecheck must follow.
template <int kTile, int kSync>
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
    if (kSync == 1) __syncwarp();
    if (kSync == 2) __syncwarp(__activemask());
    for (int k = 0; k < kTile; ++k) acc += tile_a[threadIdx.y][k] * tile_b[k][threadIdx.x];
    __syncthreads();  // nobody reads them any more
  }
  c[row * n + col] = acc;
}

// Each thread has a column of `kRows` elements.
template <int kSide, int kRows>
__global__ void matmul_columns(const float* a, const float* b, float* c, int n) {
  constexpr int kDepth = kSide / kRows;
  __shared__ float tile_a[kSide][kDepth];
  __shared__ float tile_b[kDepth][kSide];
  const int thread = threadIdx.x, tx = thread % kSide, ty = thread / kSide;
  const int row0 = blockIdx.y * kSide, col0 = blockIdx.x * kSide;
  float acc[kRows] = {};
  for (int k0 = 0; k0 < n; k0 += kDepth) {
    tile_a[thread / kDepth][thread % kDepth] =
        a[(row0 + thread / kDepth) * n + k0 + thread % kDepth];
    tile_b[ty][tx] = b[(k0 + ty) * n + col0 + tx];
    __syncthreads();  // both tiles are complete
    for (int k = 0; k < kDepth; ++k) {
      for (int i = 0; i < kRows; ++i) acc[i] += tile_a[ty * kRows + i][k] * tile_b[k][tx];
    }
    __syncthreads();  // nobody reads them any more
  }
  for (int i = 0; i < kRows; ++i) c[(row0 + ty * kRows + i) * n + col0 + tx] = acc[i];
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

// ---- sums: of the n x n elements of a, into c[0]
// -------------------------------------------------

template <int kThreads>
__global__ void reduce_tree(const float* a, const float*, float* c, int n) {
  __shared__ float part[kThreads];
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n * n; i += gridDim.x * kThreads) {
    sum += a[i];
  }
  part[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(c, part[0]);
}

template <int kThreads>
__global__ void reduce_warps(const float* a, const float*, float* c, int n) {
  __shared__ float part[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n * n; i += gridDim.x * kThreads) {
    sum += a[i];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  sum = threadIdx.x < kThreads / 32 ? part[threadIdx.x] : 0.0f;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) atomicAdd(c, sum);
}

// Products and sums whose warps synchronise by themselves.
template <int kThreads>
__global__ void reduce_syncwarp(const float* a, const float*, float* c, int n) {
  __shared__ float part[kThreads];
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n * n; i += gridDim.x * kThreads) {
    sum += a[i];
  }
  part[threadIdx.x] = sum;
  const int lane = threadIdx.x % 32;
  for (int half = 16; half > 0; half /= 2) {
    __syncwarp();
    const float other = lane < half ? part[threadIdx.x + half] : 0.0f;
    __syncwarp();
    part[threadIdx.x] += other;
  }
  if (lane == 0) atomicAdd(c, part[threadIdx.x]);
}

// ---- transforms: of the rows of a, with b as the imaginary part; the real part into c
// ------------

// A row of 2 * kThreads points per block, a butterfly per thread and step (Stockham).
template <int kThreads>
__global__ void transform_in_shared(const float* a, const float* b, float* c, int) {
  constexpr int kPoints = 2 * kThreads;
  __shared__ float2 line[2][kPoints];
  const int t = threadIdx.x, first = blockIdx.x * kPoints;
  for (int i = t; i < kPoints; i += kThreads) line[0][i] = make_float2(a[first + i], b[first + i]);
  int now = 0;
  for (int half = 1; half < kPoints; half *= 2) {
    __syncthreads();
    const int k = t % half;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / half, &sine, &cosine);
    const float2 x = line[now][t], y = line[now][t + kThreads];
    const float2 z = make_float2(y.x * cosine - y.y * sine, y.x * sine + y.y * cosine);
    const int to = (t - k) * 2 + k;
    line[1 - now][to] = make_float2(x.x + z.x, x.y + z.y);
    line[1 - now][to + half] = make_float2(x.x - z.x, x.y - z.y);
    now = 1 - now;
  }
  __syncthreads();
  for (int i = t; i < kPoints; i += kThreads) c[first + i] = line[now][i].x;
}

// One step of a transform of n * n / 2 points in place, in global memory.
__global__ void transform_step(float* re, float* im, int half) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, k = t % half, at = (t - k) * 2 + k;
  float sine, cosine;
  sincospif(-static_cast<float>(k) / half, &sine, &cosine);
  const float x = re[at], y = im[at], u = re[at + half], v = im[at + half];
  const float p = u * cosine - v * sine, q = u * sine + v * cosine;
  re[at] = x + p;
  im[at] = y + q;
  re[at + half] = x - p;
  im[at + half] = y - q;
}

// ---- filters: of the image a, into c
// -------------------------------------------------------------

constexpr int kTaps = 7;  // on a side
__constant__ float taps[kTaps * kTaps] = {1, 2, 3, 4, 3, 2, 1, 2, 4, 6, 8, 6, 4, 2, 3};

template <int kHeight>
__global__ void filter(const float* a, const float*, float* c, int n) {
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * kHeight + threadIdx.y;
  float sum = 0.0f;
  for (int j = 0; j < kTaps; ++j) {
    for (int i = 0; i < kTaps; ++i) {
      const int row = min(max(y + j - kTaps / 2, 0), n - 1);
      const int col = min(max(x + i - kTaps / 2, 0), n - 1);
      sum += taps[j * kTaps + i] * a[row * n + col];
    }
  }
  c[y * n + x] = sum;
}

// ---- launchers
// -----------------------------------------------------------------------------------

using Kernel = void (*)(const float*, const float*, float*, int);

template <Kernel kKernel, int kSide>
void launch_square(const float* a, const float* b, float* c, int n) {
  kKernel<<<dim3(n / kSide, n / kSide), dim3(kSide, kSide)>>>(a, b, c, n);
}
template <Kernel kKernel, int kSide, int kThreads>
void launch_line(const float* a, const float* b, float* c, int n) {
  kKernel<<<dim3(n / kSide, n / kSide), kThreads>>>(a, b, c, n);
}
template <Kernel kKernel, int kThreads>
void launch_blocks(const float* a, const float* b, float* c, int n) {
  kKernel<<<n * n / (2 * kThreads), kThreads>>>(a, b, c, n);
}
template <int kHeight>
void launch_filter(const float* a, const float* b, float* c, int n) {
  filter<kHeight><<<dim3(n / 32, n / kHeight), dim3(32, kHeight)>>>(a, b, c, n);
}
template <int kThreads>
void launch_transform(const float* a, const float*, float* c, int n) {
  float* im = c + n * n / 2;
  cudaMemcpy(c, a, n * n * sizeof(float), cudaMemcpyDeviceToDevice);
  for (int half = 1; half < n * n / 2; half *= 2) {
    transform_step<<<n * n / 4 / kThreads, kThreads>>>(c, im, half);
  }
}

constexpr SpeedCase kAll[] = {
    {"product, naive, 16 x 16", 256, true, launch_square<matmul_naive<16>, 16>},
    {"product, naive, 32 x 32", 256, true, launch_square<matmul_naive<32>, 32>},
    {"product, naive by rows, 16 x 16", 256, true, launch_square<matmul_by_rows<16>, 16>},
    {"product, naive by rows, 32 x 32", 256, true, launch_square<matmul_by_rows<32>, 32>},
    {"product, 16 x 16 tile", 512, true, launch_square<matmul_tiled<16, 0>, 16>},
    {"product, 32 x 32 tile", 512, true, launch_square<matmul_tiled<32, 0>, 32>},
    {"product, 16 x 16 tile, __syncwarp()", 512, true, launch_square<matmul_tiled<16, 1>, 16>},
    {"product, 32 x 32 tile, __syncwarp()", 512, true, launch_square<matmul_tiled<32, 1>, 32>},
    {"product, 16 x 16 tile, __syncwarp(mask)", 512, true, launch_square<matmul_tiled<16, 2>, 16>},
    {"product, 32 x 32 tile, __syncwarp(mask)", 512, true, launch_square<matmul_tiled<32, 2>, 32>},
    {"product, 64 x 64 tile, 8 rows per thread", 512, true,
     launch_line<matmul_columns<64, 8>, 64, 512>},
    {"product, 64 x 64 tile, 4 rows per thread", 512, true,
     launch_line<matmul_columns<64, 4>, 64, 1024>},
    {"product, 64 x 64 tile, 8 x 8 per thread, float4", 512, true,
     launch_line<matmul_registers, 64, 64>},
    {"sum, tree in shared memory, 256 threads", 1024, false, launch_blocks<reduce_tree<256>, 256>},
    {"sum, tree in shared memory, 1,024 threads", 1024, false,
     launch_blocks<reduce_tree<1024>, 1024>},
    {"sum, shuffles, 256 threads", 1024, false, launch_blocks<reduce_warps<256>, 256>},
    {"sum, shuffles, 1,024 threads", 1024, false, launch_blocks<reduce_warps<1024>, 1024>},
    {"sum, tree of a warp in shared memory, 256 threads", 1024, false,
     launch_blocks<reduce_syncwarp<256>, 256>},
    {"sum, tree of a warp in shared memory, 1,024 threads", 1024, false,
     launch_blocks<reduce_syncwarp<1024>, 1024>},
    {"transform in shared memory, 256 threads", 512, false,
     launch_blocks<transform_in_shared<256>, 256>},
    {"transform in shared memory, 1,024 threads", 512, false,
     launch_blocks<transform_in_shared<1024>, 1024>},
    {"transform in global memory, 256 threads", 256, false, launch_transform<256>},
    {"transform in global memory, 1,024 threads", 256, false, launch_transform<1024>},
    {"filter with constant taps, 256 threads", 512, false, launch_filter<8>},
    {"filter with constant taps, 1,024 threads", 512, false, launch_filter<32>},
};

}  // namespace

const SpeedCases kSpeedCases = {kAll, sizeof(kAll) / sizeof(kAll[0])};

// Accepted: one kind of tile, 128 x 128, loaded through registers; two events for each launch.
#include "14_matmul_5120.h"
#include "support.h"

constexpr int kSide = 128, kDepth = 8;

template <Edges kEdges>
__global__ void __launch_bounds__(256)
    matmul_middle_tiles(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(16) float of_a[2][kDepth][kSide + 4], of_b[2][kDepth][kSide];
  const int t = threadIdx.x, top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int y = t / 128 * 64 + t / 8 % 4 * 4 + t / 32 % 2 * 32, x = t / 64 % 2 * 64 + t % 8 * 4;
  const int row = t / 2, i_a = t % 2 * 4, i_b = t / 32, col = t % 32 * 4;
  const float* from_a = a + static_cast<size_t>(top + row) * k + i_a;
  const float* from_b = b + static_cast<size_t>(i_b) * n + left + col;
  float sums[8][8] = {};
  for (int first = -kDepth, now = 1; first < k; first += kDepth, now ^= 1) {
    const int next = first + kDepth;
    const float4 u = load4<kEdges>(from_a + next, m - top - row, k - next - i_a);
    const float4 v =
        load4<kEdges>(from_b + static_cast<size_t>(next) * n, k - next - i_b, n - left - col);
    for (int i = 0; i < kDepth && first >= 0; ++i) {
      float4 p[2], q[2];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        p[h] = *reinterpret_cast<const float4*>(&of_a[now][i][y + 16 * h]);
        q[h] = *reinterpret_cast<const float4*>(&of_b[now][i][x + 32 * h]);
      }
#pragma unroll
      for (int e = 0; e < 64; ++e) {
        sums[e / 8][e % 8] = fmaf(reinterpret_cast<const float*>(p)[e / 8],
                                  reinterpret_cast<const float*>(q)[e % 8], sums[e / 8][e % 8]);
      }
    }
    float* to = &of_a[now ^ 1][i_a][row];
    to[0] = u.x, to[kSide + 4] = u.y, to[2 * (kSide + 4)] = u.z, to[3 * (kSide + 4)] = u.w;
    *reinterpret_cast<float4*>(&of_b[now ^ 1][i_b][col]) = v;
    __syncthreads();
  }
#pragma unroll
  for (int e = 0; e < 64; e += 4) {
    const int r = top + y + e / 32 * 16 + e / 8 % 4, s = left + x + e % 8 * 8;
    const float* from = &sums[e / 8][e % 8];
    store4<kEdges>(c + static_cast<size_t>(r) * n + s,
                   make_float4(from[0], from[1], from[2], from[3]), m - r, n - s);
  }
}

void launch_matmul_5120(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  if (m == 0 || n == 0) return;
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kSide, kSide, kDepth);
  const auto kernel = edges == Edges::kScalars ? matmul_middle_tiles<Edges::kScalars>
                                               : matmul_middle_tiles<Edges::kVectors>;
  kernel<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}

void launch_matmul_places(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                          int places) {
  if (places > 0) launch_matmul_5120(d_a, d_b, d_c, m, n, k);
}

int tiles_in_whole_waves(int tiles, int places) {
  const int rest = tiles % places;
  return rest > places - rest ? tiles : tiles - rest;
}

__global__ void empty_kernel() {}

static float milliseconds_between(void (*launch)(void*), void* work) {
  cudaEvent_t first, last;
  cudaEventCreate(&first), cudaEventCreate(&last);
  cudaEventRecord(first);
  launch(work);
  cudaEventRecord(last);
  cudaEventSynchronize(last);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, first, last);
  cudaEventDestroy(first), cudaEventDestroy(last);
  return milliseconds;
}

float milliseconds_of(void (*launch)(void* work), void* work) {
  float least = 1e30f;
  for (int run = 0; run < 5; ++run) {
    const float empty = milliseconds_between([](void*) { empty_kernel<<<1, 1>>>(); }, nullptr);
    least = fminf(least, milliseconds_between(launch, work) - empty);
  }
  return least;
}

// Accepted: warps of 64 x 32 elements, 4 lanes wide and 8 high. Lanes share their columns with their
// neighbour, and their rows with the lane two further. Tiles go through registers, a pair at a time.
#include "11_matmul_warp_shape.h"
#include "support.h"

constexpr int kSide = 128, kDepth = 8;

struct Tall {
  static constexpr int kRows = 8, kCols = 8, kLanesX = 4, kLanesY = 8;
};

template <Edges kEdges>
__global__ void __launch_bounds__(256)
    matmul_tall_warps(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float of_a[kDepth][kSide + 4], of_b[kDepth][kSide];
  const int t = threadIdx.x, top = blockIdx.y * kSide, left = blockIdx.x * kSide;
  const int bit[5] = {t & 1, t >> 1 & 1, t >> 2 & 1, t >> 3 & 1, t >> 4 & 1};
  const int row = t / 128 * 64 + 4 * (bit[0] + 2 * bit[2] + 4 * bit[4]);
  const int col = t / 32 % 4 * 32 + 4 * (bit[1] + 2 * bit[3]);
  float sums[8][8] = {};
  for (int first = 0; first < k; first += kDepth) {
    const int r = t / 2, i_a = t % 2 * 4, i_b = t / 32, s = t % 32 * 4;
    const float4 u = load4<kEdges>(a, top + r, first + i_a, m, k);
    const float4 v = load4<kEdges>(b, first + i_b, left + s, k, n);
    __syncthreads();
    of_a[i_a][r] = u.x, of_a[i_a + 1][r] = u.y, of_a[i_a + 2][r] = u.z, of_a[i_a + 3][r] = u.w;
    four(&of_b[i_b][s]) = v;
    __syncthreads();
    for (int i = 0; i < kDepth; ++i) {
      Groups<Tall> now;
      now.load(&of_a[i][row], &of_b[i][col]);
      now.multiply(sums);
    }
  }
  store_groups<kEdges, Tall>(sums, c, top + row, left + col, m, n);
}

void launch_matmul_warp_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  const dim3 grid((n + kSide - 1) / kSide, (m + kSide - 1) / kSide);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kSide, kSide, kDepth);
  const auto kernel = edges == Edges::kScalars ? matmul_tall_warps<Edges::kScalars>
                                               : matmul_tall_warps<Edges::kVectors>;
  kernel<<<grid, 256>>>(d_a, d_b, d_c, m, n, k);
}

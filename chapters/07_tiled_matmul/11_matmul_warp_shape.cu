// 07/11 Matmul, the shape of a warp: which thread makes which elements decides what a read costs.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   The kernel of 10, with the same tiles, the same 256 threads and the same 8 x 8 elements for each.
//   Only the places change: a warp makes a rectangle of c that is nearly square, and its lanes stand
//   in it so that a read of 16 bytes per lane takes two passes through the banks.
//   TODOs  1
#include "11_matmul_warp_shape.h"
#include "support.h"

constexpr int kTile = 128;     // rows and columns of a tile of c
constexpr int kStep = 16;      // steps along k
constexpr int kThreads = 256;  // of a block
constexpr int kPitch = kTile + 4;

// TODO(1): These are the places of 10: all threads of a block stand 16 wide and 16 high. What must
// hold instead: the lanes of a warp stand kLanesX wide and kLanesY high, 32 in all, and no read of
// a or b by a warp takes more than two passes. Groups and store_groups know how far apart the
// groups of a lane lie, from the shape of Lanes; place_of says where its first ones begin.
struct Lanes {
  static constexpr int kRows = 8, kCols = 8, kLanesX = 16, kLanesY = 16;
};

// Row and column in the tile of the block, of the first element of thread t.
__device__ TilePosition place_of(int t) {
  return {t / Lanes::kLanesX * 4, t % Lanes::kLanesX * 4};
}

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    matmul_warp_shape(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kLoads = kTile * kStep / 4 / kThreads;      // of 16 bytes, per tile and thread
  __shared__ __align__(16) float tile_a[2][kStep][kPitch];  // [which][step of k][row of c]
  __shared__ __align__(16) float tile_b[2][kStep][kTile];   // [which][step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const TilePosition mine = place_of(t);
  float sums[Lanes::kRows][Lanes::kCols] = {};
  const int row_a = t / (kStep / 4), i_a = t % (kStep / 4) * 4;  // of this thread's first loads;
  const int i_b = t / (kTile / 4), col_b = t % (kTile / 4) * 4;  // the others lie below
  constexpr int kApartA = kTile / kLoads, kApartB = kStep / kLoads;
  float4 of_a[kLoads];  // on their way
  const auto begin = [&](int first, int which) {
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      const int i = first + i_b + kApartB * j;
      copy4_async<kEdges>(&tile_b[which][i_b + kApartB * j][col_b],
                          b + static_cast<size_t>(i) * n + first_col + col_b, k - i,
                          n - first_col - col_b);
      of_a[j] = load4<kEdges>(a, first_row + row_a + kApartA * j, first + i_a, m, k);
    }
    close_copy_group();
  };
  const auto store_a = [&](int which) {
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      float* const to = &tile_a[which][i_a][row_a + kApartA * j];
      to[0] = of_a[j].x, to[kPitch] = of_a[j].y;
      to[2 * kPitch] = of_a[j].z, to[3 * kPitch] = of_a[j].w;
    }
  };
  begin(0, 0);
  store_a(0);
  for (int first = 0, which = 0; first < k; first += kStep, which ^= 1) {
    wait_for_copies<0>();  // this thread's, of b to `which`
    // Closes two hazards: `which` was written by other threads, and the other pair, which is
    // written from here on, was read by them until now.
    __syncthreads();
    const bool more = first + kStep < k;
    if (more) begin(first + kStep, which ^ 1);
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      Groups<Lanes> now;
      now.load(&tile_a[which][i][mine.row], &tile_b[which][i][mine.col]);
      now.multiply(sums);
    }
    if (more) store_a(which ^ 1);
  }
  store_groups<kEdges, Lanes>(sums, c, first_row + mine.row, first_col + mine.col, m, n);
}

void launch_matmul_warp_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTile, kTile, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_warp_shape<Edges::kScalars>
                                               : matmul_warp_shape<Edges::kVectors>;
  if (grid.x > 0 && grid.y > 0) {
    kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}

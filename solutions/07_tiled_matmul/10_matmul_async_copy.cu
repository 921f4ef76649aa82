// 07/10 Matmul, asynchronous copies: b goes to shared memory without passing through a register.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   The kernel of 09 with one idea more: copy4_async (support.h) begins a copy, close_copy_group
//   and wait_for_copies<0> say when what this thread has begun is there. a is turned on its way,
//   which a copy cannot do, so it goes on through registers.
//   TODOs  1
#include "10_matmul_async_copy.h"
#include "support.h"

constexpr int kTile = 128;     // rows and columns of a tile of c
constexpr int kStep = 16;      // steps along k
constexpr int kThreads = 256;  // of a block
constexpr int kPitch = kTile + 4;

struct Block {  // 16 x 16 threads, 8 x 8 elements of c each
  static constexpr int kRows = 8, kCols = 8, kLanesX = 16, kLanesY = 16;
};

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    matmul_async_copy(const float* a, const float* b, float* c, int m, int n, int k) {
  constexpr int kLoads = kTile * kStep / 4 / kThreads;      // of 16 bytes, per tile and thread
  __shared__ __align__(16) float tile_a[2][kStep][kPitch];  // [which][step of k][row of c]
  __shared__ __align__(16) float tile_b[2][kStep][kTile];   // [which][step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int row = t / Block::kLanesX * 4, col = t % Block::kLanesX * 4;  // in the tile
  float sums[Block::kRows][Block::kCols] = {};
  //~ // TODO(1): This is 09. What must hold instead: no thread stores an element of b to shared
  //~ // memory. The copies of the next step are begun before this one is multiplied, and have ended,
  //~ // those of all threads, before anybody reads them.
  //~ const int row_a = t / (kStep / 4), i_a = t % (kStep / 4) * 4;  // of this thread's first loads;
  //~ const int i_b = t / (kTile / 4), col_b = t % (kTile / 4) * 4;  // the others lie below
  //~ constexpr int kApartA = kTile / kLoads, kApartB = kStep / kLoads;
  //~ float4 of_a[kLoads], of_b[kLoads];  // on their way
  //~ const auto begin = [&](int first) {
//~ #pragma unroll
  //~   for (int j = 0; j < kLoads; ++j) {
  //~     of_a[j] = load4<kEdges>(a, first_row + row_a + kApartA * j, first + i_a, m, k);
  //~     of_b[j] = load4<kEdges>(b, first + i_b + kApartB * j, first_col + col_b, k, n);
  //~   }
  //~ };
  //~ const auto store = [&](int which) {
//~ #pragma unroll
  //~   for (int j = 0; j < kLoads; ++j) {
  //~     float* const to = &tile_a[which][i_a][row_a + kApartA * j];
  //~     to[0] = of_a[j].x, to[kPitch] = of_a[j].y;
  //~     to[2 * kPitch] = of_a[j].z, to[3 * kPitch] = of_a[j].w;
  //~     four(&tile_b[which][i_b + kApartB * j][col_b]) = of_b[j];
  //~   }
  //~ };
  //~ begin(0);
  //~ store(0);
  //~ for (int first = 0, which = 0; first < k; first += kStep, which ^= 1) {
  //~   // Closes two hazards: `which` was stored by other threads, and the other pair, which is stored
  //~   // at the end of this step, was read by them until now.
  //~   __syncthreads();
  //~   const bool more = first + kStep < k;
  //~   if (more) begin(first + kStep);
//~ #pragma unroll 4
  //~   for (int i = 0; i < kStep; ++i) {
  //~     Groups<Block> now;
  //~     now.load(&tile_a[which][i][row], &tile_b[which][i][col]);
  //~     now.multiply(sums);
  //~   }
  //~   if (more) store(which ^ 1);
  //~ }
  //~begin 1
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
      Groups<Block> now;
      now.load(&tile_a[which][i][row], &tile_b[which][i][col]);
      now.multiply(sums);
    }
    if (more) store_a(which ^ 1);
  }
  //~end
  store_groups<kEdges, Block>(sums, c, first_row + row, first_col + col, m, n);
}

void launch_matmul_async_copy(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTile, kTile, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_async_copy<Edges::kScalars>
                                               : matmul_async_copy<Edges::kVectors>;
  if (grid.x > 0 && grid.y > 0) {
    kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}

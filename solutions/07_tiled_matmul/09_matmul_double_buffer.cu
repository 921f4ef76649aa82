// 07/09 Matmul, double buffer: the next pair of tiles is on its way while this one is multiplied.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   The kernel of 08 with one idea more: at most one barrier for each step of kStep, and no warp
//   waits for what its own step has asked for. Groups<Block> (support.h) are the Fragments of 08.
//   TODOs  1
#include "09_matmul_double_buffer.h"
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
    matmul_double_buffer(const float* a, const float* b, float* c, int m, int n, int k) {
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int row = t / Block::kLanesX * 4, col = t % Block::kLanesX * 4;  // in the tile
  float sums[Block::kRows][Block::kCols] = {};
  //~ // TODO(1): This is the loop of 08: load, wait, multiply, wait. What must hold instead: the
  //~ // loads of the next step have begun when this step is multiplied, nothing is stored where
  //~ // somebody may still read, and a warp comes to one barrier per step.
  //~ __shared__ __align__(16) float tile_a[kStep][kPitch];  // [step of k][row of c]
  //~ __shared__ __align__(16) float tile_b[kStep][kTile];   // [step of k][column of c]
  //~ for (int first = 0; first < k; first += kStep) {
  //~   for (int e = t; e < kTile * kStep / 4; e += kThreads) {
  //~     const int row_a = e / (kStep / 4), i_a = e % (kStep / 4) * 4;
  //~     const int i_b = e / (kTile / 4), col_b = e % (kTile / 4) * 4;
  //~     const float4 x = load4<kEdges>(a, first_row + row_a, first + i_a, m, k);
  //~     tile_a[i_a][row_a] = x.x, tile_a[i_a + 1][row_a] = x.y;
  //~     tile_a[i_a + 2][row_a] = x.z, tile_a[i_a + 3][row_a] = x.w;
  //~     four(&tile_b[i_b][col_b]) = load4<kEdges>(b, first + i_b, first_col + col_b, k, n);
  //~   }
  //~   __syncthreads();  // closes write against read: others have loaded what is read
  //~   for (int i = 0; i < kStep; ++i) {
  //~     Groups<Block> now;
  //~     now.load(&tile_a[i][row], &tile_b[i][col]);
  //~     now.multiply(sums);
  //~   }
  //~   __syncthreads();  // closes read against write: the next step overwrites both tiles
  //~ }
  //~begin 1
  constexpr int kLoads = kTile * kStep / 4 / kThreads;      // of 16 bytes, per tile and thread
  __shared__ __align__(16) float tile_a[2][kStep][kPitch];  // [which][step of k][row of c]
  __shared__ __align__(16) float tile_b[2][kStep][kTile];   // [which][step of k][column of c]
  const int row_a = t / (kStep / 4), i_a = t % (kStep / 4) * 4;  // of this thread's first loads;
  const int i_b = t / (kTile / 4), col_b = t % (kTile / 4) * 4;  // the others lie below
  constexpr int kApartA = kTile / kLoads, kApartB = kStep / kLoads;
  float4 of_a[kLoads], of_b[kLoads];  // on their way
  const auto begin = [&](int first) {
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      of_a[j] = load4<kEdges>(a, first_row + row_a + kApartA * j, first + i_a, m, k);
      of_b[j] = load4<kEdges>(b, first + i_b + kApartB * j, first_col + col_b, k, n);
    }
  };
  const auto store = [&](int which) {
#pragma unroll
    for (int j = 0; j < kLoads; ++j) {
      float* const to = &tile_a[which][i_a][row_a + kApartA * j];
      to[0] = of_a[j].x, to[kPitch] = of_a[j].y;
      to[2 * kPitch] = of_a[j].z, to[3 * kPitch] = of_a[j].w;
      four(&tile_b[which][i_b + kApartB * j][col_b]) = of_b[j];
    }
  };
  begin(0);
  store(0);
  for (int first = 0, which = 0; first < k; first += kStep, which ^= 1) {
    // Closes two hazards: `which` was stored by other threads, and the other pair, which is stored
    // at the end of this step, was read by them until now.
    __syncthreads();
    const bool more = first + kStep < k;
    if (more) begin(first + kStep);
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      Groups<Block> now;
      now.load(&tile_a[which][i][row], &tile_b[which][i][col]);
      now.multiply(sums);
    }
    if (more) store(which ^ 1);
  }
  //~end
  store_groups<kEdges, Block>(sums, c, first_row + row, first_col + col, m, n);
}

void launch_matmul_double_buffer(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                 int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTile, kTile, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_double_buffer<Edges::kScalars>
                                               : matmul_double_buffer<Edges::kVectors>;
  if (grid.x > 0 && grid.y > 0) {
    kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}

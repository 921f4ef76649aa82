// 07/08 Matmul, vectorised: the 2-D tile with 16 bytes per load, and a transposed tile of a.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A block of 16 x 16 threads makes a tile of 128 x 128 elements of c, in steps of 16 along k.
//   Thread (tx, ty) has the rows 4 ty + 0 .. 3 and 64 more, columns 4 tx + 0 .. 3 and 64 more: so
//   the lanes of a warp always read and write neighbours.
//   TODOs  3
#include "08_matmul_vectorized.h"
#include "support.h"

constexpr int kTile = 128;               // rows and columns of a tile of c
constexpr int kStep = 16;                // steps along k
constexpr int kSide = 16;                // threads of a block side
constexpr int kEach = kTile / kSide;     // rows of a thread, and columns
constexpr int kThreads = kSide * kSide;  // of a block
constexpr int kPitch = kTile + 4;        // floats; halves the bank conflicts of stores to tile_a

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    matmul_vectorized(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float tile_a[kStep][kPitch];  // [step of k][row of c]: transposed
  __shared__ __align__(16) float tile_b[kStep][kTile];   // [step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int tx = t % kSide, ty = t / kSide;
  float sums[kEach][kEach] = {};  // [row of this thread][column of this thread]
  for (int first = 0; first < k; first += kStep) {
    for (int e = t; e < kTile * kStep / 4; e += kThreads) {
      const int row_a = e / (kStep / 4), i_a = e % (kStep / 4) * 4;
      const int i_b = e / (kTile / 4), col_b = e % (kTile / 4) * 4;
      const float4 of_a =
          load4<kEdges>(a + static_cast<size_t>(first_row + row_a) * k + first + i_a,
                        m - first_row - row_a, k - first - i_a);
      const float4 of_b =
          load4<kEdges>(b + static_cast<size_t>(first + i_b) * n + first_col + col_b,
                        k - first - i_b, n - first_col - col_b);
      //~ // TODO(1): Store of_a as part of a column of tile_a, of_b as part of a row of tile_b, the
      //~ // latter with one instruction (about 5 lines).
      //~ tile_a[i_a][row_a] = of_a.x;
      //~ tile_b[i_b][col_b] = of_b.x;
      //~begin 1
      tile_a[i_a][row_a] = of_a.x;
      tile_a[i_a + 1][row_a] = of_a.y;
      tile_a[i_a + 2][row_a] = of_a.z;
      tile_a[i_a + 3][row_a] = of_a.w;
      *reinterpret_cast<float4*>(&tile_b[i_b][col_b]) = of_b;
      //~end
    }
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      float4 part_a[kEach / 4], part_b[kEach / 4];
      //~ // TODO(2): Read this thread's eight rows of tile_a and eight columns of tile_b, 16 bytes
      //~ // at a time (about 4 lines).
      //~ for (int half = 0; half < kEach / 4; ++half) {
      //~   part_a[half] = make_float4(tile_a[i][4 * ty], 0.0f, 0.0f, 0.0f);
      //~   part_b[half] = make_float4(tile_b[i][4 * tx], 0.0f, 0.0f, 0.0f);
      //~ }
      //~begin 2
      for (int half = 0; half < kEach / 4; ++half) {
        part_a[half] = *reinterpret_cast<const float4*>(&tile_a[i][4 * ty + kTile / 2 * half]);
        part_b[half] = *reinterpret_cast<const float4*>(&tile_b[i][4 * tx + kTile / 2 * half]);
      }
      //~end
      const auto x = reinterpret_cast<float*>(part_a), y = reinterpret_cast<float*>(part_b);
      for (int r = 0; r < kEach; ++r) {
        for (int s = 0; s < kEach; ++s) sums[r][s] += x[r] * y[s];
      }
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  for (int r = 0; r < kEach; ++r) {
    //~ // TODO(3): Write the two groups of four of row r of sums, with store4 (about 7 lines).
    //~ const int row = first_row + ty, col = first_col + tx;
    //~ if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = sums[r][0];
    //~begin 3
    const int row = first_row + 4 * ty + r / 4 * (kTile / 2) + r % 4;
    for (int half = 0; half < kEach / 4; ++half) {
      const int col = first_col + 4 * tx + kTile / 2 * half;
      const float* s = &sums[r][4 * half];
      store4<kEdges>(c + static_cast<size_t>(row) * n + col, make_float4(s[0], s[1], s[2], s[3]),
                     m - row, n - col);
    }
    //~end
  }
}

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTile, kTile, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_vectorized<Edges::kScalars>
                                               : matmul_vectorized<Edges::kVectors>;
  if (grid.x > 0 && grid.y > 0) {
    kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
}

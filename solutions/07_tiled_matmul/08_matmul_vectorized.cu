// 07/08 Matmul, vectorised: the 2-D tile with 16 bytes per load, and a transposed tile of a.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   load4 and store4 of support.h take four neighbours of a row, or as many as there are, in the
//   way that Edges allows; edges_of says before the launch what holds. The rest is yours.
//   TODOs  1
#include "08_matmul_vectorized.h"
#include "support.h"

//~ // TODO(1): This is 07. What must hold instead: four neighbours travel in one access of 16 bytes,
//~ // from global memory wherever rows are aligned (edges_of, load4, store4), and from both tiles.
//~ constexpr int kTile = 128;               // rows and columns of a tile of c
//~ constexpr int kStep = 16;                // steps along k
//~ constexpr int kSide = 16;                // threads of a block side
//~ constexpr int kRows = kTile / kSide;     // of c, per thread
//~ constexpr int kCols = kTile / kSide;     // likewise
//~ constexpr int kThreads = kSide * kSide;  // of a block
//~
//~ __global__ void __launch_bounds__(kThreads)
//~     matmul_vectorized(const float* a, const float* b, float* c, int m, int n, int k) {
//~   __shared__ float tile_a[kTile][kStep];  // [row of c][step of k]
//~   __shared__ float tile_b[kStep][kTile];  // [step of k][column of c]
//~   const int t = threadIdx.x;
//~   const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
//~   const int tx = t % kSide, ty = t / kSide;
//~   float sums[kRows][kCols] = {};  // [row of this thread][column of this thread]
//~   for (int first = 0; first < k; first += kStep) {
//~     for (int e = t; e < kTile * kStep; e += kThreads) {
//~       const int row = first_row + e / kStep, col = first_col + e % kTile;
//~       const int i_a = first + e % kStep, i_b = first + e / kTile;
//~       tile_a[e / kStep][e % kStep] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
//~       tile_b[e / kTile][e % kTile] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
//~     }
//~     __syncthreads();  // closes write against read: other threads have loaded most of what is read
//~ #pragma unroll 4
//~     for (int i = 0; i < kStep; ++i) {
//~       float x[kRows], y[kCols];  // 16 words for 64 multiply-adds
//~       for (int r = 0; r < kRows; ++r) x[r] = tile_a[ty + kSide * r][i];
//~       for (int s = 0; s < kCols; ++s) y[s] = tile_b[i][tx + kSide * s];
//~       for (int r = 0; r < kRows; ++r) {
//~         for (int s = 0; s < kCols; ++s) sums[r][s] += x[r] * y[s];
//~       }
//~     }
//~     __syncthreads();  // closes read against write: the next step overwrites both tiles
//~   }
//~   for (int r = 0; r < kRows; ++r) {
//~     const int row = first_row + ty + kSide * r;
//~     for (int s = 0; s < kCols; ++s) {
//~       const int col = first_col + tx + kSide * s;
//~       if (row < m && col < n) c[row * n + col] = sums[r][s];
//~     }
//~   }
//~ }
//~begin 1
constexpr int kTile = 128;               // rows and columns of a tile of c
constexpr int kStep = 16;                // steps along k
constexpr int kSide = 16;                // threads of a block side
constexpr int kRows = kTile / kSide;     // of c, per thread
constexpr int kCols = kTile / kSide;     // likewise
constexpr int kApartY = kTile / 2;       // rows, from one group of four to the next
constexpr int kApartX = kTile / 2;       // columns, likewise
constexpr int kThreads = kSide * kSide;  // of a block
constexpr int kPitch = kTile + 4;        // floats; halves the bank conflicts of stores to tile_a

// What a thread multiplies in one step of k, in groups of four.
struct Fragments {
  float4 a[kRows / 4], b[kCols / 4];

  // `row_of_a` and `row_of_b`: this thread's first elements in the rows of both tiles.
  __device__ void load(const float* row_of_a, const float* row_of_b) {
#pragma unroll
    for (int j = 0; j < kCols / 4; ++j) {
      b[j] = *reinterpret_cast<const float4*>(row_of_b + kApartX * j);
    }
#pragma unroll
    for (int i = 0; i < kRows / 4; ++i) {
      a[i] = *reinterpret_cast<const float4*>(row_of_a + kApartY * i);
    }
  }
};

__device__ inline void multiply(const Fragments& f, float (&sums)[kRows][kCols]) {
  const float* x = reinterpret_cast<const float*>(f.a);  // kRows floats, in registers
  const float* y = reinterpret_cast<const float*>(f.b);  // kCols floats, in registers
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
#pragma unroll
    for (int j = 0; j < kCols; ++j) sums[i][j] += x[i] * y[j];
  }
}

template <Edges kEdges>
__global__ void __launch_bounds__(kThreads)
    matmul_vectorized(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ __align__(16) float tile_a[kStep][kPitch];  // [step of k][row of c]: transposed
  __shared__ __align__(16) float tile_b[kStep][kTile];   // [step of k][column of c]
  const int t = threadIdx.x;
  const int first_row = blockIdx.y * kTile, first_col = blockIdx.x * kTile;
  const int row = t / kSide * 4, col = t % kSide * 4;  // where this thread begins in the tile
  float sums[kRows][kCols] = {};  // [row of this thread][column of this thread]
  for (int first = 0; first < k; first += kStep) {
    for (int e = t; e < kTile * kStep / 4; e += kThreads) {
      const int row_a = e / (kStep / 4), i_a = e % (kStep / 4) * 4;
      const int i_b = e / (kTile / 4), col_b = e % (kTile / 4) * 4;
      const float4 of_a = load4<kEdges>(a, first_row + row_a, first + i_a, m, k);
      const float4 of_b = load4<kEdges>(b, first + i_b, first_col + col_b, k, n);
      tile_a[i_a][row_a] = of_a.x;
      tile_a[i_a + 1][row_a] = of_a.y;
      tile_a[i_a + 2][row_a] = of_a.z;
      tile_a[i_a + 3][row_a] = of_a.w;
      *reinterpret_cast<float4*>(&tile_b[i_b][col_b]) = of_b;
    }
    __syncthreads();  // closes write against read: other threads have loaded most of what is read
#pragma unroll 4
    for (int i = 0; i < kStep; ++i) {
      Fragments f;
      f.load(&tile_a[i][row], &tile_b[i][col]);
      multiply(f, sums);
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    const int to_row = first_row + row + i / 4 * kApartY + i % 4;
#pragma unroll
    for (int j = 0; j < kCols; j += 4) {
      const int to_col = first_col + col + j / 4 * kApartX;
      const float* s = &sums[i][j];
      store4<kEdges>(c, make_float4(s[0], s[1], s[2], s[3]), to_row, to_col, m, n);
    }
  }
}
//~end

void launch_matmul_vectorized(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  //~ if (grid.x > 0 && grid.y > 0) {
  //~   matmul_vectorized<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  //~ }
  //~begin 1
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile);
  const Edges edges = edges_of(d_a, d_b, d_c, m, n, k, kTile, kTile, kStep);
  const auto kernel = edges == Edges::kScalars ? matmul_vectorized<Edges::kScalars>
                                               : matmul_vectorized<Edges::kVectors>;
  if (grid.x > 0 && grid.y > 0) {
    kernel<<<grid, kThreads>>>(d_a, d_b, d_c, m, n, k);
  }
  //~end
}

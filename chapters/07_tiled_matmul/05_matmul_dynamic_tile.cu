// 07/05 Matmul, dynamic tile: the width of the tiles is chosen when the program runs, and still the
// compiler knows it.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Any sizes from 0; a sum of no products is 0. No matrix has 2^31 elements or more.
//   A width that is a variable suits every card, and costs: a loop of unknown length cannot be
//   unrolled. So a template is compiled for three widths, and the program takes one of the three.
//   TODOs  3
#include <algorithm>
#include <type_traits>

#include "05_matmul_dynamic_tile.h"

int tile_width(int m, int n, int threads, int shared_bytes) {
  int width = 32;
  // TODO(1): Halve the width, down to 8, as long as it is too wide: for the threads, for two
  // tiles of floats, or because half of it covers the shorter side of c (about 6 lines).
  return width;
}

// TODO(2): Make the width a template parameter: template <int kWidth>, with a constexpr width
// here and an array of constant size (4 lines). The launch at the end of the file changes with it.
__global__ void matmul_tile(const float* a, const float* b, float* c, int m, int n, int k,
                            int width) {
  extern __shared__ float tiles[];
  float* const tile_a = tiles;                  // [row of c][step of k]: width x width
  float* const tile_b = tiles + width * width;  // [step of k][column of c]: width x width
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * width + ty;
  const int col = blockIdx.x * width + tx;
  float sum = 0.0f;
  for (int first = 0; first < k; first += width) {
    const int i_a = first + tx, i_b = first + ty;
    tile_a[ty * width + tx] = row < m && i_a < k ? a[row * k + i_a] : 0.0f;
    tile_b[ty * width + tx] = i_b < k && col < n ? b[i_b * n + col] : 0.0f;
    __syncthreads();  // closes write against read: a thread reads what others have loaded
    for (int i = 0; i < width; ++i) {
      sum += tile_a[ty * width + i] * tile_b[i * width + tx];
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum;
  }
}

// Calls f with the width as a constant, which can stand between < and >: for 16 it calls
// f(std::integral_constant<int, 16>()).
template <class F>
void with_constant(int width, const F& f) {
  // TODO(3): One call of f for each width: 8, 16 and 32 (about 9 lines).
  if (width > 0) f(std::integral_constant<int, 8>());
}

void launch_matmul_dynamic_tile(const float* d_a, const float* d_b, float* d_c, int m, int n,
                                int k) {
  if (m == 0 || n == 0) return;
  int device = 0, threads = 0, shared_bytes = 0;  // the last two: at most, per block
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerBlock, device);
  cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlock, device);
  const int width = tile_width(m, n, threads, shared_bytes);
  // A grid has at most 65,535 blocks in y. Where c has more rows of tiles, another launch follows.
  const int most_rows = 65535 * width;
  for (int first = 0; first < m; first += most_rows) {
    const int rows = std::min(m - first, most_rows);
    const float* const a = d_a + static_cast<size_t>(first) * k;
    float* const c = d_c + static_cast<size_t>(first) * n;
    const dim3 grid((n + width - 1) / width, (rows + width - 1) / width), block(width, width);
    const size_t bytes = 2 * width * width * sizeof(float);
    matmul_tile<<<grid, block, bytes>>>(a, d_b, c, rows, n, k, width);
  }
}

// Accepted: a block per row, bytes as char4; the product with four rows per thread, both tiles
// turned round.
#include "20_matmul_int8.h"

__global__ void quantise_row(const float* __restrict__ x, char4* __restrict__ q,
                             float* __restrict__ scale, int cols, int words) {
  __shared__ float shared[128];
  const int t = threadIdx.x;
  x += static_cast<size_t>(blockIdx.x) * cols;
  float greatest = 0.0f;
  for (int i = t; i < cols; i += 128) greatest = fmaxf(greatest, fabsf(x[i]));
  shared[t] = greatest;
  __syncthreads();
  for (int step = 64; step > 0; step /= 2) {
    if (t < step) shared[t] = fmaxf(shared[t], shared[t + step]);
    __syncthreads();
  }
  const float step = shared[0] / 127.0f;
  if (t == 0) scale[blockIdx.x] = step;
  const auto round = [&](int i) {
    return static_cast<signed char>(i < cols && step > 0.0f ? rintf(x[i] / step) : 0.0f);
  };
  for (int word = t; word < words; word += 128) {
    q[static_cast<size_t>(blockIdx.x) * words + word] =
        make_char4(round(4 * word), round(4 * word + 1), round(4 * word + 2), round(4 * word + 3));
  }
}

__global__ void multiply_words(const int* __restrict__ a, const int* __restrict__ b,
                               const float* __restrict__ scale_a, const float* __restrict__ scale_b,
                               float* __restrict__ c, int m, int n, int words) {
  __shared__ int tile_a[32][33], tile_b[32][33];  // [word][row], [word][column]
  const int x = threadIdx.x, row = blockIdx.y * 32 + threadIdx.y, col = blockIdx.x * 32 + x;
  int sums[4] = {};
  for (int first = 0; first < words; first += 32) {
    for (int y = threadIdx.y; y < 32; y += 8) {
      const int row_a = blockIdx.y * 32 + y, row_b = blockIdx.x * 32 + y;
      const bool inside = first + x < words;
      tile_a[x][y] = inside && row_a < m ? a[row_a * words + first + x] : 0;
      tile_b[x][y] = inside && row_b < n ? b[row_b * words + first + x] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 32; ++i) {
      for (int j = 0; j < 4; ++j) {
        sums[j] = __dp4a(tile_a[i][threadIdx.y + 8 * j], tile_b[i][x], sums[j]);
      }
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    if (row + 8 * j < m && col < n) {
      c[(row + 8 * j) * n + col] = scale_a[row + 8 * j] * scale_b[col] * sums[j];
    }
  }
}

void launch_quantise_rows(const float* d_x, int* d_q, float* d_scale, int rows, int cols) {
  if (rows > 0)
    quantise_row<<<rows, 128>>>(d_x, reinterpret_cast<char4*>(d_q), d_scale, cols, words_of(cols));
}

void launch_matmul_int8(const int* d_q_a, const int* d_q_b, const float* d_scale_a,
                        const float* d_scale_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + 31) / 32, (m + 31) / 32);
  if (m > 0 && n > 0) {
    multiply_words<<<grid, dim3(32, 8)>>>(d_q_a, d_q_b, d_scale_a, d_scale_b, d_c, m, n,
                                          words_of(k));
  }
}

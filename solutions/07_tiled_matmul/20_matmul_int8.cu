// 07/20 Matmul, int8: round both matrices to bytes, multiply four pairs at a time, scale back.
//   a    m x k,  b  n x k (each row holds a column of the factor, as weights of a layer are stored)
//   c    m x n: floats, row-major, in device memory; c = a times b transposed, about
//   q    the bytes of a or b: four neighbours of a row in one 32-bit word, the first in the lowest
//        byte; words_of(k) words per row, filled up with zero bytes
//   Each row has a scale of its own: value = byte * scale, and the greatest value becomes 127.
//   TODOs  3
#include "20_matmul_int8.h"

constexpr int kWarp = 32;
constexpr int kRows = 8;   // of a block of quantise_rows, a warp each
constexpr int kTile = 32;  // rows and columns of a tile; words of a step along k

__global__ void quantise_rows(const float* x, int* q, float* scale, int rows, int cols, int words) {
  const int row = blockIdx.x * kRows + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;  // the whole warp
  const float* values = x + static_cast<size_t>(row) * cols;
  float greatest = 0.0f;
  //~ // TODO(1): The greatest |value| of the row, in every lane (about 6 lines).
  //~ greatest = cols > 0 ? fabsf(values[0]) : 0.0f;
  //~begin 1
  for (int i = lane; i < cols; i += kWarp) {
    greatest = fmaxf(greatest, fabsf(values[i]));
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    greatest = fmaxf(greatest, __shfl_xor_sync(0xFFFFFFFF, greatest, step));
  }
  //~end
  if (lane == 0) scale[row] = greatest / 127.0f;
  //~ // TODO(2): The words of this row: each value as the nearest byte (__float2int_rn), four to a
  //~ // word, the first in the lowest byte. A value that does not exist is 0, and so is a row of zeros.
  //~begin 2
  const float per_scale = greatest > 0.0f ? 127.0f / greatest : 0.0f;  // a row of zeros stays one
  for (int word = lane; word < words; word += kWarp) {
    unsigned packed = 0;
    for (int j = 0; j < 4; ++j) {
      const int i = 4 * word + j;
      const int byte = i < cols ? __float2int_rn(values[i] * per_scale) : 0;
      packed |= (byte & 0xFFu) << (8 * j);  // without the mask, a sign would fill the word
    }
    q[static_cast<size_t>(row) * words + word] = static_cast<int>(packed);
  }
  //~end
}

__global__ void matmul_int8(const int* q_a, const int* q_b, const float* scale_a,
                            const float* scale_b, float* c, int m, int n, int words) {
  //~ // TODO(3): Tiles of words, as 04 has tiles of floats, and sums of products of bytes, four at a
  //~ // time (__dp4a), scaled back when they are written. Lanes that read words of different rows
  //~ // should find them in different banks.
  //~begin 3
  __shared__ int tile_a[kTile][kTile];      // [row of c][word]
  __shared__ int tile_b[kTile][kTile + 1];  // [column of c][word]; lanes read down a column
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * kTile + ty;
  const int col = blockIdx.x * kTile + tx, col_to_load = blockIdx.x * kTile + ty;
  int sum = 0;  // 32 bits are enough for 2^17 products of bytes
  for (int first = 0; first < words; first += kTile) {
    const bool inside = first + tx < words;
    tile_a[ty][tx] = inside && row < m ? q_a[row * words + first + tx] : 0;
    tile_b[ty][tx] = inside && col_to_load < n ? q_b[col_to_load * words + first + tx] : 0;
    __syncthreads();  // closes write against read: a thread reads what 62 others have loaded
    for (int i = 0; i < kTile; ++i) {
      sum = __dp4a(tile_a[ty][i], tile_b[tx][i], sum);
    }
    __syncthreads();  // closes read against write: the next step overwrites both tiles
  }
  if (row < m && col < n) {
    c[row * n + col] = sum * (scale_a[row] * scale_b[col]);
  }
  //~end
}

void launch_quantise_rows(const float* d_x, int* d_q, float* d_scale, int rows, int cols) {
  const int grid = (rows + kRows - 1) / kRows;
  if (grid > 0) {
    quantise_rows<<<grid, dim3(kWarp, kRows)>>>(d_x, d_q, d_scale, rows, cols, words_of(cols));
  }
}

void launch_matmul_int8(const int* d_q_a, const int* d_q_b, const float* d_scale_a,
                        const float* d_scale_b, float* d_c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), block(kTile, kTile);
  if (grid.x > 0 && grid.y > 0) {
    matmul_int8<<<grid, block>>>(d_q_a, d_q_b, d_scale_a, d_scale_b, d_c, m, n, words_of(k));
  }
}

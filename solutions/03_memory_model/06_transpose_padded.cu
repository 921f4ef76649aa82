// 03/06 Transpose, padded: the tile of 03/05 without bank conflicts, and larger.
//   in     rows x cols floats in device memory, row-major; 0 <= rows, cols <= 2^20
//   out    cols x rows floats in device memory, row-major; out[c][r] = in[r][c]
//   A block of 32 x 16 threads turns a tile of 64 x 64 elements.
//   Shared memory has 32 banks; the 4-byte word at index w lies in bank w % 32. A warp's load takes
//   one wavefront if its words lie in different banks, more if several lie in one.
//   TODOs  2
#include "06_transpose_padded.h"

constexpr int kTile = 64;                                         // rows and columns of a tile
constexpr int kWidth = 32;                                        // threadIdx.x: a warp
constexpr int kHeight = 16;                                       // threadIdx.y
constexpr int kDown = kTile / kHeight, kAcross = kTile / kWidth;  // elements of a thread: 4 x 2

// A warp reads a column of a tile: lane k reads the word at index k * pitch. How many of the 32
// words lie in the bank that has most of them?
int column_wavefronts(int pitch) {
  //~ return pitch > 0 ? 0 : 1;  // TODO(1): That number, for any pitch from 1 on (about 6 lines).
  //~begin 1
  int in_bank[32] = {};
  int most = 0;
  for (int lane = 0; lane < 32; ++lane) {
    const int count = ++in_bank[lane * (pitch % 32) % 32];
    if (count > most) most = count;
  }
  return most;
  //~end
}

//~ // TODO(2): The pitch: words from one row of the tile to the next (1 line).
//~begin 2
// One word more than a row: the words of a column lie in 32 different banks.
constexpr int kPitch = kTile + 1;
//~end

__global__ void transpose_padded(const float* in, float* out, int rows, int cols) {
  //~begin 2
  __shared__ float tile[kTile][kPitch];  // [row of in][column of in], both within the tile
  //~end
  // blockIdx.x counts down the rows: blocks that run together write neighbouring parts of out.
  const int row0 = blockIdx.x * kTile, col0 = blockIdx.y * kTile;

  float x[kDown][kAcross];  // in registers: all loads are under way before the first is stored
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = row0 + threadIdx.y + j * kHeight, c = col0 + threadIdx.x + i * kWidth;
      x[j][i] = r < rows && c < cols ? in[static_cast<size_t>(r) * cols + c] : 0.0f;
    }
  }
  //~ // Still TODO(2): Right, and slow: a warp writes into 32 rows of out. x must go through a tile
  //~ // and arrive along rows of out, without a bank conflict on either way (about 18 lines).
//~ #pragma unroll
  //~ for (int j = 0; j < kDown; ++j) {
  //~   for (int i = 0; i < kAcross; ++i) {
  //~     const int r = row0 + threadIdx.y + j * kHeight, c = col0 + threadIdx.x + i * kWidth;
  //~     if (r < rows && c < cols) out[static_cast<size_t>(c) * rows + r] = x[j][i];
  //~   }
  //~ }
  //~begin 2
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      tile[threadIdx.y + j * kHeight][threadIdx.x + i * kWidth] = x[j][i];
    }
  }
  __syncthreads();  // closes write against read: another warp reads what this one has written
#pragma unroll
  for (int j = 0; j < kDown; ++j) {
#pragma unroll
    for (int i = 0; i < kAcross; ++i) {
      const int r = row0 + threadIdx.x + i * kWidth, c = col0 + threadIdx.y + j * kHeight;
      if (r < rows && c < cols) {
        // Neighbouring threads read from a column of the tile and write to a row of out.
        out[static_cast<size_t>(c) * rows + r] =
            tile[threadIdx.x + i * kWidth][threadIdx.y + j * kHeight];
      }
    }
  }
  //~end
}

void launch_transpose_padded(const float* d_in, float* d_out, int rows, int cols) {
  const dim3 grid((rows + kTile - 1) / kTile, (cols + kTile - 1) / kTile);
  if (grid.x > 0 && grid.y > 0) {
    transpose_padded<<<grid, dim3(kWidth, kHeight)>>>(d_in, d_out, rows, cols);
  }
}

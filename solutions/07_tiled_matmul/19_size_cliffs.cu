// 07/19 Size cliffs: why a matrix with one row more can take half as long again.
//   A kernel makes c in square tiles, a block each, and each multiprocessor works on one tile at a
//   time. So work comes in units: whole tiles, and waves of as many tiles as the card has
//   multiprocessors. One element too many costs a unit.
//   And one more cliff: rows of 16-byte loads must begin at multiples of 16 bytes. That one can be
//   padded away, by whoever allocates the matrix.
//   TODOs  3
#include "08_matmul_vectorized.h"
#include "19_size_cliffs.h"

int waves(int n, int tile, int multiprocessors) {
  //~ return n > 0 ? tile / multiprocessors : 0;  // TODO(1): The tiles of n x n elements, in rounds
  //~                                             // of `multiprocessors` (about 2 lines).
  //~begin 1
  const long long side = (n + tile - 1) / tile;
  return static_cast<int>((side * side + multiprocessors - 1) / multiprocessors);
  //~end
}

int next_tile_cliff(int n, int tile) {
  //~ return n + tile;  // TODO(2): The least size above n with more tiles. And below: the least size
  //~                   // above n with more waves (about 3 lines).
  //~begin 2
  return (n + tile - 1) / tile * tile + 1;  // one more than the tiles hold
  //~end
}

int next_wave_cliff(int n, int tile, int multiprocessors) {
  int size = next_tile_cliff(n, tile);
  //~ size += multiprocessors;
  //~begin 2
  const int now = waves(n, tile, multiprocessors);
  while (waves(size, tile, multiprocessors) == now) size = next_tile_cliff(size, tile);
  //~end
  return size;
}

int padded(int size) {
  //~ return size;  // TODO(3): The least multiple of four floats, which are 16 bytes, that is not
  //~               // less. And below: the kernel that pads, its launch, and the product.
  //~begin 3
  return (size + 3) / 4 * 4;
  //~end
}

// x stands in the upper left corner of out; a thread writes one element of out.
__global__ void pad_with_zeros(const float* x, int rows, int cols, float* out, int out_rows,
                               int out_cols) {
  //~begin 3
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= out_rows || col >= out_cols) return;
  out[row * out_cols + col] = row < rows && col < cols ? x[row * cols + col] : 0.0f;
  //~end
}

void launch_pad(const float* d_x, int rows, int cols, float* d_out, int out_rows, int out_cols) {
  //~begin 3
  const dim3 block(32, 32);  // high: a grid has at most 65,535 blocks in y
  const dim3 grid((out_cols + block.x - 1) / block.x, (out_rows + block.y - 1) / block.y);
  if (grid.x > 0 && grid.y > 0) {
    pad_with_zeros<<<grid, block>>>(d_x, rows, cols, d_out, out_rows, out_cols);
  }
  //~end
}

void launch_matmul_padded(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  //~ launch_matmul_vectorized(d_a, d_b, d_c, m, n, k);
  //~begin 3
  // Zeros of a meet zeros of b and change no sum; what is padded in c comes out as zeros.
  launch_matmul_vectorized(d_a, d_b, d_c, m, padded(n), padded(k));
  //~end
}

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
  return n > 0 ? tile / multiprocessors : 0;  // TODO(1): The tiles of n x n elements, in rounds
                                              // of `multiprocessors` (about 2 lines).
}

int next_tile_cliff(int n, int tile) {
  return n + tile;  // TODO(2): The least size above n with more tiles. And below: the least size
                    // above n with more waves (about 3 lines).
}

int next_wave_cliff(int n, int tile, int multiprocessors) {
  int size = next_tile_cliff(n, tile);
  size += multiprocessors;
  return size;
}

int padded(int size) {
  return size;  // TODO(3): The least multiple of four floats, which are 16 bytes, that is not
                // less. And below: the kernel that pads, its launch, and the product.
}

// x stands in the upper left corner of out; a thread writes one element of out.
__global__ void pad_with_zeros(const float* x, int rows, int cols, float* out, int out_rows,
                               int out_cols) {
}

void launch_pad(const float* d_x, int rows, int cols, float* d_out, int out_rows, int out_cols) {
}

void launch_matmul_padded(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  launch_matmul_vectorized(d_a, d_b, d_c, m, n, k);
}

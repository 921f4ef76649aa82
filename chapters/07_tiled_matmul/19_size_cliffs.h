// 07/19 Size cliffs: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_19_SIZE_CLIFFS_H_
#define CHAPTERS_07_TILED_MATMUL_19_SIZE_CLIFFS_H_

// Predictions for square matrices, n x n with n from 1 to 2^20.
//   tile             rows, and columns, of c that a block makes
//   multiprocessors  of the card; each works on one tile at a time; the number of
//                    rounds fits an int

// Rounds in which the card makes all tiles of c.
int waves(int n, int tile, int multiprocessors);
// The least size above n that needs more tiles than n does, and the least that needs more waves.
int next_tile_cliff(int n, int tile);
int next_wave_cliff(int n, int tile, int multiprocessors);

// The size to which rows are lengthened, so that each begins at a multiple of 16 bytes; as little
// as that takes. size from 0 to 2^20.
int padded(int size);
// out (out_rows x out_cols, each up to 2^20, fewer than 2^31 floats) is x (rows x cols, not larger
// in either direction) with zeros on the right and below. Row-major in device memory; done once for
// a matrix.
void launch_pad(const float* d_x, int rows, int cols, float* d_out, int out_rows, int out_cols);
// c = a b with 16-byte loads whatever the sizes, by the kernel of 08.
//   d_a  m x padded(k) and d_b  padded(k) x padded(n), made by launch_pad
//   d_c  m x padded(n): m x n of it are the product, the rest is zero where a is finite
void launch_matmul_padded(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_19_SIZE_CLIFFS_H_

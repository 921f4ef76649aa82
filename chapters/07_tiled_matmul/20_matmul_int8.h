// 07/20 Matmul, int8: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_20_MATMUL_INT8_H_
#define CHAPTERS_07_TILED_MATMUL_20_MATMUL_INT8_H_

// 32-bit words that hold a row of `cols` bytes.
constexpr int words_of(int cols) { return (cols + 3) / 4; }

// Rounds a matrix to signed bytes, row by row: byte = value / scale, to the nearest integer.
//   d_x      rows x cols floats, finite; the greatest |value| of a row is 0 or at least 1e-30
//   d_q      rows x words_of(cols) words; a row is filled up with zero bytes
//   d_scale  rows floats: the greatest |value| of the row / 127
//   rows and cols from 0 to 2^17, less than 2^31 elements
void launch_quantise_rows(const float* d_x, int* d_q, float* d_scale, int rows, int cols);

// c[row][col] = the sum of q_a[row][i] q_b[col][i], times scale_a[row] scale_b[col].
//   d_q_a  m x words_of(k) words,  d_q_b  n x words_of(k) words,  d_c  m x n floats
//   d_scale_a, d_scale_b  m and n floats, none negative: each as small or as large as
//          launch_quantise_rows makes them, and a product of two is 0 or lies between 1e-37 and
//          1e28, where floats have all their digits, and so has c
//   m and n from 0 to 2^20, k from 0 to 2^17, no matrix of 2^31 elements
void launch_matmul_int8(const int* d_q_a, const int* d_q_b, const float* d_scale_a,
                        const float* d_scale_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_20_MATMUL_INT8_H_

// 07/14 Matmul, 5120: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_H_
#define CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_H_

// c = a b, row-major in device memory, made for m = n = 5120, k = 256.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements
void launch_matmul_5120(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

// The same for a card that makes `places` large tiles at a time, at least 1.
void launch_matmul_places(const float* d_a, const float* d_b, float* d_c, int m, int n, int k,
                          int places);

// How many of `tiles` tiles are made large, the first ones: all that fill waves of `places`, and
// the last ones too if they fill more than half of a wave.
int tiles_in_whole_waves(int tiles, int places);

// Milliseconds of device time of launch(work), less those of an empty launch: the least of five.
float milliseconds_of(void (*launch)(void* work), void* work);

// Given: three kernels of a lecture, with tiles and blocks of width x width; width is 16 or 32.
enum class Lecture { kNaive, kDynamicTile, kStaticTile };
void launch_lecture(Lecture kernel, int width, const float* d_a, const float* d_b, float* d_c,
                    int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_14_MATMUL_5120_H_

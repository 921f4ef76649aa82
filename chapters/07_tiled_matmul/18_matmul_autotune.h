// 07/18 Matmul, autotune: what the test calls.
#ifndef CHAPTERS_07_TILED_MATMUL_18_MATMUL_AUTOTUNE_H_
#define CHAPTERS_07_TILED_MATMUL_18_MATMUL_AUTOTUNE_H_

// In all of these c = a b, row-major in device memory.
//   d_a  m x k,  d_b  k x n,  d_c  m x n;  m, n, k from 0 to 2^20, no matrix of 2^31 elements

// ---- given

// How many shapes of tiles there are: shape 0, 1, ... shapes() - 1.
int shapes();
// "128 x 128 x 16, 8 x 8 per thread"
const char* shape_name(int shape);
// One product with this shape. False, and nothing is launched, if the current device cannot run it:
// a T4 has too little shared memory for one of them.
bool launch_matmul_shape(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k);

// ---- yours

// Milliseconds on the device for one product with this shape: the least of two or more launches
// that are timed one by one, behind one that is not timed; infinity if the device cannot run it. m
// and n are at least 1. c holds the product afterwards.
float shape_milliseconds(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k);
// The shape that takes least. m and n are at least 1.
int fastest_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);
// The product with the fastest shape. The first call for a device and m, n, k measures, and the
// caller waits; every later one launches one kernel. Called by one thread at a time.
void launch_matmul_autotune(const float* d_a, const float* d_b, float* d_c, int m, int n, int k);

#endif  // CHAPTERS_07_TILED_MATMUL_18_MATMUL_AUTOTUNE_H_

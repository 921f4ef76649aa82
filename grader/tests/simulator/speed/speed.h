// Launchers of speed.cu: c = a * b, all n x n, row-major, device memory; n a multiple of 64.
#ifndef WARPLINGS_TESTS_SPEED_H_
#define WARPLINGS_TESTS_SPEED_H_

void launch_matmul_tiled(const float* d_a, const float* d_b, float* d_c, int n);
void launch_matmul_registers(const float* d_a, const float* d_b, float* d_c, int n);

#endif  // WARPLINGS_TESTS_SPEED_H_

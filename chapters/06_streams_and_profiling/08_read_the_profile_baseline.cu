// 06/08 Read the profile: three kernels to look at, each with one thing that holds it back.
#include "08_read_the_profile.h"

__global__ void kernel_a(const float* m, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0.0f;
  for (int col = 0; col < kSide; ++col) {
    sum += m[row * kSide + col];
  }
  sums[row] = sum;
}

__global__ void kernel_b(const float* in, float* out) {
  __shared__ float tile[32][32];
  const int x = blockIdx.x * 32, y = blockIdx.y * 32;
  tile[threadIdx.y][threadIdx.x] = in[(y + threadIdx.y) * kSide + x + threadIdx.x];
  __syncthreads();  // the tile is complete before another warp reads its columns
  out[(x + threadIdx.y) * kSide + y + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void kernel_c(int* steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int count = 0;
  for (unsigned value = i + 1; value != 1; ++count) {
    value = value % 2 == 0 ? value / 2 : 3 * value + 1;
  }
  steps[i] = count;
}

void launch_kernel_a(const float* d_m, float* d_sums) { kernel_a<<<kSide / 64, 64>>>(d_m, d_sums); }

void launch_kernel_b(const float* d_in, float* d_out) {
  kernel_b<<<dim3(kSide / 32, kSide / 32), dim3(32, 32)>>>(d_in, d_out);
}

void launch_kernel_c(int* d_steps, int n) { kernel_c<<<(n + 127) / 128, 128>>>(d_steps, n); }

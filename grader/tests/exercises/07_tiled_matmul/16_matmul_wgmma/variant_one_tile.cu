// Accepted: a block for each tile, two stages, one thread of the first group loads, and every step
// is waited for.
#include "16_matmul_wgmma.h"
#include "16_matmul_wgmma_support.h"

__global__ void __launch_bounds__(256, 1)
    matmul_one_tile(const __grid_constant__ CUtensorMap map_a,
                    const __grid_constant__ CUtensorMap map_b, float* __restrict__ c, int m, int n,
                    int k) {
  extern __shared__ unsigned char shared[];
  __shared__ uint64_t full[2];
  unsigned char* stages = shared + (1024 - shared_address(shared) % 1024) % 1024;
  const int t = threadIdx.x, top = blockIdx.y * 128, left = blockIdx.x * 256;
  const auto load = [&](int step) {
    unsigned char* to = stages + step % 2 * 49152;
    arrive_and_expect(&full[step % 2], 49152);
    copy_box(to, &map_a, 64 * step, top, &full[step % 2]);
    for (int s = 0; s < 4; ++s) {
      copy_box(to + 16384 + 8192 * s, &map_b, left + 64 * s, 64 * step, &full[step % 2]);
    }
  };
  if (t == 0) {
    init_barrier(&full[0], 1);
    init_barrier(&full[1], 1);
    publish_barriers();
    load(0);
  }
  __syncthreads();
  float sums[kSums] = {};
  for (int step = 0; step * 64 < k; ++step) {
    if (t == 0 && (step + 1) * 64 < k) load(step + 1);
    wait(&full[step % 2], step / 2 % 2);
    const unsigned char* of_a = stages + step % 2 * 49152 + t / 128 * 8192;
    const unsigned char* of_b = stages + step % 2 * 49152 + 16384;
    begin_wgmma();
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      wgmma(sums, describe_shared(of_a + 32 * part, 0), describe_shared(of_b + 2048 * part, 8192));
    }
    close_wgmma_group();
    wait_for_wgmma<0>();
    __syncthreads();
  }
  const int row = top + t / 32 * 16 + t % 32 / 4, col = left + t % 4 * 2;
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    const int r = row + i / 2 % 2 * 8, s = col + i / 4 * 8 + i % 2;
    if (r < m && s < n) c[static_cast<size_t>(r) * n + s] = sums[i];
  }
}

void launch_matmul_wgmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                         int n, int k) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    cudaMemset(d_c, 0, sizeof(float) * m * n);
    return;
  }
  constexpr int kBytes = 2 * 49152 + 1024;
  cudaFuncSetAttribute(matmul_one_tile, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  matmul_one_tile<<<dim3((n + 255) / 256, (m + 127) / 128), 256, kBytes>>>(
      describe(d_a, m, k, 128), describe(d_b, k, n, 64), d_c, m, n, k);
}

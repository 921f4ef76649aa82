// Accepted: tiles of 64 x 64 with four warps, one stage in static shared memory, copied through
// registers, and the plain functions of mma.h.
#include <mma.h>

#include "15_matmul_wmma.h"

__global__ void __launch_bounds__(128)
    matmul_one_stage(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b,
                     float* __restrict__ c, int m, int n, int k) {
  __shared__ __align__(32) __nv_bfloat16 of_a[64][40], of_b[32][72];
  __shared__ __align__(32) float of_c[4][16][20];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int top = blockIdx.y * 64, left = blockIdx.x * 64;
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums[4];
  for (auto& sum : sums) nvcuda::wmma::fill_fragment(sum, 0.0f);
  const __nv_bfloat16 zero(0.0f);
  for (int first = 0; first < k; first += 32) {
    // All sixteen loads of a tile are under way before the first is needed: outside of a matrix the
    // first element is loaded instead, so that no load hangs on a branch.
    __nv_bfloat16 from_a[16], from_b[16];
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      const int e = t + 128 * u;
      const int row = top + e / 32, i = first + e % 32, j = first + e / 64, col = left + e % 64;
      from_a[u] = a[static_cast<size_t>(row < m ? row : 0) * k + (i < k ? i : 0)];
      from_b[u] = b[static_cast<size_t>(j < k ? j : 0) * n + (col < n ? col : 0)];
    }
#pragma unroll
    for (int u = 0; u < 16; ++u) {
      const int e = t + 128 * u;
      const int row = top + e / 32, i = first + e % 32, j = first + e / 64, col = left + e % 64;
      of_a[e / 32][e % 32] = row < m && i < k ? from_a[u] : zero;
      of_b[e / 64][e % 64] = j < k && col < n ? from_b[u] : zero;
    }
    __syncthreads();
    for (int i = 0; i < 32; i += 16) {
      nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, __nv_bfloat16,
                             nvcuda::wmma::row_major>
          x;
      nvcuda::wmma::load_matrix_sync(x, &of_a[16 * warp][i], 40);
      for (int s = 0; s < 4; ++s) {
        nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, 16, __nv_bfloat16,
                               nvcuda::wmma::row_major>
            y;
        nvcuda::wmma::load_matrix_sync(y, &of_b[i][16 * s], 72);
        nvcuda::wmma::mma_sync(sums[s], x, y, sums[s]);
      }
    }
    __syncthreads();
  }
  for (int s = 0; s < 4; ++s) {
    nvcuda::wmma::store_matrix_sync(&of_c[warp][0][0], sums[s], 20, nvcuda::wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
      const int row = top + 16 * warp + e / 16, col = left + 16 * s + e % 16;
      if (row < m && col < n) c[static_cast<size_t>(row) * n + col] = of_c[warp][e / 16][e % 16];
    }
    __syncwarp();
  }
}

void launch_matmul_wmma(const __nv_bfloat16* d_a, const __nv_bfloat16* d_b, float* d_c, int m,
                        int n, int k) {
  if (m == 0 || n == 0) return;
  matmul_one_stage<<<dim3((n + 63) / 64, (m + 63) / 64), 128>>>(d_a, d_b, d_c, m, n, k);
}

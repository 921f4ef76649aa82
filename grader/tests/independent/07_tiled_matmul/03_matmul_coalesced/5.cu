// a 1-D block of 256 threads, a grid-stride loop over the elements of c in 64-bit indices, fma and four sums per thread
#include "03_matmul_coalesced.h"

namespace {

constexpr int kThreads = 256;

__global__ void product(const float* __restrict__ a, const float* __restrict__ b,
                        float* __restrict__ c, long long elements, int n, int k) {
  const long long step = static_cast<long long>(gridDim.x) * kThreads;
  for (long long e = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x; e < elements;
       e += step) {
    const long long row = e / n;
    const float* x = a + row * k;
    const float* y = b + (e - row * n);
    float even = 0.0f, odd = 0.0f;
    int i = 0;
    for (; i + 1 < k; i += 2) {
      even = fmaf(x[i], y[0], even);
      odd = fmaf(x[i + 1], y[n], odd);
      y += 2ll * n;
    }
    if (i < k) even = fmaf(x[i], y[0], even);
    c[e] = even + odd;
  }
}

}  // namespace

void launch_matmul_coalesced(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  const long long elements = static_cast<long long>(m) * n;
  if (elements == 0) return;
  const long long blocks = (elements + kThreads - 1) / kThreads;
  const unsigned grid = static_cast<unsigned>(blocks < (1 << 22) ? blocks : (1 << 22));
  product<<<grid, kThreads>>>(d_a, d_b, d_c, elements, n, k);
}

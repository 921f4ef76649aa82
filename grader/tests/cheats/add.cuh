// An honest kernel for submissions whose trick lies elsewhere.
#ifndef WARPLINGS_TESTS_CHEATS_ADD_CUH_
#define WARPLINGS_TESTS_CHEATS_ADD_CUH_

constexpr int kBlock = 256;  // threads

// c = a + b, n floats aligned to 16 bytes, four per thread and the tail by the first threads.
static __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    const float4 p = reinterpret_cast<const float4*>(a)[i];
    const float4 q = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(c)[i] = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
  }
  const int k = n / 4 * 4 + i;
  if (k < n) c[k] = a[k] + b[k];
}

inline int blocks_for(int n) { return (n + 4 * kBlock - 1) / (4 * kBlock); }

#endif  // WARPLINGS_TESTS_CHEATS_ADD_CUH_

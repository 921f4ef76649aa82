// Inline PTX ld.global.nc.v4 / st.global.v4
#include "05_vectorized_add.h"
__global__ void add4(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int groups = n / 4;
  if (i < groups) {
    float4 x, y;
    asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "l"(a + 4 * i));
    asm volatile("ld.global.nc.v4.f32 {%0,%1,%2,%3}, [%4];" : "=f"(y.x), "=f"(y.y), "=f"(y.z), "=f"(y.w) : "l"(b + 4 * i));
    reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
  const int t = groups * 4 + i;
  if (i < n % 4) c[t] = a[t] + b[t];
}
void launch_vectorized_add(const float* d_a, const float* d_b, float* d_c, int n) {
  if (n <= 0) return;
  const int threads = (n + 3) / 4;
  add4<<<(threads + 255) / 256, 256>>>(d_a, d_b, d_c, n);
}

// expm1/tanh form: 0.5 + 0.5 * tanhf(0.5 x) in float
#include "07_fusion.h"
int predicted_bytes(bool fused) { return fused ? 16 : 32; }
__device__ float gate(float a, float b, float c) { return 0.5f + 0.5f * tanhf(0.5f * (a + b * c)); }
__global__ void fused(const float* a, const float* b, const float* c, float* y, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    const float4 p = *(const float4*)(a + i), q = *(const float4*)(b + i), r = *(const float4*)(c + i);
    *(float4*)(y + i) = make_float4(gate(p.x, q.x, r.x), gate(p.y, q.y, r.y), gate(p.z, q.z, r.z), gate(p.w, q.w, r.w));
  } else for (int k = i; k < n; ++k) y[k] = gate(a[k], b[k], c[k]);
}
void launch_sigmoid_fused(const float* a, const float* b, const float* c, float* y, int n) { fused<<<(n + 1023) / 1024, 256>>>(a, b, c, y, n); }

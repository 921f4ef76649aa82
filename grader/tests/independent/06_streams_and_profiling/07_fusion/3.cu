// both halves of the sigmoid from e^-|x|, which never overflows: e / (1 + e) and 1 less that
#include "07_fusion.h"

constexpr int kBytesOfThreeKernels = 32;
constexpr int kBytesOfOneKernel = 16;
int predicted_bytes(bool fused) { return fused ? kBytesOfOneKernel : kBytesOfThreeKernels; }

__device__ float gate(float a, float b, float c) { 
  const float x = fmaf(b, c, a), e = expf(-fabsf(x)), small = e / (1.0f + e);
  return x < 0.0f ? small : 1.0f - small;
 }

__global__ void sigmoid_fused(const float* a, const float* b, const float* c, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int groups = n / 4;
  if (i < groups) {
    const float4 u = reinterpret_cast<const float4*>(a)[i];
    const float4 v = reinterpret_cast<const float4*>(b)[i];
    const float4 w = reinterpret_cast<const float4*>(c)[i];
    reinterpret_cast<float4*>(y)[i] = make_float4(gate(u.x, v.x, w.x), gate(u.y, v.y, w.y),
                                                  gate(u.z, v.z, w.z), gate(u.w, v.w, w.w));
  } else if (i < groups + n % 4) {
    const int k = 4 * groups + (i - groups);
    y[k] = gate(a[k], b[k], c[k]);
  }
}

void launch_sigmoid_fused(const float* d_a, const float* d_b, const float* d_c, float* d_y, int n) {
  const int threads = n / 4 + n % 4;
  sigmoid_fused<<<(threads + 255) / 256, 256>>>(d_a, d_b, d_c, d_y, n);
}

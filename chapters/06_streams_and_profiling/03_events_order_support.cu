// 06/03 Events order: the kernels of the two branches and of their meeting.
#include "03_events_order.h"

namespace {

constexpr int kBlock = 128;  // threads

// One thread per element; the terms of an element form a chain.
__global__ void power_series(const float* x, float* out, int n, float f, int terms) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float factor = f * x[i];
    float sum = 0.0f;
    for (int k = 0; k < terms; ++k) {
      sum = sum * factor + 1.0f;
    }
    out[i] = sum;
  }
}

__global__ void mean(const float* a, const float* b, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    y[i] = 0.5f * (a[i] + b[i]);
  }
}

}  // namespace

cudaError_t launch_power_series(const float* d_x, float* d_out, int n, float f, int terms,
                                cudaStream_t stream) {
  power_series<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_x, d_out, n, f, terms);
  return cudaGetLastError();
}

cudaError_t launch_mean(const float* d_a, const float* d_b, float* d_y, int n,
                        cudaStream_t stream) {
  mean<<<(n + kBlock - 1) / kBlock, kBlock, 0, stream>>>(d_a, d_b, d_y, n);
  return cudaGetLastError();
}

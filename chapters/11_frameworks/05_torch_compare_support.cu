// 11/05, given: y = x^2 + x + 1, read once and written once.
#include <cuda_runtime.h>

#include <cstdint>

namespace {

__device__ float poly_of(float x) { return x * x + x + 1; }

// 16 bytes per thread, and the last n % 4 numbers one by one; x and y aligned to 16 bytes.
__global__ void poly_by_four(const float* x, float* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n / 4) {
    const float4 v = reinterpret_cast<const float4*>(x)[i];
    reinterpret_cast<float4*>(y)[i] =
        make_float4(poly_of(v.x), poly_of(v.y), poly_of(v.z), poly_of(v.w));
  }
  const long last = n / 4 * 4 + i;
  if (last < n) y[last] = poly_of(x[last]);
}

// A view may begin anywhere.
__global__ void poly_by_one(const float* x, float* y, long n) {
  const long i = blockIdx.x * static_cast<long>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = poly_of(x[i]);
}

bool is_aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % sizeof(float4) == 0; }

}  // namespace

// x, y: n floats on the device. Waits for nothing.
extern "C" void poly(const float* x, float* y, long n, void* stream) {
  constexpr int kBlock = 256;  // threads
  const auto in = static_cast<cudaStream_t>(stream);
  if (n == 0) return;
  if (is_aligned(x) && is_aligned(y)) {
    poly_by_four<<<(n / 4 + kBlock) / kBlock, kBlock, 0, in>>>(x, y, n);
  } else {
    poly_by_one<<<(n + kBlock - 1) / kBlock, kBlock, 0, in>>>(x, y, n);
  }
}

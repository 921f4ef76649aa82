// 06/15 Frame deltas: what the exercise is timed against, one stream and three kernels per frame.
#include <utility>

#include "15_frame_deltas.h"

namespace {

constexpr int kBlock = 256;  // threads

__global__ void apply_tone(float* x, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    x[i] = x[i] / (1.0f + fabsf(x[i]));
  }
}

__global__ void subtract(const float* now, const float* before, float* d, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    d[i] = now[i] - before[i];
  }
}

__global__ void silence(float* d, int n, float threshold) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n && fabsf(d[i]) <= threshold) {
    d[i] = 0.0f;
  }
}

}  // namespace

cudaError_t encode_one_by_one(const float* h_frames, float* h_deltas, int frames, int pixels,
                              float threshold, cudaStream_t stream) {
  const size_t bytes = pixels * sizeof(float);
  const int grid = (pixels - 1) / kBlock + 1;
  float* memory = nullptr;
  cudaError_t error = cudaMallocAsync(&memory, 3 * bytes, stream);
  if (error != cudaSuccess) return error;
  float *now = memory, *before = memory + pixels, *d = memory + 2 * static_cast<size_t>(pixels);
  cudaMemsetAsync(before, 0, bytes, stream);
  for (int f = 0; f < frames; ++f) {
    const size_t first = static_cast<size_t>(f) * pixels;
    cudaMemcpyAsync(now, h_frames + first, bytes, cudaMemcpyHostToDevice, stream);
    apply_tone<<<grid, kBlock, 0, stream>>>(now, pixels);
    subtract<<<grid, kBlock, 0, stream>>>(now, before, d, pixels);
    silence<<<grid, kBlock, 0, stream>>>(d, pixels, threshold);
    cudaMemcpyAsync(h_deltas + first, d, bytes, cudaMemcpyDeviceToHost, stream);
    std::swap(now, before);
  }
  cudaFreeAsync(memory, stream);
  return cudaGetLastError();
}

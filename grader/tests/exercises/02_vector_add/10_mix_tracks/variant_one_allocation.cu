// Another right answer: one piece of device memory for everything, the runtime's pitch for the
// rows, two groups per thread with the loads of both under way together, and the tail in a kernel
// of its own.
#include <cmath>

#include "10_mix_tracks.h"

namespace {

constexpr int kThreads = 128;

__global__ void mix_two_groups(const float* samples, int pitch, const float* gains, float* mix,
                               int tracks, int groups) {
  const int a = blockIdx.x * 2 * kThreads + threadIdx.x, b = a + kThreads;
  float4 p = make_float4(0, 0, 0, 0), q = p;
  for (int t = 0; t < tracks; ++t) {
    const float4* row = reinterpret_cast<const float4*>(samples + t * pitch);
    const float4 zero = make_float4(0, 0, 0, 0);
    const float4 x = a < groups ? row[a] : zero, y = b < groups ? row[b] : zero;
    const float gain = gains[t];
    p = make_float4(p.x + gain * x.x, p.y + gain * x.y, p.z + gain * x.z, p.w + gain * x.w);
    q = make_float4(q.x + gain * y.x, q.y + gain * y.y, q.z + gain * y.z, q.w + gain * y.w);
  }
  if (a < groups) reinterpret_cast<float4*>(mix)[a] = p;
  if (b < groups) reinterpret_cast<float4*>(mix)[b] = q;
}

__global__ void mix_tail(const float* samples, int pitch, const float* gains, float* mix,
                         int tracks, int first) {
  const int i = first + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < tracks; ++t) sum += gains[t] * samples[t * pitch + i];
  mix[i] = sum;
}

cudaError_t time_mix(const float* samples, int pitch, const float* gains, float* mix, int tracks,
                     int n, float* ms) {
  cudaEvent_t mark[2] = {};
  cudaError_t error = cudaEventCreate(&mark[0]);
  if (error != cudaSuccess) return error;
  error = cudaEventCreate(&mark[1]);
  if (error == cudaSuccess) {
    error = cudaEventRecord(mark[0]);
    launch_mix(samples, pitch, gains, mix, tracks, n);
    const cudaError_t launch = cudaGetLastError();
    if (error == cudaSuccess) error = launch;
    if (error == cudaSuccess) error = cudaEventRecord(mark[1]);
    if (error == cudaSuccess) error = cudaEventSynchronize(mark[1]);
    if (error == cudaSuccess) error = cudaEventElapsedTime(ms, mark[0], mark[1]);
    cudaEventDestroy(mark[1]);
  }
  cudaEventDestroy(mark[0]);
  return error;
}

}  // namespace

void launch_mix(const float* d_samples, int pitch, const float* d_gains, float* d_mix, int tracks,
                int n) {
  const int groups = n / 4;
  if (groups > 0) {
    mix_two_groups<<<(groups + 2 * kThreads - 1) / (2 * kThreads), kThreads>>>(
        d_samples, pitch, d_gains, d_mix, tracks, groups);
  }
  if (n % 4 != 0) {
    mix_tail<<<1, n % 4>>>(d_samples, pitch, d_gains, d_mix, tracks, 4 * groups);
  }
}

cudaError_t mix_tracks(const float* h_samples, const float* h_gains, float* h_mix, int tracks,
                       int n, float* ms) {
  const size_t row = n * sizeof(float), gains_bytes = tracks * sizeof(float);
  // Rows of samples, a row for the mix, and as many rows as the gains need.
  const size_t rows = tracks + 1 + (gains_bytes + row - 1) / row;
  void* memory = nullptr;
  size_t pitch = 0;  // bytes
  cudaError_t error = cudaMallocPitch(&memory, &pitch, row, rows);
  if (error == cudaSuccess) {
    char* const bytes = static_cast<char*>(memory);
    float* const samples = static_cast<float*>(memory);
    float* const mix = reinterpret_cast<float*>(bytes + tracks * pitch);
    float* const gains = reinterpret_cast<float*>(bytes + (tracks + 1) * pitch);
    error = cudaMemcpy2D(samples, pitch, h_samples, row, row, tracks, cudaMemcpyDefault);
    if (error == cudaSuccess) error = cudaMemcpy(gains, h_gains, gains_bytes, cudaMemcpyDefault);
    if (error == cudaSuccess) {
      error = time_mix(samples, static_cast<int>(pitch / sizeof(float)), gains, mix, tracks, n, ms);
    }
    if (error == cudaSuccess) error = cudaMemcpy(h_mix, mix, row, cudaMemcpyDefault);
    cudaFree(memory);
  }
  cudaGetLastError();
  return error;
}

int first_wrong_sample(const float* h_samples, const float* h_gains, const float* h_mix, int tracks,
                       int n, double tolerance) {
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int t = 0; t < tracks; ++t) sum += double{h_gains[t]} * h_samples[size_t(t) * n + i];
    const double error = h_mix[i] - sum;
    if (!(error <= tolerance && -error <= tolerance)) return i;
  }
  return -1;
}

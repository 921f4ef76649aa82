// Design: least of two timed launches per shape, remembered in a std::map from device and sizes
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "18_matmul_autotune.h"

constexpr int kRepeats = 2;

float shape_milliseconds(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k) {
  if (!launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k)) return INFINITY;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float least = INFINITY;
  for (int i = 0; i < kRepeats; ++i) {
    float now = 0.0f;
    cudaEventRecord(begin);
    launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&now, begin, end);
    least = std::min(least, now);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  return least;
}

int fastest_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  int fastest = 0;
  float least = INFINITY;
  for (int shape = 0; shape < shapes(); ++shape) {
    const float now = shape_milliseconds(shape, d_a, d_b, d_c, m, n, k);
    if (now < least) least = now, fastest = shape;
  }
  return fastest;
}

void launch_matmul_autotune(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  static std::map<std::array<int, 4>, int> known;
  int device = 0;
  cudaGetDevice(&device);
  const std::array<int, 4> key = {device, m, n, k};
  auto found = known.find(key);
  if (found == known.end()) {
    found = known.emplace(key, fastest_shape(d_a, d_b, d_c, m, n, k)).first;
  }
  launch_matmul_shape(found->second, d_a, d_b, d_c, m, n, k);
}

// Accepted: a list that is searched from its end, and the least of three launches.
#include <algorithm>
#include <cmath>
#include <vector>

#include "18_matmul_autotune.h"

float shape_milliseconds(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k) {
  cudaEvent_t events[6];
  for (cudaEvent_t& event : events) cudaEventCreate(&event);
  bool runs = launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
  cudaDeviceSynchronize();
  float times[3] = {INFINITY, INFINITY, INFINITY};
  for (int i = 0; i < 3 && runs; ++i) {
    cudaEventRecord(events[2 * i]);
    launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
    cudaEventRecord(events[2 * i + 1]);
    cudaEventSynchronize(events[2 * i + 1]);
    cudaEventElapsedTime(&times[i], events[2 * i], events[2 * i + 1]);
  }
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  return *std::min_element(times, times + 3);
}

int fastest_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  std::vector<float> times;
  for (int shape = 0; shape < shapes(); ++shape) {
    times.push_back(shape_milliseconds(shape, d_a, d_b, d_c, m, n, k));
  }
  return static_cast<int>(std::min_element(times.begin(), times.end()) - times.begin());
}

struct Choice {
  int device, m, n, k, shape;
};

void launch_matmul_autotune(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  static std::vector<Choice> choices;
  if (m == 0 || n == 0) return;
  int device = 0;
  cudaGetDevice(&device);
  const auto known = std::find_if(choices.rbegin(), choices.rend(), [&](const Choice& c) {
    return c.device == device && c.m == m && c.n == n && c.k == k;
  });
  const int shape = known != choices.rend() ? known->shape : fastest_shape(d_a, d_b, d_c, m, n, k);
  if (known == choices.rend()) choices.push_back({device, m, n, k, shape});
  launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
}

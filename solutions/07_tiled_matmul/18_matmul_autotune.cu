// 07/18 Matmul, autotune: which tile is best depends on the card and on the sizes. Measure, choose,
// remember.
//   a  m x k,  b  k x n,  c  m x n: floats, row-major, in device memory; c = a b
//   Given, in 18_matmul_autotune_baseline.cu: one template, compiled for a list of shapes, from
//   tiles of 128 x 128, which use each word often, to tiles of 32 x 32, of which there are more.
//   Measuring costs a few products. So it is done once for each device and each m, n, k.
//   TODOs  3
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "18_matmul_autotune.h"

constexpr int kRepeats = 2;  // timed launches of a shape, after one that is not timed

float shape_milliseconds(int shape, const float* d_a, const float* d_b, float* d_c, int m, int n,
                         int k) {
  // The first launch loads the code of the kernel. It also tells whether the card takes this shape.
  if (!launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k)) return INFINITY;
  //~ // TODO(1): The least time of kRepeats launches, each between two events, on the device.
  //~ return kRepeats;
  //~begin 1
  float least = INFINITY;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < kRepeats; ++i) {
    cudaEventRecord(begin);
    launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float time = 0.0f;
    cudaEventElapsedTime(&time, begin, end);
    least = std::min(least, time);  // what disturbs a measurement makes it longer, never shorter
  }
  cudaEventDestroy(end);
  cudaEventDestroy(begin);
  return least;
  //~end
}

int fastest_shape(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  int fastest = 0;
  //~ // TODO(2): The shape that takes the least time (about 6 lines).
  //~begin 2
  float least = INFINITY;
  for (int shape = 0; shape < shapes(); ++shape) {
    const float time = shape_milliseconds(shape, d_a, d_b, d_c, m, n, k);
    if (time < least) {
      least = time;
      fastest = shape;
    }
  }
  //~end
  return fastest;
}

void launch_matmul_autotune(const float* d_a, const float* d_b, float* d_c, int m, int n, int k) {
  if (m == 0 || n == 0) return;
  //~ // TODO(3): Ask a table, from device and sizes to a shape, and measure only where it has no
  //~ // answer yet (about 6 lines).
  //~ const int shape = fastest_shape(d_a, d_b, d_c, m, n, k);
  //~begin 3
  static std::map<std::array<int, 4>, int> fastest_for;  // {device, m, n, k}: shape
  int device = 0;
  cudaGetDevice(&device);
  const std::array<int, 4> key = {device, m, n, k};
  if (fastest_for.count(key) == 0) fastest_for[key] = fastest_shape(d_a, d_b, d_c, m, n, k);
  const int shape = fastest_for[key];
  //~end
  launch_matmul_shape(shape, d_a, d_b, d_c, m, n, k);
}

// 05/01 Divergence: what the test calls, and what is done to a sample.
#ifndef CHAPTERS_05_WARPS_01_DIVERGENCE_H_
#define CHAPTERS_05_WARPS_01_DIVERGENCE_H_

#include <cuda_runtime_api.h>

// What you expect, before you run it.
int predicted_launches(int branches);      // of a kernel that contains so many branches
int predicted_passes(const int path[32]);  // through a branch in which lane l takes path[l]

// y[i] = left_channel(x[i]) for even i, right_channel(x[i]) for odd i.
//   d_x, d_y  n floats each in device memory, n from 0 to 2^30
void launch_process_channels(const float* d_x, float* d_y, int n);

// Given, in 01_divergence_baseline.cu. The branch inside every warp, which yours is timed against:
void launch_process_channels_divergent(const float* d_x, float* d_y, int n);
// One warp; lane l goes the way d_path[l], 0 <= d_path[l] < 32. Adds the passes to *d_passes.
void launch_count_passes(const int* d_path, int* d_passes);

constexpr int kSteps = 128;  // of the simulated circuits: enough to outweigh 8 bytes of traffic

// A damped spring, let go at position x: where it is after kSteps.
template <class Real>
__host__ __device__ Real left_channel(Real x) {
  Real position = x, velocity = 0;
  for (int step = 0; step < kSteps; ++step) {
    velocity = Real(0.9375) * velocity - Real(0.015625) * position;
    position += velocity;
  }
  return position;
}

// Two low-pass filters in a row, driven by x from rest: what comes out after kSteps.
template <class Real>
__host__ __device__ Real right_channel(Real x) {
  Real first = 0, second = 0;
  for (int step = 0; step < kSteps; ++step) {
    first += Real(0.03125) * (x - first);
    second += Real(0.03125) * (first - second);
  }
  return second;
}

#endif  // CHAPTERS_05_WARPS_01_DIVERGENCE_H_

// 03/04 Stencil 1-D: what the test calls.
#ifndef CHAPTERS_03_MEMORY_MODEL_04_STENCIL_1D_H_
#define CHAPTERS_03_MEMORY_MODEL_04_STENCIL_1D_H_

constexpr int kRadius = 4;  // elements on each side

struct Weights {
  float at[2 * kRadius + 1];
};

// y[i] = sum over k in [-kRadius, kRadius] of weight.at[k + kRadius] * x[i + k]; x is 0 outside.
//   d_x, d_y   n floats each in device memory, n from 0 to 2^30; 0 does nothing
void launch_stencil(const float* d_x, float* d_y, Weights weight, int n);

#endif  // CHAPTERS_03_MEMORY_MODEL_04_STENCIL_1D_H_

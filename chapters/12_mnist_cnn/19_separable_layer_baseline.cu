// Given to 12/19, to be timed against: a thread for each result of the layer and of dx, a block for
// each weight. Everybody loads all that the result needs.
#include "19_separable_layer.h"

namespace {

constexpr int kThreads = 128;

// The sizes of the layer.
struct Layer {
  int n, c, h, w, k;
  __device__ int pixels() const { return h * w; }
};

__device__ float z_at(const Layer& l, const float* x, const float* f, int image, int channel,
                      int row, int col) {
  float z = 0.0f;
  for (int j = 0; j < 9; ++j) {
    const int from_row = row + j / 3 - 1, from_col = col + j % 3 - 1;
    if (from_row < 0 || from_row >= l.h || from_col < 0 || from_col >= l.w) continue;
    const size_t plane = static_cast<size_t>(image) * l.c + channel;
    z += f[channel * 9 + j] * x[(plane * l.h + from_row) * l.w + from_col];
  }
  return z;
}

__device__ float dz_at(const Layer& l, const float* m, const float* dy, int image, int channel,
                       int row, int col) {
  float dz = 0.0f;
  for (int filter = 0; filter < l.k; ++filter) {
    const size_t plane = static_cast<size_t>(image) * l.k + filter;
    dz += m[filter * l.c + channel] * dy[(plane * l.h + row) * l.w + col];
  }
  return dz;
}

// The sum of what the threads of a block bring, in thread 0.
__device__ float block_sum(float value) {
  __shared__ float values[kThreads];  // [thread]
  values[threadIdx.x] = value;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // write against read: the other half has brought its values
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
  }
  return values[0];
}

__global__ void every_y(Layer l, const float* x, const float* f, const float* m, float* y) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= l.n * l.k * l.pixels()) return;
  const int col = i % l.w, row = i / l.w % l.h, filter = i / l.pixels() % l.k;
  const int image = i / l.pixels() / l.k;
  float sum = 0.0f;
  for (int channel = 0; channel < l.c; ++channel) {
    sum += m[filter * l.c + channel] * z_at(l, x, f, image, channel, row, col);
  }
  y[i] = sum;
}

__global__ void every_dx(Layer l, const float* f, const float* m, const float* dy, float* dx) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= l.n * l.c * l.pixels()) return;
  const int col = i % l.w, row = i / l.w % l.h, channel = i / l.pixels() % l.c;
  const int image = i / l.pixels() / l.c;
  float sum = 0.0f;
  for (int j = 0; j < 9; ++j) {
    const int to_row = row + 1 - j / 3, to_col = col + 1 - j % 3;
    if (to_row < 0 || to_row >= l.h || to_col < 0 || to_col >= l.w) continue;
    sum += f[channel * 9 + j] * dz_at(l, m, dy, image, channel, to_row, to_col);
  }
  dx[i] = sum;
}

__global__ void every_df(Layer l, const float* x, const float* m, const float* dy, float* df) {
  const int channel = blockIdx.x / 9, j = blockIdx.x % 9;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < l.n * l.pixels(); i += kThreads) {
    const int image = i / l.pixels(), row = i / l.w % l.h, col = i % l.w;
    const int from_row = row + j / 3 - 1, from_col = col + j % 3 - 1;
    if (from_row < 0 || from_row >= l.h || from_col < 0 || from_col >= l.w) continue;
    const size_t plane = static_cast<size_t>(image) * l.c + channel;
    sum += dz_at(l, m, dy, image, channel, row, col) *
           x[(plane * l.h + from_row) * l.w + from_col];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) df[blockIdx.x] = sum;
}

__global__ void every_dm(Layer l, const float* x, const float* f, const float* dy, float* dm) {
  const int channel = blockIdx.x % l.c, filter = blockIdx.x / l.c;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < l.n * l.pixels(); i += kThreads) {
    const int image = i / l.pixels(), row = i / l.w % l.h, col = i % l.w;
    const size_t plane = static_cast<size_t>(image) * l.k + filter;
    sum += dy[(plane * l.h + row) * l.w + col] * z_at(l, x, f, image, channel, row, col);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) dm[blockIdx.x] = sum;
}

int blocks_for(int threads) { return (threads + kThreads - 1) / kThreads; }

}  // namespace

void launch_separable_by_results(const float* d_x, const float* d_f, const float* d_m,
                                 const float* d_dy, float* d_y, float* d_dx, float* d_df,
                                 float* d_dm, int n, int c, int h, int w, int k) {
  const Layer layer = {n, c, h, w, k};
  every_y<<<blocks_for(n * k * h * w), kThreads>>>(layer, d_x, d_f, d_m, d_y);
  every_dx<<<blocks_for(n * c * h * w), kThreads>>>(layer, d_f, d_m, d_dy, d_dx);
  every_df<<<c * 9, kThreads>>>(layer, d_x, d_m, d_dy, d_df);
  every_dm<<<k * c, kThreads>>>(layer, d_x, d_f, d_dy, d_dm);
}

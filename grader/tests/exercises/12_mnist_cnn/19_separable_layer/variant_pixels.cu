// Accepted: a thread for each pixel, with 32 results in registers; z and dz lie in scratch memory on
// the way back, where dm is a product of matrices with tiles of 32 pixels, and a warp sums up each
// weight of a filter.
#include <algorithm>

#include "19_separable_layer.h"
#include "support.h"

namespace {

constexpr int kThreads = 128, kOwn = 32, kMostParts = 128, kTile = 32;

__device__ float filtered(const float* plane, const float* filter, int row, int col, int h, int w,
                          bool turned) {
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 9; ++j) {
    const int r = row + j / 3 - 1, c = col + j % 3 - 1;
    if (r >= 0 && r < h && c >= 0 && c < w) sum += filter[turned ? 8 - j : j] * plane[r * w + c];
  }
  return sum;
}

// One 3 x 3 filter per plane, a thread for each pixel.
__global__ void filter_planes(const float* in, const float* f, float* out, int count, int c, int h,
                              int w, bool turned) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= count) return;
  const int plane = i / (h * w);
  const float* of_plane = in + static_cast<size_t>(plane) * h * w;
  out[i] = filtered(of_plane, f + plane % c * 9, i / w % h, i % w, h, w, turned);
}

// The layer in one kernel.
__global__ void __launch_bounds__(kThreads)
    layer(const float* x, const float* f, const float* m, float* y, int n, int c, int h, int w,
          int k) {
  __shared__ float weights[kOwn];
  __shared__ float filter[9];
  const int i = blockIdx.x * kThreads + threadIdx.x, first = blockIdx.y * kOwn, area = h * w;
  const bool has_pixel = i < n * area;
  const size_t image = i / area, pixel = i % area;
  float sums[kOwn] = {};
  for (int channel = 0; channel < c; ++channel) {
    __syncthreads();
    if (threadIdx.x < kOwn) {
      const int to = first + threadIdx.x;
      weights[threadIdx.x] = to < k ? m[to * c + channel] : 0.0f;
    } else if (threadIdx.x < kOwn + 9) {
      filter[threadIdx.x - kOwn] = f[channel * 9 + threadIdx.x - kOwn];
    }
    __syncthreads();
    if (!has_pixel) continue;
    const float* plane = x + (image * c + channel) * area;
    const float z = filtered(plane, filter, pixel / w, pixel % w, h, w, false);
#pragma unroll
    for (int own = 0; own < kOwn; ++own) sums[own] += weights[own] * z;
  }
  if (!has_pixel) return;
#pragma unroll
  for (int own = 0; own < kOwn; ++own) {
    if (first + own < k) y[(image * k + first + own) * area + pixel] = sums[own];
  }
}

// dz = the transpose of m times dy, at every pixel.
__global__ void __launch_bounds__(kThreads)
    back_to_z(const float* m, const float* dy, float* dz, int n, int c, int area, int k) {
  __shared__ float weights[kOwn];
  const int i = blockIdx.x * kThreads + threadIdx.x, first = blockIdx.y * kOwn;
  const bool has_pixel = i < n * area;
  const size_t image = i / area, pixel = i % area;
  float sums[kOwn] = {};
  for (int filter = 0; filter < k; ++filter) {
    __syncthreads();
    if (threadIdx.x < kOwn) {
      const int to = first + threadIdx.x;
      weights[threadIdx.x] = to < c ? m[filter * c + to] : 0.0f;
    }
    __syncthreads();
    if (!has_pixel) continue;
    const float value = dy[(image * k + filter) * area + pixel];
#pragma unroll
    for (int own = 0; own < kOwn; ++own) sums[own] += weights[own] * value;
  }
  if (!has_pixel) return;
#pragma unroll
  for (int own = 0; own < kOwn; ++own) {
    if (first + own < c) dz[(image * c + first + own) * area + pixel] = sums[own];
  }
}

// Part (part, channel) of df.
__global__ void filter_parts(const float* x, const float* dz, float* of_parts, int n, int c, int h,
                             int w, int values) {
  __shared__ float of_warp[kThreads / 32][9];
  const int channel = blockIdx.y, parts = gridDim.x, area = h * w;
  const size_t begin = static_cast<size_t>(n) * blockIdx.x / parts;
  const size_t end = static_cast<size_t>(n) * (blockIdx.x + 1) / parts;
  float sums[9] = {};
  for (int i = threadIdx.x; i < static_cast<int>(end - begin) * area; i += kThreads) {
    const size_t plane = (begin + i / area) * c + channel;
    const int row = i / w % h, col = i % w;
    const float back = dz[plane * area + i % area];
#pragma unroll
    for (int j = 0; j < 9; ++j) {
      const int r = row + j / 3 - 1, q = col + j % 3 - 1;
      if (r >= 0 && r < h && q >= 0 && q < w) sums[j] += back * x[plane * area + r * w + q];
    }
  }
#pragma unroll
  for (int j = 0; j < 9; ++j) {
    const float sum = warp_sum(sums[j]);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32][j] = sum;
  }
  __syncthreads();
  if (threadIdx.x >= 9) return;
  float sum = 0.0f;
  for (int warp = 0; warp < kThreads / 32; ++warp) sum += of_warp[warp][threadIdx.x];
  of_parts[static_cast<size_t>(blockIdx.x) * values + channel * 9 + threadIdx.x] = sum;
}

// Part (part, 32 channels, 32 filters) of dm: 32 x 8 threads with four results each.
__global__ void mixture_parts(const float* z, const float* dy, float* of_parts, int n, int c,
                              int area, int k, int values) {
  __shared__ float of_z[kTile][kTile + 1], of_y[kTile][kTile + 1];  // [channel or filter][pixel]
  const int parts = gridDim.x;
  const size_t begin = static_cast<size_t>(n) * blockIdx.x / parts;
  const size_t end = static_cast<size_t>(n) * (blockIdx.x + 1) / parts;
  const int channel = blockIdx.y * kTile, filter = blockIdx.z * kTile;
  const int count = static_cast<int>(end - begin) * area;
  float sums[4] = {};
  for (int first = 0; first < count; first += kTile) {
    const int i = first + threadIdx.x;
    const size_t image = begin + i / area, pixel = i % area;
    for (int row = threadIdx.y; row < kTile; row += 8) {
      const bool has_z = i < count && channel + row < c, has_y = i < count && filter + row < k;
      of_z[row][threadIdx.x] = has_z ? z[(image * c + channel + row) * area + pixel] : 0.0f;
      of_y[row][threadIdx.x] = has_y ? dy[(image * k + filter + row) * area + pixel] : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kTile; ++p) {
      const float of_channel = of_z[threadIdx.x][p];
      for (int s = 0; s < 4; ++s) sums[s] += of_y[threadIdx.y + 8 * s][p] * of_channel;
    }
    __syncthreads();
  }
  if (channel + threadIdx.x >= c) return;
  float* const part = of_parts + static_cast<size_t>(blockIdx.x) * values + 9 * c;
  for (int s = 0; s < 4; ++s) {
    const int to = filter + threadIdx.y + 8 * s;
    if (to < k) part[to * c + channel + threadIdx.x] = sums[s];
  }
}

// A thread for each value.
__global__ void add_parts(const float* of_parts, float* df, float* dm, int parts, int of_filters,
                          int values) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= values) return;
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) sum += of_parts[static_cast<size_t>(part) * values + i];
  if (i < of_filters) df[i] = sum;
  if (i >= of_filters) dm[i - of_filters] = sum;
}

int over(int count, int size) { return (count + size - 1) / size; }
int parts_of(int n) { return std::max(1, std::min(n, kMostParts)); }

}  // namespace

void launch_separable_forward(const float* d_x, const float* d_f, const float* d_m, float* d_y,
                              int n, int c, int h, int w, int k) {
  const dim3 grid(over(n * h * w, kThreads), over(k, kOwn));
  if (n > 0) layer<<<grid, kThreads>>>(d_x, d_f, d_m, d_y, n, c, h, w, k);
}

size_t separable_scratch(int n, int c, int h, int w, int k) {
  return 2 * static_cast<size_t>(n) * c * h * w + static_cast<size_t>(parts_of(n)) * (9 + k) * c;
}

void launch_separable_backward(const float* d_x, const float* d_f, const float* d_m,
                               const float* d_dy, float* d_dx, float* d_df, float* d_dm,
                               float* d_scratch, int n, int c, int h, int w, int k) {
  const size_t size = static_cast<size_t>(n) * c * h * w;
  float *d_z = d_scratch, *d_dz = d_scratch + size, *d_parts = d_scratch + 2 * size;
  const int count = static_cast<int>(size), parts = parts_of(n), values = (9 + k) * c;
  if (n > 0) {
    filter_planes<<<over(count, kThreads), kThreads>>>(d_x, d_f, d_z, count, c, h, w, false);
    const dim3 grid(over(n * h * w, kThreads), over(c, kOwn));
    back_to_z<<<grid, kThreads>>>(d_m, d_dy, d_dz, n, c, h * w, k);
    filter_planes<<<over(count, kThreads), kThreads>>>(d_dz, d_f, d_dx, count, c, h, w, true);
  }
  filter_parts<<<dim3(parts, c), kThreads>>>(d_x, d_dz, d_parts, n, c, h, w, values);
  const dim3 grid(parts, over(c, kTile), over(k, kTile));
  mixture_parts<<<grid, dim3(kTile, 8)>>>(d_z, d_dy, d_parts, n, c, h * w, k, values);
  add_parts<<<over(values, kThreads), kThreads>>>(d_parts, d_df, d_dm, parts, 9 * c, values);
}

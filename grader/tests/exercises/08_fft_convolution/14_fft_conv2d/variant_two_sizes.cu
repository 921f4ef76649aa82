// Accepted: two heights and two widths of transform only, four columns per block, the filter in a
// launch of its own, and conjugates taken of the image's spectrum instead of the filter's.
#include "14_fft_conv2d.h"
#include "support.h"

constexpr int kSide = 4;  // columns of a block

struct Work {
  float2 *z, *f;  // (m, n) and (m, filter width)
  int m, n;
};

template <int M>
__global__ void __launch_bounds__(BlockFft<M>::kThreads* kSide)
    columns_of(const float* from, int rows, int cols, int stride, float2* to, int width) {
  using Fft = BlockFft<M, kSide>;
  extern __shared__ float2 memory[];
  const int c = threadIdx.x % kSide, t = threadIdx.x / kSide, col = blockIdx.x * kSide + c;
  float2 v[Fft::kEach];
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    const int upper = t + j * Fft::kThreads, lower = upper + M;
    const bool has_upper = col < cols && upper < rows, has_lower = col < cols && lower < rows;
    v[j].x = has_upper ? from[static_cast<size_t>(upper) * stride + col] : 0.0f;
    v[j].y = has_lower ? from[static_cast<size_t>(lower) * stride + col] : 0.0f;
  }
  Fft::forward(v, memory + c, t, 0.25f);
  if (col >= width) return;
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    to[static_cast<size_t>(t + j * Fft::kThreads) * width + col] = v[j];
  }
}

template <int N>
__global__ void __launch_bounds__(BlockFft<N>::kThreads, 4)
    multiply_row(Work work, int filter_cols, float scale) {
  using Fft = BlockFft<N>;
  __shared__ float2 memory[Fft::kTile];
  const int t = threadIdx.x;
  const size_t row = blockIdx.x;
  float2 v[Fft::kEach], w[Fft::kEach];
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    const int i = t + j * Fft::kThreads;
    v[j] = work.z[row * N + i];
    w[j] = i < filter_cols ? work.f[row * filter_cols + i] : make_float2(0.0f, 0.0f);
  }
  Fft::forward(v, memory, t);
  Fft::forward(w, memory, t);
  // conjugate(conjugate(v) w) = v conjugate(w); and an inverse transform is a forward one between
  // two conjugates, of which the first cancels the outer one here.
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) v[j] = scale * (conjugate(v[j]) * w[j]);
  Fft::forward(v, memory, t);
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    work.z[row * N + t + j * Fft::kThreads] = conjugate(v[j]);
  }
}

template <int M>
__global__ void __launch_bounds__(BlockFft<M>::kThreads* kSide)
    columns_back(Work work, float* out, int rows, int cols, int stride) {
  using Fft = BlockFft<M, kSide>;
  extern __shared__ float2 memory[];
  const int c = threadIdx.x % kSide, t = threadIdx.x / kSide, col = blockIdx.x * kSide + c;
  float2 v[Fft::kEach];
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    v[j] = work.z[static_cast<size_t>(t + j * Fft::kThreads) * work.n + col];
  }
  Fft::inverse(v, memory + c, t);
  if (col >= cols) return;
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    const int row = t + j * Fft::kThreads;
    const float2 both = v[j] * turn(0.25f * row / M);
    if (row < rows) out[static_cast<size_t>(row) * stride + col] = both.x;
    if (row + M < rows) out[static_cast<size_t>(row + M) * stride + col] = both.y;
  }
}

Work work_for(const Conv2d& shape, float2* d_workspace) {
  const int m = shape.height <= 512 ? 256 : 1024, n = shape.width <= 256 ? 256 : 2048;
  return {d_workspace, d_workspace + static_cast<size_t>(m) * n, m, n};
}

size_t fft_conv2d_workspace(const Conv2d& shape) {
  const Work work = work_for(shape, nullptr);
  return static_cast<size_t>(work.m) * (work.n + shape.filter_width);
}

template <int M>
void one_tile(const float* image, int height, int width, const float* d_filter, const Conv2d& shape,
              const Work& work, float* out) {
  constexpr int kThreads = BlockFft<M>::kThreads * kSide;
  const int bytes = BlockFft<M, kSide>::kTile * sizeof(float2);
  const int fh = shape.filter_height, fw = shape.filter_width;
  columns_of<M><<<(fw + kSide - 1) / kSide, kThreads, bytes>>>(d_filter, fh, fw, fw, work.f, fw);
  columns_of<M>
      <<<work.n / kSide, kThreads, bytes>>>(image, height, width, shape.width, work.z, work.n);
  const float scale = 1.0f / M / work.n;
  if (work.n == 256) {
    multiply_row<256><<<M, BlockFft<256>::kThreads>>>(work, fw, scale);
  } else {
    multiply_row<2048><<<M, BlockFft<2048>::kThreads>>>(work, fw, scale);
  }
  const int rows = height - fh + 1, cols = width - fw + 1;
  columns_back<M>
      <<<(cols + kSide - 1) / kSide, kThreads, bytes>>>(work, out, rows, cols, shape.out_width());
}

void launch_fft_conv2d(const float* d_image, const float* d_filter, float* d_out,
                       float2* d_workspace, const Conv2d& shape) {
  const Work work = work_for(shape, d_workspace);
  for (int y = 0; y < shape.out_height(); y += 2 * work.m - shape.filter_height + 1) {
    for (int x = 0; x < shape.out_width(); x += work.n - shape.filter_width + 1) {
      const int height = shape.height - y < 2 * work.m ? shape.height - y : 2 * work.m;
      const int width = shape.width - x < work.n ? shape.width - x : work.n;
      const float* image = d_image + static_cast<size_t>(y) * shape.width + x;
      float* out = d_out + static_cast<size_t>(y) * shape.out_width() + x;
      if (work.m == 256) {
        one_tile<256>(image, height, width, d_filter, shape, work, out);
      } else {
        one_tile<1024>(image, height, width, d_filter, shape, work, out);
      }
    }
  }
}

bool fft_overtakes(const Conv2d& shape) { return shape.filter_height * shape.filter_width > 81; }

// Given code of 08/14: what the three kernels hand on, and how threads share rows and columns.
#ifndef CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_SUPPORT_H_
#define CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_SUPPORT_H_

#include <algorithm>

#include "14_fft_conv2d.h"
#include "support.h"

constexpr int kColumns = 8;  // of a block: 64 bytes of a row of complex values

// rows x cols floats, part of an array whose rows are `stride` floats apart.
struct Plane {
  const float* data;
  int rows, cols, stride;
};

// What the kernels hand on: m rows of image_cols values of the image and of filter_cols values of
// the filter. The transforms have m x n points: what would be zeros around both is not stored.
struct Spectra {
  float2 *image, *filter;
  int image_cols, filter_cols, m, n;
  float scale;  // 1 / (m n)
};

// Blocks for so many columns.
inline int blocks_for(int cols) { return (cols + kColumns - 1) / kColumns; }

// A column of kRows points is a transform of BlockFft; a block has kColumns of them.
template <int kRows>
struct ColumnBlock {
  using Fft = BlockFft<kRows, kColumns>;
  static constexpr int kThreads = Fft::kThreads * kColumns, kBytes = Fft::kTile * sizeof(float2);
  static constexpr int kMinBlocks = 1024 / kThreads;  // per multiprocessor: limits the registers
};

// A block has one row of 2048 points, two of 1024, else four.
template <int kCols>
struct RowBlock {
  static constexpr int kThreads = 128, kFit = kThreads / BlockFft<kCols>::kThreads;
  static constexpr int kRows = kFit < 4 ? kFit : 4;
};

// A thread's points of a row of `cols` values: t, t + step, ... Zeros behind the last are not read.
template <int kEach>
__device__ __forceinline__ void load_row(float2 (&v)[kEach], const float2* row, int t, int step,
                                         int cols) {
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    v[j] = t + j * step < cols ? row[t + j * step] : make_float2(0.0f, 0.0f);
  }
}

// Back to the same places.
template <int kEach>
__device__ __forceinline__ void store_row(float2* row, const float2 (&v)[kEach], int t, int step,
                                          int cols) {
#pragma unroll
  for (int j = 0; j < kEach; ++j) {
    if (t + j * step < cols) row[t + j * step] = v[j];
  }
}

// The smaller of two transforms that holds the image, in both directions, else the larger.
inline Spectra spectra_for(const Conv2d& shape, float2* d_workspace) {
  int device = 0, bytes = 0;  // of shared memory: 68 KiB for 1024 rows, more than some cards have
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  const bool low = shape.height <= 512 || bytes < ColumnBlock<1024>::kBytes;
  const int m = low ? 256 : 1024, n = shape.width <= 256 ? 256 : 2048;
  const int image_cols = std::min(shape.width, n), filter_cols = shape.filter_width;
  float2* d_filter = d_workspace + static_cast<size_t>(m) * image_cols;
  return {d_workspace, d_filter, image_cols, filter_cols, m, n, 1.0f / m / n};
}

#endif  // CHAPTERS_08_FFT_CONVOLUTION_14_FFT_CONV2D_SUPPORT_H_

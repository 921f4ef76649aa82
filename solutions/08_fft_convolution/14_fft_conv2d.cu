// 08/14 Convolution through the spectrum, 2-D: three kernels, whatever the size of the filter.
//   image, filter, out  see the header; out(y, x) = sum of image(y + r, x + c) filter(r, c)
//   A real image needs a complex transform of half its rows only. With 2 m rows, row y and row y +
//   m become the real and the imaginary part of one row: they are folded. The columns are
//   transformed at the frequencies k - 1/4: turn(m (k - 1/4) / m) is turn(-1/4), the imaginary
//   unit, so that row y + m counts as it would m rows further down. What wraps round comes back
//   with another sign, and the valid part of out has nothing that wraps.
//   1. columns_forward  folds image and filter, transforms their columns
//   2. rows_multiply    transforms the rows of both, multiplies, transforms back
//   3. columns_inverse  transforms the columns back, unfolds, writes the valid part
//   TODOs  4
#include <algorithm>

#include "14_fft_conv2d.h"
#include "14_fft_conv2d_support.h"

// Thread (c, t) has the rows t, t + step, ... of column c of its block. The first blocks do the
// filter.
template <int kRows>
__global__ void __launch_bounds__(ColumnBlock<kRows>::kThreads, ColumnBlock<kRows>::kMinBlocks)
    columns_forward(Plane image, Plane filter, Spectra spectra, int filter_blocks) {
  //~ // TODO(1): The columns of filter and image are folded and transformed, at the frequencies k - 1/4
  //~ // (the last argument of BlockFft::forward), and lie in spectra, rows of them one after the
  //~ // other. The first filter_blocks blocks do the filter. Nothing is read outside of a plane and
  //~ // nothing written outside of its spectrum (about 24 lines).
  //~begin 1
  using Fft = BlockFft<kRows, kColumns>;
  extern __shared__ float2 tile[];  // [point][kColumns]
  constexpr int step = Fft::kThreads;
  const bool of_filter = blockIdx.x < filter_blocks;
  const Plane from = of_filter ? filter : image;
  const int c = threadIdx.x, t = threadIdx.y;
  const int col = (of_filter ? blockIdx.x : blockIdx.x - filter_blocks) * kColumns + c;
  float2 v[Fft::kEach];
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    const int row = t + j * step;
    const float* at = from.data + static_cast<size_t>(row) * from.stride + col;
    v[j] = make_float2(0.0f, 0.0f);
    if (col < from.cols && row < from.rows) v[j].x = *at;
    if (col < from.cols && row + kRows < from.rows) {
      v[j].y = at[static_cast<size_t>(kRows) * from.stride];
    }
  }
  Fft::forward(v, tile + c, t, 0.25f);
  float2* to = of_filter ? spectra.filter : spectra.image;
  const int cols = of_filter ? spectra.filter_cols : spectra.image_cols;
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    if (col < cols) to[static_cast<size_t>(t + j * step) * cols + col] = v[j];
  }
  //~end
}

// Thread (t, y) has the points t, t + step, ... of row y of its block.
template <int kCols>
__global__ void __launch_bounds__(RowBlock<kCols>::kThreads, 4) rows_multiply(Spectra spectra) {
  //~ // TODO(2): Each row of the image's spectrum is replaced by that row, transformed, multiplied so
  //~ // that the filter acts on the image as the header says, scaled, and transformed back. load_row
  //~ // and store_row know which values are there (about 16 lines).
  //~begin 2
  using Fft = BlockFft<kCols>;
  __shared__ float2 tiles[RowBlock<kCols>::kRows][Fft::kTile];
  constexpr int step = Fft::kThreads;
  const int t = threadIdx.x, image_cols = spectra.image_cols, filter_cols = spectra.filter_cols;
  const size_t row = static_cast<size_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  float2* tile = tiles[threadIdx.y];
  float2* image = spectra.image + row * image_cols;
  const float2* filter = spectra.filter + row * filter_cols;
  float2 v[Fft::kEach], w[Fft::kEach];
  load_row(w, filter, t, step, filter_cols);  // zeros around the filter and the image are not read
  load_row(v, image, t, step, image_cols);
  Fft::forward(w, tile, t);
  Fft::forward(v, tile, t);
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    v[j] = spectra.scale * (v[j] * conjugate(w[j]));
  }
  Fft::inverse(v, tile, t);
  store_row(image, v, t, step, image_cols);
  //~end
}

// Thread (c, t) as in columns_forward. Writes rows x cols elements of out.
template <int kRows>
__global__ void __launch_bounds__(ColumnBlock<kRows>::kThreads, ColumnBlock<kRows>::kMinBlocks)
    columns_inverse(Spectra spectra, float* out, int rows, int cols, int stride) {
  //~ // TODO(3): out has its rows x cols elements, from the columns transformed back. The shift by 1/4
  //~ // has turned row r by -r / (4 kRows) of a turn, which is turned back (about 20 lines).
  //~begin 3
  using Fft = BlockFft<kRows, kColumns>;
  extern __shared__ float2 tile[];  // [point][kColumns]
  constexpr int step = Fft::kThreads;
  const int c = threadIdx.x, t = threadIdx.y;
  const int col = blockIdx.x * kColumns + c;
  float2 v[Fft::kEach];
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    v[j] = make_float2(0.0f, 0.0f);
    if (col < cols) {
      v[j] = spectra.image[static_cast<size_t>(t + j * step) * spectra.image_cols + col];
    }
  }
  Fft::inverse(v, tile + c, t);
  const float2 of_thread = turn(0.25f * t / kRows);
#pragma unroll
  for (int j = 0; j < Fft::kEach; ++j) {
    const int row = t + j * step;
    float* at = out + static_cast<size_t>(row) * stride + col;
    // The shift by 1/4 has turned row r by -r / (4 kRows): turned back here.
    const float2 folded = v[j] * of_thread * turn(0.25f * j / Fft::kEach);
    if (row < rows && col < cols) *at = folded.x;
    if (row + kRows < rows && col < cols) at[static_cast<size_t>(kRows) * stride] = folded.y;
  }
  //~end
}

// One tile of the image, no larger than its transform.
template <int kRows, int kCols>
void convolve_tile(Plane image, Plane filter, Spectra spectra, float* d_out, int stride) {
  const int rows = image.rows - filter.rows + 1, cols = image.cols - filter.cols + 1;
  const int filter_blocks = blocks_for(spectra.filter_cols);
  const int blocks = filter_blocks + blocks_for(spectra.image_cols);
  constexpr int kBytes = ColumnBlock<kRows>::kBytes, kRowsPerBlock = RowBlock<kCols>::kRows;
  const dim3 columns(kColumns, BlockFft<kRows>::kThreads);
  const dim3 rows_of_block(BlockFft<kCols>::kThreads, kRowsPerBlock);
  const auto allowed = cudaFuncAttributeMaxDynamicSharedMemorySize;
  cudaFuncSetAttribute(columns_forward<kRows>, allowed, kBytes);
  cudaFuncSetAttribute(columns_inverse<kRows>, allowed, kBytes);
  columns_forward<kRows><<<blocks, columns, kBytes>>>(image, filter, spectra, filter_blocks);
  rows_multiply<kCols><<<kRows / kRowsPerBlock, rows_of_block>>>(spectra);
  columns_inverse<kRows><<<blocks_for(cols), columns, kBytes>>>(spectra, d_out, rows, cols, stride);
}

size_t fft_conv2d_workspace(const Conv2d& shape) {
  const Spectra spectra = spectra_for(shape, nullptr);
  return static_cast<size_t>(spectra.m) * (spectra.image_cols + spectra.filter_cols);
}

// An image larger than the transform is cut into tiles that overlap by the filter less one.
void launch_fft_conv2d(const float* d_image, const float* d_filter, float* d_out,
                       float2* d_workspace, const Conv2d& shape) {
  const Plane filter = {d_filter, shape.filter_height, shape.filter_width, shape.filter_width};
  Spectra spectra = spectra_for(shape, d_workspace);
  const int high = 2 * spectra.m, wide = spectra.n;
  const auto narrow = spectra.m == 256 ? convolve_tile<256, 256> : convolve_tile<1024, 256>;
  const auto broad = spectra.m == 256 ? convolve_tile<256, 2048> : convolve_tile<1024, 2048>;
  const auto convolve = wide == 256 ? narrow : broad;
  for (int y = 0; y < shape.out_height(); y += high - shape.filter_height + 1) {
    for (int x = 0; x < shape.out_width(); x += wide - shape.filter_width + 1) {
      const int rows = std::min(high, shape.height - y), cols = std::min(wide, shape.width - x);
      const float* d_corner = d_image + static_cast<size_t>(y) * shape.width + x;
      spectra.image_cols = cols;
      convolve({d_corner, rows, cols, shape.width}, filter, spectra,
               d_out + static_cast<size_t>(y) * shape.out_width() + x, shape.out_width());
    }
  }
}

bool fft_overtakes(const Conv2d& shape) {
  //~ // TODO(4): Where the two cross for a large image (1 line): measure both with events on your card,
  //~ // or take what the page of the chapter says of an H200.
  //~ return shape.filter_height > 0;
  //~begin 4
  return shape.filter_height * shape.filter_width > 70;  // on an H200: from 9 x 9 on
  //~end
}

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
  // TODO(1): The columns of filter and image are folded and transformed, at the frequencies k - 1/4
  // (the last argument of BlockFft::forward), and lie in spectra, rows of them one after the
  // other. The first filter_blocks blocks do the filter. Nothing is read outside of a plane and
  // nothing written outside of its spectrum (about 24 lines).
}

// Thread (t, y) has the points t, t + step, ... of row y of its block.
template <int kCols>
__global__ void __launch_bounds__(RowBlock<kCols>::kThreads, 4) rows_multiply(Spectra spectra) {
  // TODO(2): Each row of the image's spectrum is replaced by that row, transformed, multiplied so
  // that the filter acts on the image as the header says, scaled, and transformed back. load_row
  // and store_row know which values are there (about 16 lines).
}

// Thread (c, t) as in columns_forward. Writes rows x cols elements of out.
template <int kRows>
__global__ void __launch_bounds__(ColumnBlock<kRows>::kThreads, ColumnBlock<kRows>::kMinBlocks)
    columns_inverse(Spectra spectra, float* out, int rows, int cols, int stride) {
  // TODO(3): out has its rows x cols elements, from the columns transformed back. The shift by 1/4
  // has turned row r by -r / (4 kRows) of a turn, which is turned back (about 20 lines).
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
  // TODO(4): Where the two cross for a large image (1 line): measure both with events on your card,
  // or take what the page of the chapter says of an H200.
  return shape.filter_height > 0;
}

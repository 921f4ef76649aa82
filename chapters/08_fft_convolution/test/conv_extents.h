// One long thin layer for each extent of a convolution layer, which cost little in the simulator:
//
//   kit::for_each("x", kit::long_convs(),
//                 [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
#ifndef WARPLINGS_FFT_CONVOLUTION_TEST_CONV_EXTENTS_H_
#define WARPLINGS_FFT_CONVOLUTION_TEST_CONV_EXTENTS_H_

#include <sstream>
#include <vector>

#include "08_fft_convolution/test/convolution.h"
#include "kit/largest.h"

namespace kit {

// More images, channels, rows, columns and filters than 16 bits can count and than a grid has
// blocks in y and z, and a filter with more rows and columns than a warp has threads. For kernels
// of a thread per element.
inline const std::vector<ConvSizes>& long_convs() {
  static const std::vector<ConvSizes> all = {
      {65'537, 1, 1, 1, 1, 1, 1, 0}, {1, 65'537, 1, 1, 1, 1, 1, 0}, {1, 1, 65'537, 1, 1, 1, 1, 0},
      {1, 1, 1, 65'537, 1, 1, 1, 0}, {1, 1, 1, 1, 65'537, 1, 1, 0}, {1, 1, 66, 70, 1, 65, 67, 1}};
  return all;
}

// The same for kernels that make whole tiles, and would mostly multiply zeros: more than 16 bits
// can count with a sign, and many more channels and filters than a tile has. A kernel that is many
// times as slow as it could be still comes to its end.
inline const std::vector<ConvSizes>& long_tiled_convs() {
  static const std::vector<ConvSizes> all = {{33'001, 1, 1, 1, 1, 1, 1, 0},
                                             {1, 521, 1, 1, 2, 1, 1, 0},
                                             {1, 1, 33'001, 1, 1, 1, 1, 0},
                                             {1, 1, 1, 33'001, 1, 1, 1, 0},
                                             {1, 2, 1, 1, 2053, 1, 1, 0}};
  return all;
}

// The same for the layers of chapter 12, 3 x 3 with a border: images of at most 100 rows and
// columns, so many that 16 bits cannot count their pixels, and many channels and filters.
inline const std::vector<ConvSizes>& long_layers_of_small_images() {
  static const std::vector<ConvSizes> all = {{700, 1, 14, 14, 1, 3, 3, 1},
                                             {1, 521, 2, 2, 2, 3, 3, 1},
                                             {1, 1, 100, 2, 1, 3, 3, 1},
                                             {1, 1, 2, 100, 1, 3, 3, 1},
                                             {1, 2, 2, 2, 2053, 3, 3, 1}};
  return all;
}

// A layer with nearly 2^31 elements, of which some blocks are made.
inline void check_large_conv(const ConvLauncher& launch, const ConvSizes& s) {
  std::ostringstream title;
  title << "x = " << s;
  at_largest(title.str(), [&] {
    const auto x = large_integers(conv_input_size(s), "x");
    const auto f = large_integers(conv_filter_size(s), "f");
    const auto y = LargeArray<float>::output(conv_output_size(s), "y");
    kit::run([&] { launch(x.get(), f.get(), y.get(), s); });
    expect_at_ends(y, [&](size_t i) { return conv_element(x, f, s, i).value; });
  });
}

}  // namespace kit

#endif  // WARPLINGS_FFT_CONVOLUTION_TEST_CONV_EXTENTS_H_

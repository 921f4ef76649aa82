// What the tests of convolution layers share: y = x filtered by f, sizes as in conv_sizes.h.
//
//   void launch(const float* x, const float* f, float* y, const kit::ConvSizes& s) { ... }
//   TEST(Conv2dNchw, AddsUpTheChannels) {
//     kit::for_each("x", kit::awkward_convs(),
//                   [](const kit::ConvSizes& s) { kit::check_conv_exact(launch, s); });
//   }
#ifndef WARPLINGS_FFT_CONVOLUTION_TEST_CONVOLUTION_H_
#define WARPLINGS_FFT_CONVOLUTION_TEST_CONVOLUTION_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "kit/kit.h"
#include "kit/libraries/conv_sizes.h"
#include "kit/mistake.h"
#include "kit/speed/speed.h"

namespace kit {

// As in "x = 2 x 3 x 7 x 9, f = 5 x 3 x 3 x 3, pad 1", where a case is called x.
inline std::ostream& operator<<(std::ostream& out, const ConvSizes& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w << ", f = " << s.k << " x "
             << s.c << " x " << s.r << " x " << s.s << ", pad " << s.pad;
}

using ConvLauncher =
    std::function<void(const float* x, const float* f, float* y, const ConvSizes& sizes)>;

inline size_t conv_input_size(const ConvSizes& s) {
  return static_cast<size_t>(s.n) * s.c * s.h * s.w;
}
inline size_t conv_filter_size(const ConvSizes& s) {
  return static_cast<size_t>(s.k) * s.c * s.r * s.s;
}
inline size_t conv_output_size(const ConvSizes& s) {
  return static_cast<size_t>(s.n) * s.k * s.p() * s.q();
}

// Calls add(position in x, position in f) for every product that output `index` is the sum of.
template <class Add>
void for_each_product(const ConvSizes& s, size_t index, const Add& add) {
  const int col = static_cast<int>(index % s.q());
  const int row = static_cast<int>(index / s.q() % s.p());
  const int filter = static_cast<int>(index / s.q() / s.p() % s.k);
  const size_t image = index / s.q() / s.p() / s.k;
  for (int channel = 0; channel < s.c; ++channel) {
    for (int i = 0; i < s.r; ++i) {
      for (int j = 0; j < s.s; ++j) {
        const int from_row = row + i - s.pad, from_col = col + j - s.pad;
        if (from_row < 0 || from_row >= s.h || from_col < 0 || from_col >= s.w) continue;
        add(((image * s.c + channel) * s.h + from_row) * s.w + from_col,
            ((static_cast<size_t>(filter) * s.c + channel) * s.r + i) * s.s + j);
      }
    }
  }
}

// Reference in double. x and f are anything with at(i). `scale` of the result is the sum of the
// absolute products, which rounding errors are proportional to.
template <class Input, class Filters>
Expected conv_element(const Input& x, const Filters& f, const ConvSizes& s, size_t index) {
  double sum = 0, scale = 0;
  for_each_product(s, index, [&](size_t in_x, size_t in_f) {
    const double product = static_cast<double>(x.at(in_x)) * f.at(in_f);
    sum += product;
    scale += std::fabs(product);
  });
  return {sum, scale};
}

// Filters turned round: those of the convolution of mathematics, and of the way back.
inline std::vector<float> turned_filters(std::vector<float> f, const ConvSizes& s) {
  const long each = static_cast<long>(s.r) * s.s;
  for (auto at = f.begin(); at != f.end(); at += each) std::reverse(at, at + each);
  return f;
}

template <class Input, class Filters>
std::vector<double> conv_on_cpu(const Input& x, const Filters& f, const ConvSizes& s) {
  std::vector<double> y(conv_output_size(s));
  for (size_t i = 0; i < y.size(); ++i) y[i] = conv_element(x, f, s, i).value;
  return y;
}

namespace internal {

// The same where a step past the edge finds the pixel at the edge, not 0.
inline std::vector<double> conv_of_repeated_edges(const std::vector<float>& x,
                                                  const std::vector<float>& f, ConvSizes s) {
  std::vector<float> wide;
  for (size_t plane = 0; plane < static_cast<size_t>(s.n) * s.c; ++plane) {
    for (int row = -s.pad; row < s.h + s.pad; ++row) {
      for (int col = -s.pad; col < s.w + s.pad; ++col) {
        wide.push_back(
            x[(plane * s.h + std::clamp(row, 0, s.h - 1)) * s.w + std::clamp(col, 0, s.w - 1)]);
      }
    }
  }
  s.h += 2 * s.pad;
  s.w += 2 * s.pad;
  s.pad = 0;
  return conv_on_cpu(wide, f, s);
}

inline Run run_conv(const ConvLauncher& launch, const ConvSizes& s, const std::vector<float>& x,
                    const std::vector<float>& f, bool exact) {
  const auto placement = exact ? Placement::kAtEnd : Placement::kMiddle;
  const size_t size = conv_output_size(s);
  const auto d_x = DeviceBuffer<float>::input(x, "x", placement);
  const auto d_f = DeviceBuffer<float>::input(f, "f", placement);
  const auto d_y = DeviceBuffer<float>::output(size, "y", placement);
  const Run run = kit::run([&] { launch(d_x.get(), d_f.get(), d_y.get(), s); });
  std::vector<double> expected(size), scale(size);
  for (size_t i = 0; i < size; ++i) {
    const Expected element = conv_element(x, f, s, i);
    expected[i] = element.value;
    scale[i] = element.scale;
  }
  const Shape shape(s.n * s.k, s.p(), s.q());
  const Mistake turned(
      "they are what each filter gives when it is turned round (read from its end)",
      [&] { return conv_on_cpu(x, turned_filters(f, s), s); });
  const Mistake repeated(
      "they are what comes out where the edge of the image goes on in place of "
      "zeros",
      [&] { return conv_of_repeated_edges(x, f, s); });
  if (exact) {
    expect_near(d_y, expected, Tolerance::absolute(0), shape);
  } else if (expect_near(d_y, expected, Tolerance::units(16, scale), shape)) {
    const double limit = std::max(1e-6, 4 * std::sqrt(1.0 * s.c * s.r * s.s) / (1 << 24));
    expect_norm_near("y", d_y.download(), expected, limit);
  }
  return run;
}

}  // namespace internal

// Random values. Every element within 16 units of its absolute products, the whole within
// 4 sqrt(products) units.
inline Run check_conv(const ConvLauncher& launch, const ConvSizes& s) {
  const std::vector<float> x = random_floats(conv_input_size(s));
  return internal::run_conv(launch, s, x, random_floats(conv_filter_size(s)), false);
}

// Small integers: sums are exact in every order, so one wrong index shows. The arrays end where
// their allocations end.
inline Run check_conv_exact(const ConvLauncher& launch, const ConvSizes& s) {
  const std::vector<float> x = random_integer_floats(conv_input_size(s));
  return internal::run_conv(launch, s, x, random_integer_floats(conv_filter_size(s)), true);
}

// Odd integers of twelve bits times 1 or -1: exact in float up to 4096 products, in nothing
// narrower.
inline Run check_conv_precision(const ConvLauncher& launch, const ConvSizes& s) {
  const std::vector<float> x = precision_tripwire_floats(conv_input_size(s));
  std::vector<float> f = random_integer_floats(conv_filter_size(s), 0, 1);
  for (float& value : f) value = 2 * value - 1;
  return internal::run_conv(launch, s, x, f, true);
}

// Infinity in every pixel at a border of each plane, and weights of 1: it reaches the outputs over
// it and no others. Who takes a pixel of another place for one outside and multiplies it by 0 has
// NaN there.
inline Run check_conv_infinities(const ConvLauncher& launch, const ConvSizes& s) {
  std::vector<float> x(conv_input_size(s), 1.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    const int col = static_cast<int>(i % s.w), row = static_cast<int>(i / s.w % s.h);
    const bool is_border = row == 0 || row == s.h - 1 || col == 0 || col == s.w - 1;
    if (is_border) x[i] = std::numeric_limits<float>::infinity();
  }
  return internal::run_conv(launch, s, x, std::vector<float>(conv_filter_size(s), 1.0f), true);
}

// No two sizes alike, filters of one row, even filters, padding wider than a filter needs, an image
// of one pixel, and one layer without images.
inline const std::vector<ConvSizes>& awkward_convs() {
  static const std::vector<ConvSizes> all = {{2, 3, 7, 9, 5, 3, 3, 1},   {1, 1, 1, 1, 1, 1, 1, 0},
                                             {3, 2, 6, 5, 4, 1, 4, 0},   {1, 5, 4, 11, 3, 5, 2, 2},
                                             {2, 4, 1, 1, 7, 3, 3, 1},   {1, 2, 9, 33, 33, 2, 3, 3},
                                             {4, 1, 12, 10, 9, 5, 5, 0}, {0, 2, 5, 5, 3, 3, 3, 1}};
  return all;
}

// A speed test of a layer. The same arrays serve every launcher:
//   kit::ConvSpeed work(sizes, 66);
//   work.speed.launch(work.call(launch));
//   work.speed.against(work.cudnn_gemm(), kit::Bars(0.35, 0.60, 0.90));
//   work.speed.grade();
class ConvSpeed {
 public:
  // `slice` as in Speed::slice.
  ConvSpeed(const ConvSizes& sizes, double slice, Site site = Site::here())
      : speed(site),
        sizes_(sizes),
        x_(speed.input<float>(conv_input_size(sizes), "x")),
        f_(speed.input<float>(conv_filter_size(sizes), "f")),
        y_(speed.output<float>(conv_output_size(sizes), "y")) {
    const double outputs = static_cast<double>(conv_output_size(sizes));
    const double values = outputs + conv_input_size(sizes) + conv_filter_size(sizes);
    // No operations are named: Winograd's and Fourier's ways need fewer than the definition.
    speed.bytes(4.0 * values).slice(slice);
    speed.expect(
        y_, [this](size_t i) { return conv_element(x_, f_, sizes_, i); }, Tolerance::units(16));
  }
  ConvSpeed(const ConvSpeed&) = delete;
  ConvSpeed& operator=(const ConvSpeed&) = delete;

  // The call of a launcher on the arrays of this work.
  std::function<void()> call(const ConvLauncher& launch) const {
    return [this, launch] { launch(x_.get(), f_.get(), y_.get(), sizes_); };
  }
  Baseline cudnn_gemm() const {
    return library("cuDNN's precomputed implicit GEMM", cudnn(), call(cudnn_conv_gemm));
  }
  Baseline cudnn_best() const {
    return library("cuDNN's fastest algorithm", cudnn(), call(cudnn_conv_best));
  }

  Speed speed;

 private:
  ConvSizes sizes_;
  SpeedBuffer<float> x_, f_, y_;
};

}  // namespace kit

#endif  // WARPLINGS_FFT_CONVOLUTION_TEST_CONVOLUTION_H_

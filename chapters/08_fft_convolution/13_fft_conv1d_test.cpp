// Tests of 08/13 FFT convolution, 1-D.
#include "13_fft_conv1d.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

struct Sizes {
  int n, k;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << ", k = " << s.k;
}

// Reference in double: x has n values, w k values, the result n + k - 1.
std::vector<double> convolution_on_cpu(const std::vector<float>& x, const std::vector<float>& w) {
  std::vector<double> y(x.size() + w.size() - 1);
  for (size_t i = 0; i < x.size(); ++i) {
    for (size_t j = 0; j < w.size(); ++j) y[i + j] += static_cast<double>(x[i]) * w[j];
  }
  return y;
}

double length(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

kit::Run check(const std::vector<float>& x, const std::vector<float>& w) {
  const int n = static_cast<int>(x.size()), k = static_cast<int>(w.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_w = kit::DeviceBuffer<float>::input(w, "w", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(n + k - 1, "y", kit::Placement::kAtEnd);
  const auto d_spectrum = kit::DeviceBuffer<float2>::output(kSpectrum, "spectrum");
  const kit::Run run =
      kit::run([&] { launch_fft_conv1d(d_x.get(), d_w.get(), d_y.get(), d_spectrum.get(), n, k); });
  const std::vector<double> expected = convolution_on_cpu(x, w);
  // Errors of a transform spread over all of its values: they are proportional to the lengths of w
  // and of x, per value, not to the single result.
  const double scale = length(w) * length(x) / std::sqrt(static_cast<double>(n));
  const double log2_n = std::log2(kSpectrum);
  if (kit::expect_near(
          d_y, expected,
          kit::Tolerance::units(16 * log2_n, std::vector<double>(expected.size(), scale)))) {
    kit::expect_norm_near("y", d_y.download(), expected, 4 * log2_n * 0x1p-24);
  }
  return run;
}

kit::Run check(const Sizes& s) { return check(kit::random_floats(s.n), kit::random_floats(s.k)); }

}  // namespace

TEST(FftConv1d, AFilterOfOneValueScales) {
  RecordProperty("todo", 2);
  // Nothing comes round: a segment is 4096 values of x and of y.
  kit::for_each("n", std::vector<Sizes>{{4096, 1}, {33, 1}, {1, 1}},
                [](const Sizes& s) { check(s); });
}

TEST(FftConv1d, OneSegmentBeginsBeforeItsFirstResult) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Sizes>{{4000, 2}, {3000, 100}, {1000, 1024}, {5, 3}, {3, 5}},
                [](const Sizes& s) { check(s); });
}

TEST(FftConv1d, SegmentsJoinWithoutASeam) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<Sizes>{{6000, 100}, {8192, 1}, {9001, 33}, {12000, 1024}},
                [](const Sizes& s) { check(s); });
}

TEST(FftConv1d, TakesTheLongestFilter) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<Sizes>{{5000, kMostFilter}, {1, kMostFilter}, {2049, kMostFilter}},
                [](const Sizes& s) { check(s); });
}

TEST(FftConv1d, TakesTheLongestSignals) {
  RecordProperty("todo", 3);
  constexpr int kFilter = 33;
  kit::at_largest(1 << 30, [](int n) {
    const std::vector<float> w = kit::random_floats(kFilter);
    const auto x = kit::large_floats(n, "x");
    const auto d_w = kit::DeviceBuffer<float>::input(w, "w", kit::Placement::kAtEnd);
    const auto y = kit::LargeArray<float>::output(static_cast<size_t>(n) + kFilter - 1, "y");
    const auto d_spectrum = kit::DeviceBuffer<float2>::output(kSpectrum, "spectrum");
    kit::run([&] { launch_fft_conv1d(x.get(), d_w.get(), y.get(), d_spectrum.get(), n, kFilter); });
    const auto expected = [&](size_t i) {
      double sum = 0;
      for (size_t j = 0; j < w.size() && j <= i; ++j) {
        if (i - j < static_cast<size_t>(n)) sum += static_cast<double>(x.at(i - j)) * w[j];
      }
      return sum;
    };
    // As above; the values of x have the variance 1/3.
    kit::expect_at_ends(y, expected,
                        kit::Tolerance::absolute(16 * std::log2(kSpectrum) * 0x1p-24 * length(w)));
  });
}

TEST(FftConv1d, IsRightTwiceInARow) {
  RecordProperty("todo", 2);
  // The second call finds the first one's spectrum.
  check(Sizes{500, 64});
  check(Sizes{500, 3});
}

TEST(FftConv1d, TwoSegmentsShareATransform) {
  RecordProperty("todo", 2);
  constexpr Sizes kSizes = {11269, 1024};  // two blocks of 2 * 3073 values of y
  const kit::Counters c = check(kSizes).counters();
  kit::budget(
      "bytes loaded for each value of y",
      kit::ratio(static_cast<double>(c.global_load_bytes), kSizes.n + kSizes.k - 1),
      kit::at_most(13),
      "4096 values of x and of the spectrum, 4 and 8 bytes each, serve two segments of 3073 "
      "values of y",
      &kit::Counters::global_load_bytes);
}

TEST(FftConv1d, IsFasterThanTheSumForLongFilters) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 15, 1 << 26), k = 1024;
  kit::Speed speed;
  const auto x = speed.input<float>(n, "x");
  const auto w = speed.input<float>(k, "w");
  const auto y = speed.output<float>(n + k - 1, "y");
  const auto spectrum = speed.output<float>(2 * kSpectrum, "spectrum");
  speed.bytes(8.0 * n).slice(66);
  speed.launch([&] {
    launch_fft_conv1d(x.get(), w.get(), y.get(), reinterpret_cast<float2*>(spectrum.get()), n, k);
  });
  speed.expect(
      y,
      [&](size_t i) {
        double sum = 0;
        for (size_t j = 0; j < static_cast<size_t>(k) && j <= i; ++j) {
          if (i - j < static_cast<size_t>(n)) sum += static_cast<double>(x.at(i - j)) * w.at(j);
        }
        return kit::Expected(sum, std::sqrt(k) / 3);  // values in [-1, 1) have the variance 1/3
      },
      kit::Tolerance::units(16 * 12));
  speed.against(kit::stage("the sum itself, tiled",
                           [&] { launch_conv1d_direct(x.get(), w.get(), y.get(), n, k); }),
                kit::Bars(1, 2));
  speed.grade();
}

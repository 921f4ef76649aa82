// Tests of 06/14 three tools.
#include "14_three_tools.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

void check_windows(int n) {
  const std::vector<float> x = kit::random_floats(n);
  std::vector<double> expected, scale;  // two additions, in any order
  for (int i = 0; i + 2 < n; ++i) {
    expected.push_back(double{x[i]} + x[i + 1] + x[i + 2]);
    scale.push_back(std::fabs(x[i]) + std::fabs(x[i + 1]) + std::fabs(x[i + 2]));
  }
  // Right behind x lies memory that is not to be touched.
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_sums =
      kit::DeviceBuffer<float>::output(expected.size(), "sums", kit::Placement::kAtEnd);
  kit::run([&] { launch_window_sums(d_x.get(), d_sums.get(), n); });
  kit::expect_near(d_sums, expected, kit::Tolerance::units(2, scale));
}

// Values that occur once and several times, and keys below, between, at and above them. Some are
// less than 1 apart, and infinity is a value like others.
void check_places(int n, int m) {
  std::vector<float> sorted, keys;
  for (int i = 0; i < n; ++i) sorted.push_back(0.25f * static_cast<float>(2 * (i - i % 3)));
  for (int k = 0; k < m; ++k) keys.push_back(0.25f * static_cast<float>(k * 7 % (2 * n + 5) - 2));
  if (n > 6) sorted[0] = -INFINITY;
  if (n > 50) sorted[n - 1] = INFINITY;
  if (m > 20) keys[3] = INFINITY, keys[11] = -INFINITY;
  std::vector<int> expected;
  for (const float key : keys) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), key);
    expected.push_back(static_cast<int>(place - sorted.begin()));
  }
  const auto d_sorted = kit::DeviceBuffer<float>::input(sorted, "sorted");
  const auto d_keys = kit::DeviceBuffer<float>::input(keys, "keys");
  const auto d_places = kit::DeviceBuffer<int>::output(m, "places");
  kit::run([&] { launch_find_places(d_sorted.get(), n, d_keys.get(), d_places.get(), m); });
  kit::expect_equal(d_places, expected);
}

kit::Run check_rows(kit::Shape shape) {
  const std::vector<float> in = kit::random_floats(shape.size());
  const std::vector<float> factors = kit::random_floats(shape.rows);
  std::vector<float> expected = in;
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) expected[r * shape.cols + c] *= factors[r];
  }
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in");
  const auto d_factors = kit::DeviceBuffer<float>::input(factors, "factors");
  const auto d_out = kit::DeviceBuffer<float>::output(in.size(), "out");
  const kit::Run run = kit::run(
      [&] { launch_scale_rows(d_in.get(), d_factors.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_out, expected, shape);
  return run;
}

}  // namespace

TEST(ThreeTools, SumsTheWindowsThatThereAre) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1000, 3, 4, 128, 129, 130, 131, 2, 1, 0}, check_windows);
}

TEST(ThreeTools, FindsEveryPlace) {
  RecordProperty("todo", 2);
  check_places(1, 3);
  check_places(8, 64);
  check_places(0, 5);
  check_places(100, 333);
  check_places(5, 0);
}

TEST(ThreeTools, ScalesRowsOfAnyShape) {
  RecordProperty("todo", 3);
  kit::for_each("matrix",
                std::vector<kit::Shape>{{3, 5}, {1, 1}, {33, 65}, {1, 1000}, {1000, 1}, {128, 32}},
                [](kit::Shape shape) { check_rows(shape); });
}

TEST(ThreeTools, AFactorOfZeroIsMultiplied) {
  RecordProperty("todo", 3);
  const kit::Shape shape(9, 70);
  const std::vector<float> in = kit::special_floats(shape.size());
  std::vector<float> factors(shape.rows, 0.5f), expected = in;
  for (int r = 0; r < shape.rows; r += 2) factors[r] = 0;
  for (size_t i = 0; i < in.size(); ++i) expected[i] *= factors[i / shape.cols];
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in");
  const auto d_factors = kit::DeviceBuffer<float>::input(factors, "factors");
  const auto d_out = kit::DeviceBuffer<float>::output(in.size(), "out");
  kit::run(
      [&] { launch_scale_rows(d_in.get(), d_factors.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_nans("out", d_out.download(), expected);
}

TEST(ThreeTools, MovesWhatTheProductsNeed) {
  RecordProperty("todo", 3);
  const kit::Run run = check_rows({256, 128});
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "The 32 lanes of a warp must read and write 32 neighbours");
}

TEST(ThreeTools, AllThreeTakeLargeArrays) {
  RecordProperty("todo", 1);
  kit::at_largest("sums of 2^30 elements", [] {
    const int n = 1 << 30;
    const auto x = kit::large_integers(n, "x");
    const auto sums = kit::LargeArray<float>::output(n - 2, "sums");
    kit::run([&] { launch_window_sums(x.get(), sums.get(), n); });
    kit::expect_at_ends(sums, [&](size_t i) { return x.at(i) + x.at(i + 1) + x.at(i + 2); });
  });
  kit::at_largest("2^30 places", [] {
    const int n = 1 << 30;
    const auto sorted = kit::LargeArray<float>::input(n, "sorted", {1});
    const auto keys = kit::DeviceBuffer<float>::input({0, 2, 1}, "keys");
    const auto places = kit::LargeArray<int>::output(3, "places");
    kit::run([&] { launch_find_places(sorted.get(), n, keys.get(), places.get(), 3); });
    kit::expect_at_ends(places, [&](size_t i) { return i == 1 ? n : 0; });
  });
  kit::at_largest("2^30 keys", [] {
    const int m = 1 << 30;
    const auto sorted = kit::DeviceBuffer<float>::input({-5, 0, 1, 6}, "sorted");
    const auto keys = kit::large_integers(m, "keys");
    const auto places = kit::LargeArray<int>::output(m, "places");
    kit::run([&] { launch_find_places(sorted.get(), 4, keys.get(), places.get(), m); });
    kit::expect_at_ends(places, [&](size_t i) {
      const float key = keys.at(i);
      return key <= -5 ? 0 : key <= 0 ? 1 : key <= 1 ? 2 : key <= 6 ? 3 : 4;
    });
  });
  struct Sizes {
    int rows, cols;
  };
  // The second has more elements than 32 bits can count.
  for (const Sizes s : {Sizes{1 << 20, 2047}, Sizes{1 << 20, 4099}, Sizes{3, (1 << 28) - 5}}) {
    kit::at_largest(std::to_string(s.rows) + " rows of " + std::to_string(s.cols), [s] {
      const size_t rows = s.rows, cols = s.cols;
      const auto in = kit::large_integers(rows * cols, "in");
      const auto factors = kit::large_integers(rows, "factors");
      const auto out = kit::LargeArray<float>::output(rows * cols, "out");
      kit::run([&] { launch_scale_rows(in.get(), factors.get(), out.get(), s.rows, s.cols); });
      kit::expect_at_ends(out, [&](size_t i) { return factors.at(i / cols) * in.at(i); });
    });
  }
}

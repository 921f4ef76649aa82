// One long thin product for each extent of a matrix product, which cost little in the simulator:
//
//   TEST(MatmulNaive, CoversEveryExtent) {
//     RecordProperty("todo", 2);
//     kit::for_each("c", kit::long_matmuls(), [](const kit::MatmulSizes& s) {
//       kit::check_matmul_precision(launch_matmul_naive, s);
//     });
//   }
#ifndef WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_
#define WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_

#include <algorithm>
#include <limits>
#include <sstream>
#include <vector>

#include "07_tiled_matmul/test/matmul.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace kit {

// More rows, then more columns, than 16 bits can count and than a grid has blocks in y and z; sums
// of more products than the other tests have, so many that a launcher may cut them for a few tiles;
// and many rows of tiles, of more than one tile, whose number is no multiple of a group of 4 or 8.
// For kernels of a thread per element.
inline const std::vector<MatmulSizes>& long_matmuls() {
  static const std::vector<MatmulSizes> all = {
      {65'537, 1, 3}, {1, 65'537, 3}, {5, 6, 4099}, {1031, 70, 3}, {70, 1031, 3}};
  return all;
}

// The same for kernels that make whole tiles, and would mostly multiply zeros: the longest sums are
// those of no products. A kernel that is many times as slow as it could be still comes to its end.
inline const std::vector<MatmulSizes>& long_tiled_matmuls() {
  static const std::vector<MatmulSizes> all = {{65'537, 1, 0}, {1, 65'537, 0}, {1031, 130, 0},
                                               {130, 1031, 0}, {300, 70, 3},   {70, 300, 3},
                                               {5, 6, 4099}};
  return all;
}

// A product of nearly 2^31 elements, of which some blocks are made. T is the type of a and b.
template <class T, class Launch>
void check_large_matmul(const Launch& launch, const MatmulSizes& s) {
  std::ostringstream title;
  title << s;
  at_largest("c = " + title.str(), [&] {
    const size_t m = s.m, n = s.n, k = s.k;
    const std::vector<float> values = random_integer_floats(kPeriod);
    std::vector<T> elements(values.size());
    std::transform(values.begin(), values.end(), elements.begin(), [](float v) { return T(v); });
    const auto at = [&](size_t i) { return values[i % values.size()]; };
    const auto a = LargeArray<T>::input(m * k, "a", elements);
    const auto b = LargeArray<T>::input(k * n, "b", elements);
    const auto c = LargeArray<float>::output(m * n, "c");
    kit::run([&] { launch(a.get(), b.get(), c.get(), s.m, s.n, s.k); });
    expect_at_ends(c, [&](size_t e) {
      float sum = 0;
      for (size_t i = 0; i < k; ++i) sum += at(e / n * k + i) * at(i * n + e % n);
      return sum;
    });
  });
}

// The longest c in both directions.
template <class T, class Launch>
void check_largest_matmuls(const Launch& launch) {
  constexpr int kMost = 1 << 20;
  check_large_matmul<T>(launch, {kMost, 2047, 3});
  check_large_matmul<T>(launch, {2047, kMost, 3});
}

// And the longest a and b, for kernels of a thread per element.
template <class Launch>
void check_largest_factors(const Launch& launch) {
  constexpr int kMost = 1 << 20;
  check_large_matmul<float>(launch, {kMost, 5, 2047});
  check_large_matmul<float>(launch, {5, kMost, 2047});
}

// Infinity in the last column of a, in the last row of b, then in all of the one and of the other:
// the zeros past the edges of a tile must not meet it, neither in its own step along k nor because
// it was left in a tile from the step before. Zero times infinity is no number. T is the type of a
// and b.
template <class T, class Launch>
void check_infinities(const Launch& launch, int unit = 1) {
  const MatmulSizes s = {35, 40, unit == 1 ? 37 : 5 * unit};
  const float infinity = std::numeric_limits<float>::infinity();
  const auto check = [&](bool in_a, int first) {
    std::vector<T> a(static_cast<size_t>(s.m) * s.k, T(1.0f));
    std::vector<T> b(static_cast<size_t>(s.k) * s.n, T(1.0f));
    for (int i = first; i < s.k; ++i) {
      for (int row = 0; in_a && row < s.m; ++row) a[row * s.k + i] = T(infinity);
      for (int col = 0; !in_a && col < s.n; ++col) b[i * s.n + col] = T(infinity);
    }
    const auto d_a = DeviceBuffer<T>::input(a, "a"), d_b = DeviceBuffer<T>::input(b, "b");
    const auto d_c = DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c");
    kit::run([&] { launch(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); });
    expect_equal(d_c, std::vector<float>(d_c.size(), infinity), Shape(s.m, s.n));
  };
  Cases cases;
  cases.run("infinity in the last column of a", [&] { check(true, s.k - 1); });
  cases.run("infinity in the last row of b", [&] { check(false, s.k - 1); });
  cases.run("infinity in all of a", [&] { check(true, 0); });
  cases.run("infinity in all of b", [&] { check(false, 0); });
}

// An infinite element of b that meets a 0, and a NaN in a: whoever leaves out products with 0,
// which seem to change nothing, has a number where none is. All other elements are exact.
inline void check_special_factors(const MatmulLauncher& launch) {
  const MatmulSizes s = {35, 40, 37};
  std::vector<float> a(static_cast<size_t>(s.m) * s.k, 1.0f);
  std::vector<float> b(static_cast<size_t>(s.k) * s.n, 1.0f);
  for (int row = 2; row < s.m; row += 3) a[row * s.k + 18] = 0;
  b[18 * s.n + 4] = std::numeric_limits<float>::infinity();
  b[18 * s.n + 39] = -b[18 * s.n + 4];
  a[5 * s.k + 12] = std::numeric_limits<float>::quiet_NaN();
  const auto d_a = DeviceBuffer<float>::input(a, "a"), d_b = DeviceBuffer<float>::input(b, "b");
  const auto d_c = DeviceBuffer<float>::output(static_cast<size_t>(s.m) * s.n, "c");
  kit::run([&] { launch(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); });
  std::vector<double> c(d_c.size());
  for (size_t e = 0; e < c.size(); ++e) {
    for (int i = 0; i < s.k; ++i) c[e] += double{a[e / s.n * s.k + i]} * b[i * s.n + e % s.n];
  }
  expect_near_or_nan(d_c, c, Tolerance::absolute(0), Shape(s.m, s.n),
                     "Zero times infinity is NaN (not a number), and so is a sum with one: no "
                     "product may be left out because a factor is 0 or no number.");
}

// Sizes that suit accesses of 16 bytes, and arrays of which one begins a float behind a multiple of
// that: nothing is said of where arrays begin.
inline void check_any_begin(const MatmulLauncher& launch) {
  const MatmulSizes s = {128, 128, 32};
  const size_t sizes[] = {size_t{128} * 32, size_t{32} * 128, size_t{128} * 128};
  const char* const names[] = {"a", "b", "c"};
  Cases cases;
  for (int shifted = 0; shifted < 3; ++shifted) {
    cases.run(std::string(names[shifted]) + " begins at an address that is no multiple of 16", [&] {
      const auto first = [&](int array) { return array == shifted ? 1 : 0; };
      const std::vector<float> a = random_integer_floats(sizes[0] + 1);
      const std::vector<float> b = random_integer_floats(sizes[1] + 1);
      const auto d_a = DeviceBuffer<float>::input(a, "a"), d_b = DeviceBuffer<float>::input(b, "b");
      const auto d_c = DeviceBuffer<float>::inout(std::vector<float>(sizes[2] + 1, 7.0f), "c");
      kit::run([&] {
        launch(d_a.get() + first(0), d_b.get() + first(1), d_c.get() + first(2), s.m, s.n, s.k);
      });
      const auto part = [&](const std::vector<float>& all, int array) {
        return std::vector<float>(all.begin() + first(array),
                                  all.begin() + first(array) + sizes[array]);
      };
      expect_near("c", part(d_c.download(), 2), matmul_on_cpu(part(a, 0), part(b, 1), s).c,
                  Tolerance::absolute(0), Shape(s.m, s.n));
    });
  }
}

}  // namespace kit

#endif  // WARPLINGS_TILED_MATMUL_TEST_MATMUL_EXTENTS_H_

// Tests of 06/10 profile matmul.
#include "10_profile_matmul.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

struct Sizes {
  int m, n, k;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.m << " x " << s.n << ", k = " << s.k;
}

// Reference in double: a is m x k, b is n x k; the product and what its rounding is proportional
// to.
struct Product {
  std::vector<double> c, scale;  // m x n
};
Product multiply_on_cpu(const std::vector<float>& a, const std::vector<float>& b, const Sizes& s) {
  Product product;
  for (int row = 0; row < s.m; ++row) {
    for (int col = 0; col < s.n; ++col) {
      double sum = 0, magnitude = 0;
      for (int i = 0; i < s.k; ++i) {
        const double term = static_cast<double>(a[row * s.k + i]) * b[col * s.k + i];
        sum += term;
        magnitude += std::fabs(term);
      }
      product.c.push_back(sum);
      product.scale.push_back(magnitude);
    }
  }
  return product;
}

using Launcher = void (*)(const float*, const float*, float*, int, int, int);

kit::Run check(const Sizes& s, const std::vector<float>& a, const std::vector<float>& b,
               const kit::Tolerance& tolerance, const std::vector<double>& expected,
               Launcher launch = launch_matmul_nt) {
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(s.m * s.n, "c");
  const kit::Run run = kit::run([&] { launch(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); });
  kit::expect_near(d_c, expected, tolerance, kit::Shape(s.m, s.n));
  return run;
}

kit::Run check(const Sizes& s) {
  const std::vector<float> a = kit::random_floats(s.m * s.k), b = kit::random_floats(s.n * s.k);
  const Product product = multiply_on_cpu(a, b, s);
  return check(s, a, b, kit::Tolerance::units(16, product.scale), product.c);
}

// Small integers: every order of sums is exact, so one wrong index shows.
void check_exact(const Sizes& s) {
  const std::vector<float> a = kit::random_integer_floats(s.m * s.k);
  const std::vector<float> b = kit::random_integer_floats(s.n * s.k);
  check(s, a, b, kit::Tolerance::absolute(0), multiply_on_cpu(a, b, s).c);
}

}  // namespace

TEST(ProfileMatmul, TheHotLineIsTheOneThatMovesTheMostSectors) {
  RecordProperty("todo", 1);
  const Sizes s{32, 64, 64};
  const std::vector<float> a = kit::random_floats(s.m * s.k), b = kit::random_floats(s.n * s.k);
  const Product product = multiply_on_cpu(a, b, s);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(s.m * s.n, "c");
  int hottest = 0;
  uint64_t most = 0, all = 0;
  kit::run([&] {
    launch_matmul_nt_slow(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k);
    cudaDeviceSynchronize();
    for (int i = 0; i < wsim_line_count(); ++i) {
      wsim_line_counters line;
      if (wsim_get_line(i, &line) != 0) break;
      all += line.counters.global_load_sectors;
      if (line.counters.global_load_sectors <= most) continue;
      most = line.counters.global_load_sectors;
      hottest = line.line;
    }
  });
  if (kit::simulated() && hot_line() != hottest) {
    kit::fail("You named line " + std::to_string(hot_line()) +
              " of 10_profile_matmul_baseline.cu. Another line moves " +
              std::to_string(100 * most / all) +
              " % of all sectors: ./grade profile 10_profile shows sectors per request, line by "
              "line.");
  }
}

TEST(ProfileMatmul, TilesHoldTheRightElements) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<Sizes>{{32, 32, 32}, {64, 32, 96}, {32, 96, 64}}, check_exact);
}

TEST(ProfileMatmul, AddsUpTheWholeLength) {
  RecordProperty("todo", 2);
  kit::for_each("c", std::vector<Sizes>{{32, 32, 32}, {33, 65, 100}},
                [](const Sizes& s) { check(s); });
}

TEST(ProfileMatmul, CoversSizesThatAreNotTileMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("c",
                std::vector<Sizes>{{1, 1, 1}, {31, 33, 32}, {33, 31, 7}, {5, 70, 33}, {40, 3, 65}},
                check_exact);
}

// What lies past the end of a row is the next row: zero times infinity is no zero.
TEST(ProfileMatmul, BothTilesEndWhereARowEnds) {
  RecordProperty("todo", 2);
  const Sizes s = {40, 37, 33};
  // A row that goes on may do so with its own last element, or with the first of the next one.
  const std::vector<std::pair<bool, int>> places = {
      {true, 0}, {false, 0}, {true, s.k - 1}, {false, s.k - 1}};
  for (const auto& [in_a, at] : places) {
    std::vector<float> a = kit::random_floats(s.m * s.k, 0.5f, 1.0f);
    std::vector<float> b = kit::random_floats(s.n * s.k, 0.5f, 1.0f);
    std::vector<float>& x = in_a ? a : b;
    for (size_t i = at; i < x.size(); i += s.k) x[i] = INFINITY;
    const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
    const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
    const auto d_c = kit::DeviceBuffer<float>::output(s.m * s.n, "c");
    kit::run([&] { launch_matmul_nt(d_a.get(), d_b.get(), d_c.get(), s.m, s.n, s.k); });
    kit::expect_nans("c", d_c.download(), multiply_on_cpu(a, b, s).c,
                     "Behind the end of a row both tiles hold 0: where one of them goes on, zero "
                     "times infinity is NaN (not a number).");
  }
}

TEST(ProfileMatmul, KeepsFullPrecision) {
  RecordProperty("todo", 2);
  const Sizes s{32, 33, 256};
  const std::vector<float> a = kit::precision_tripwire_floats(s.m * s.k);
  std::vector<float> b = kit::random_integer_floats(s.n * s.k, 0, 1);
  for (float& value : b) value = 2 * value - 1;  // -1 or 1: every sum is exact in float
  check(s, a, b, kit::Tolerance::absolute(0), multiply_on_cpu(a, b, s).c);
}

TEST(ProfileMatmul, ReadsWholeSectors) {
  RecordProperty("todo", 2);
  const kit::Run run = check({64, 64, 64});
  const kit::Counters& c = run.counters();
  kit::budget("global load sectors per request",
              kit::ratio(c.global_load_sectors, c.global_load_requests), kit::at_most(5),
              "32 neighbouring floats lie in 4 sectors; lanes that are a row apart need 32",
              &kit::Counters::global_load_sectors);
}

TEST(ProfileMatmul, MakesTheLargestProducts) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t m, size_t n, size_t k) {
    const auto a = kit::large_integers(m * k, "a"), b = kit::large_integers(n * k, "b");
    const auto c = kit::LargeArray<float>::output(m * n, "c");
    kit::run([&] { launch_matmul_nt(a.get(), b.get(), c.get(), m, n, k); });
    kit::expect_at_ends(c, [&](size_t e) {
      float sum = 0;
      for (size_t i = 0; i < k; ++i) sum += a.at(e / n * k + i) * b.at(e % n * k + i);
      return sum;
    });
  };
  kit::at_largest("c = 2^20 x 2047, k = 3", [&] { check_large(1 << 20, 2047, 3); });
  kit::at_largest("c = 2047 x 2^20, k = 3", [&] { check_large(2047, 1 << 20, 3); });
}

TEST(ProfileMatmul, IsFast) {
  RecordProperty("todo", 2);
  const Sizes s = kit::simulated() ? Sizes{256, 128, 64} : Sizes{2048, 1024, 1024};
  kit::Speed speed;
  const auto a = speed.input<float>(s.m * s.k, "a", kit::Values::integers(-8, 8));
  const auto b = speed.input<float>(s.n * s.k, "b", kit::Values::integers(-8, 8));
  const auto c = speed.output<float>(s.m * s.n, "c");
  const double rows = 1.0 * s.m + s.n;
  speed.bytes(4.0 * (rows * s.k + 1.0 * s.m * s.n)).flops(2.0 * s.m * s.n * s.k).slice(33);
  speed.launch([&] { launch_matmul_nt(a.get(), b.get(), c.get(), s.m, s.n, s.k); });
  speed.expect(
      c,
      [&](size_t at) {
        const size_t row = at / s.n, col = at % s.n;
        double sum = 0;
        for (int i = 0; i < s.k; ++i) sum += 1.0 * a.at(row * s.k + i) * b.at(col * s.k + i);
        return sum;
      },
      kit::Tolerance::absolute(0));
  const auto slow = [&] { launch_matmul_nt_slow(a.get(), b.get(), c.get(), s.m, s.n, s.k); };
  // Measured on an H200 (2026-11-21): 18 to 19 times for n = 1024 to 4096.
  speed.against(kit::stage("the slow kernel", slow), kit::Bars(2.0, 4.0));
  speed.grade();
}

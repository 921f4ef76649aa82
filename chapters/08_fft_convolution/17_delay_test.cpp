// Tests of 08/17 delay.
#include "17_delay.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

struct Sizes {
  int n, batch;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << "n = " << s.n << ", batch = " << s.batch;
}

constexpr double kAccuracy = 1.0 / (1 << 18);  // of |x| |y|

struct Delays {
  std::vector<int> delays;
  std::vector<double> peaks, scales;  // scales: |x| |y|
  std::vector<double> sums;           // c(d) of every pair
};
Delays delays_on_cpu(const std::vector<float>& x, const std::vector<float>& y, const Sizes& s) {
  Delays result;
  for (int b = 0; b < s.batch; ++b) {
    const float *of_x = x.data() + static_cast<size_t>(b) * s.n,
                *of_y = y.data() + static_cast<size_t>(b) * s.n;
    double of_squares_x = 0, of_squares_y = 0, greatest = 0;
    int delay = -1;
    for (int d = 0; d < s.n; ++d) {
      double sum = 0;
      for (int i = 0; i < s.n; ++i) {
        sum += static_cast<double>(of_x[i]) * of_y[(i + d) % s.n];
      }
      result.sums.push_back(sum);
      of_squares_x += static_cast<double>(of_x[d]) * of_x[d];
      of_squares_y += static_cast<double>(of_y[d]) * of_y[d];
      if (delay >= 0 && sum <= greatest) continue;
      greatest = sum;
      delay = d;
    }
    result.delays.push_back(delay);
    result.peaks.push_back(greatest);
    result.scales.push_back(std::sqrt(of_squares_x * of_squares_y));
  }
  return result;
}

kit::Run check(const std::vector<float>& x, const std::vector<float>& y, const Sizes& s,
               kit::Placement placement = kit::Placement::kMiddle) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::input(y, "y", placement);
  const auto d_delay = kit::DeviceBuffer<int>::output(s.batch, "delay", placement);
  const auto d_peak = kit::DeviceBuffer<float>::output(s.batch, "peak", placement);
  const kit::Run run = kit::run(
      [&] { launch_delay(d_x.get(), d_y.get(), d_delay.get(), d_peak.get(), s.n, s.batch); });
  const Delays expected = delays_on_cpu(x, y, s);
  std::vector<uint8_t> written;
  std::vector<int> delays = d_delay.download(&written);
  for (int b = 0; b < s.batch; ++b) {
    if (delays[b] < 0 || delays[b] >= s.n || (kit::simulated() && written[b] == 0)) continue;
    const double sum = expected.sums[static_cast<size_t>(b) * s.n + delays[b]];
    if (sum >= expected.peaks[b] - kAccuracy * expected.scales[b]) delays[b] = expected.delays[b];
  }
  kit::expect_equal("delay", delays, expected.delays);
  kit::expect_near(d_peak, expected.peaks,
                   kit::Tolerance::units(kAccuracy * (1 << 24), expected.scales));
  return run;
}

kit::Run check_random(const Sizes& s) {
  const size_t size = static_cast<size_t>(s.n) * s.batch;
  return check(kit::random_floats(size), kit::random_floats(size), s);
}

// y is x, later by `shift` values, with a little noise.
void check_shifted(const Sizes& s, int shift) {
  const std::vector<float> x = kit::random_floats(static_cast<size_t>(s.n) * s.batch);
  std::vector<float> y = kit::random_floats(x.size(), -0.1f, 0.1f);
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t first = i / s.n * s.n;
    y[first + (i - first + shift) % s.n] += x[i];
  }
  check(x, y, s, kit::Placement::kAtEnd);
}

}  // namespace

TEST(Delay, FindsTheDelayOfAGauge) {
  RecordProperty("todo", 1);
  // The tide of chapter 08, at a second place three readings later.
  const std::vector<float> x = {4, 7, 4, 1, 2, 5, 2, -1}, y = {5, 2, -1, 4, 7, 4, 1, 2};
  check(x, y, {8, 1});
  check(y, x, {8, 1});
  check({1, 3}, {2, -1}, {2, 1});
}

TEST(Delay, TransformsEverySize) {
  RecordProperty("todo", 1);
  kit::for_each("sizes",
                std::vector<Sizes>{{2, 3}, {4, 5}, {16, 2}, {64, 3}, {256, 2}, {512, 1}, {1024, 2}},
                check_random);
}

TEST(Delay, TransformsTheLongest) {
  RecordProperty("todo", 1);
  kit::for_each("sizes", std::vector<Sizes>{{2048, 1}, {4096, 1}}, check_random);
}

TEST(Delay, ShiftsComeBack) {
  RecordProperty("todo", 1);
  kit::for_each("shift", std::vector<int>{0, 1, 100, 255}, [](int shift) {
    check_shifted({256, 3}, shift);
  });
  check_shifted({32, 33}, 31);
}

TEST(Delay, SumsMayAllBeNegative) {
  RecordProperty("todo", 1);
  const Sizes s{128, 2};
  const size_t size = static_cast<size_t>(s.n) * s.batch;
  check(kit::random_floats(size, 0.5f, 1.0f), kit::random_floats(size, -2.0f, -1.0f), s);
}

TEST(Delay, OneIsFarLouderThanTheOther) {
  RecordProperty("todo", 1);
  const Sizes s{512, 2};
  const size_t size = static_cast<size_t>(s.n) * s.batch;
  check(kit::random_floats(size, -30.0f, 30.0f), kit::random_floats(size, -1.0f, 1.0f), s);
}

// As loud as in other units: in a transform that both share, the quiet one must not drown.
TEST(Delay, TheSignalsMayHaveDifferentUnits) {
  RecordProperty("todo", 1);
  const Sizes s{256, 2};
  const size_t size = static_cast<size_t>(s.n) * s.batch;
  kit::for_each("values of x up to", std::vector<float>{1e6f, 1e-6f, 1e12f}, [&](float most) {
    const float of_y = most > 1e6f ? 1 / most : 1;
    check(kit::random_floats(size, -most, most), kit::random_floats(size, -of_y, of_y), s);
  });
  const std::vector<float> silence(size);
  check(silence, kit::random_floats(size), s);
  check(kit::random_floats(size), silence, s);
}

TEST(Delay, TakesManyPairs) {
  RecordProperty("todo", 1);
  check_random({2, 3000});
}

TEST(Delay, TakesAsManyPairsAsAnIntCounts) {
  RecordProperty("todo", 1);
  // Each signal has one value that is not 0; that of y comes `later` values later.
  const auto check_large = [](int n, int batch) {
    const auto later = [n](size_t b) { return static_cast<int>(b % 105 * 37 % n); };
    std::vector<float> of_x(kit::kPeriod), of_y(kit::kPeriod);
    for (size_t b = 0; b < kit::kPeriod / n; ++b) {
      of_x[b * n] = 2;
      of_y[b * n + later(b)] = 3;
    }
    const size_t size = static_cast<size_t>(n) * batch;
    const auto x = kit::LargeArray<float>::input(size, "x", of_x);
    const auto y = kit::LargeArray<float>::input(size, "y", of_y);
    const auto delay = kit::LargeArray<int>::output(batch, "delay");
    const auto peak = kit::LargeArray<float>::output(batch, "peak");
    kit::run([&] { launch_delay(x.get(), y.get(), delay.get(), peak.get(), n, batch); });
    kit::expect_at_ends(delay, later);
    kit::expect_at_ends(
        peak, [](size_t) { return 6; }, kit::Tolerance::absolute(6 * kAccuracy));
  };
  kit::at_largest("2^30 - 1 pairs of 2 values", [&] { check_large(2, (1 << 30) - 1); });
  kit::at_largest("2^19 - 1 pairs of 4096 values", [&] { check_large(4096, (1 << 19) - 1); });
}

TEST(Delay, AcceptsNoPairs) {
  RecordProperty("todo", 1);
  check({}, {}, {64, 0});
  check_random({64, 1});  // the same launcher must work when there is a pair
}

TEST(Delay, ComputesLessThanTheSums) {
  RecordProperty("todo", 1);
  const Sizes s{1024, 4};
  const kit::Run run = check_random(s);
  const kit::Counters& c = run.counters();
  const double values = static_cast<double>(s.n) * s.batch;
  kit::budget("bytes loaded for each i of a pair",
              kit::ratio(static_cast<double>(c.global_load_bytes), values), kit::at_most(8.5),
              "x[i] and y[i], once: everything in between stays on the multiprocessor",
              &kit::Counters::global_load_bytes);
  kit::budget("bytes stored for each pair",
              kit::ratio(static_cast<double>(c.global_store_bytes), s.batch), kit::at_most(16),
              "A delay and a peak", &kit::Counters::global_store_bytes);
  kit::budget("multiply-adds for each i of a pair",
              kit::ratio(static_cast<double>(c.fp32_fma), values), kit::at_most(256),
              "The sums take 1024; by transforms it is a number that grows with log n",
              &kit::Counters::fp32_fma);
}

TEST(Delay, IsFast) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(512, 1024), batch = kit::work_scale(64, 1 << 15);
  const size_t size = static_cast<size_t>(n) * batch;
  kit::Speed speed;
  const auto x = speed.input<float>(size, "x");
  const auto y = speed.input<float>(size, "y");
  const auto delay = speed.output<int>(batch, "delay");
  const auto peak = speed.output<float>(batch, "peak");
  speed.bytes(8.0 * size + 8.0 * batch).slice(66);
  speed.launch([&] { launch_delay(x.get(), y.get(), delay.get(), peak.get(), n, batch); });
  speed.expect(
      peak,
      [&](size_t b) {
        std::vector<double> of_x(n), of_y(2 * n);  // y twice, so that i + d needs no remainder
        double squares_x = 0, squares_y = 0, greatest = -INFINITY;
        for (int i = 0; i < n; ++i) {
          of_x[i] = x.at(b * n + i);
          of_y[i] = of_y[n + i] = y.at(b * n + i);
          squares_x += of_x[i] * of_x[i];
          squares_y += of_y[i] * of_y[i];
        }
        for (int d = 0; d < n; ++d) {
          double sum = 0;
          for (int i = 0; i < n; ++i) sum += of_x[i] * of_y[i + d];
          greatest = std::max(greatest, sum);
        }
        return kit::Expected(greatest, std::sqrt(squares_x * squares_y));
      },
      kit::Tolerance::units(kAccuracy * (1 << 24)));
  speed.against(
      kit::stage(
          "the sums themselves",
          [&] { launch_delay_by_sums(x.get(), y.get(), delay.get(), peak.get(), n, batch); }),
      kit::Bars(2));
  speed.grade();
}

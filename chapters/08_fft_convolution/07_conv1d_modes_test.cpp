// Tests of 08/07 convolution modes.
#include "07_conv1d_modes.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/mistake.h"
#include "kit/special_values.h"

namespace {

// Reference in double. x: n values, w: k values. Each pair of them adds one product to the full
// result; a mode is a cut of it. `scale` is the same with absolute values.
struct Convolved {
  std::vector<double> y, scale;
};
Convolved convolve_on_cpu(const std::vector<float>& x, const std::vector<float>& w, ConvMode mode) {
  const size_t n = x.size(), k = w.size();
  std::vector<double> full(n + k - 1), scale(n + k - 1);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < k; ++j) {
      const double product = static_cast<double>(x[i]) * w[j];
      full[i + j] += product;
      scale[i + j] += std::fabs(product);
    }
  }
  size_t begin = 0, end = n + k - 1;
  if (mode == ConvMode::kSame) begin = (k - 1) / 2, end = begin + n;
  if (mode == ConvMode::kValid) begin = k - 1, end = std::max(n, begin);
  return {{full.begin() + begin, full.begin() + end}, {scale.begin() + begin, scale.begin() + end}};
}

// A correlation is a convolution with the filter turned round.
Convolved correlate_on_cpu(const std::vector<float>& x, std::vector<float> w, ConvMode mode) {
  std::reverse(w.begin(), w.end());
  return convolve_on_cpu(x, w, mode);
}

enum class Kind { kConvolution, kCorrelation };

constexpr char kTurned[] =
    "they are what comes out when the filter is turned round (a convolution for a correlation, or "
    "the other way round)";

struct Sizes {
  int n, k;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << ", k = " << s.k;
}

// Signals and filters around a block; filters of even length, of one value, as long as the signal,
// and longer.
std::vector<Sizes> sizes() {
  return {{5, 3},   {5, 4},    {1, 1},   {256, 1},  {255, 2},  {33, 33},
          {300, 7}, {254, 64}, {31, 32}, {20, 300}, {1024, 5}, {1, 9}};
}

kit::Run check(Kind kind, ConvMode mode, const std::vector<float>& x, const std::vector<float>& w,
               bool exact = true) {
  const int n = static_cast<int>(x.size()), k = static_cast<int>(w.size());
  const Convolved expected =
      kind == Kind::kConvolution ? convolve_on_cpu(x, w, mode) : correlate_on_cpu(x, w, mode);
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", at_end);
  const auto d_w = kit::DeviceBuffer<float>::input(w, "w", at_end);
  const auto d_y = kit::DeviceBuffer<float>::output(expected.y.size(), "y", at_end);
  const auto launch = kind == Kind::kConvolution ? launch_convolve1d : launch_correlate1d;
  const kit::Run run = kit::run([&] { launch(d_x.get(), d_w.get(), d_y.get(), n, k, mode); });
  const kit::Mistake turned(kTurned, [&] {
    return kind == Kind::kConvolution ? correlate_on_cpu(x, w, mode).y
                                      : convolve_on_cpu(x, w, mode).y;
  });
  kit::expect_near_or_nan(
      d_y, expected.y,
      exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, expected.scale));
  return run;
}

// Small integers: every sum is exact, so a wrong place shows.
kit::Run check(Kind kind, ConvMode mode, const Sizes& s) {
  return check(kind, mode, kit::random_integer_floats(s.n), kit::random_integer_floats(s.k));
}

void check_sizes(ConvMode mode, const std::vector<int>& expected) {
  const std::vector<Sizes> of = {{5, 3}, {5, 4}, {100, 1}, {7, 7}, {3, 5}, {1, 8}};
  std::vector<int> got;
  for (const Sizes& s : of) got.push_back(conv1d_size(s.n, s.k, mode));
  kit::expect_equal("sizes of n, k = 5, 3; 5, 4; 100, 1; 7, 7; 3, 5; 1, 8", got, expected);
}

// At the largest sizes: threads fewer than the values come back for the rest, so what some of them
// have written lies behind what a thread for each value would reach.
void expect_more_than_one_pass(const kit::Run& run, const kit::LargeArray<float>& y) {
  uint64_t threads = 0;
  for (const kit::Launch& launch : run.launches()) threads += launch.threads();
  const size_t end = y.size() * sizeof(float);
  if (threads >= y.size() || wsim_cut_launches() > 0) return;
  if (y.memory().first_written(threads * sizeof(float), end) < end) return;
  kit::fail("At the largest size: y has " + std::to_string(y.size()) + " values, the grid has " +
            std::to_string(threads) + " threads, and nothing is written from y[" +
            std::to_string(threads) +
            "] on. Launch a thread for each value, or let each thread make several.");
}

}  // namespace

TEST(Conv1dModes, KnowsTheSizeOfEachMode) {
  RecordProperty("todo", 1);
  check_sizes(ConvMode::kFull, {7, 8, 100, 13, 7, 8});
  check_sizes(ConvMode::kSame, {5, 5, 100, 7, 3, 1});
  check_sizes(ConvMode::kValid, {3, 2, 100, 1, 0, 0});
}

TEST(Conv1dModes, TheExampleOnPaper) {
  RecordProperty("todo", 3);
  // 1 2 3 4 with 1 10 100: 1, 2 + 10, 3 + 20 + 100, 4 + 30 + 200, 40 + 300, 400.
  const auto d_x = kit::DeviceBuffer<float>::input({1, 2, 3, 4}, "x");
  const auto d_w = kit::DeviceBuffer<float>::input({1, 10, 100}, "w");
  const auto convolved = kit::DeviceBuffer<float>::output(6, "full convolution");
  const auto correlated = kit::DeviceBuffer<float>::output(6, "full correlation");
  kit::run([&] {
    launch_convolve1d(d_x.get(), d_w.get(), convolved.get(), 4, 3, ConvMode::kFull);
    launch_correlate1d(d_x.get(), d_w.get(), correlated.get(), 4, 3, ConvMode::kFull);
  });
  const kit::Mistake turned(kTurned, [] { return std::vector<double>{100, 210, 321, 432, 43, 4}; });
  kit::expect_equal(convolved, {1, 12, 123, 234, 340, 400});
  kit::expect_equal(correlated, {100, 210, 321, 432, 43, 4});
}

TEST(Conv1dModes, FullHasEveryOverlap) {
  RecordProperty("todo", 2);
  kit::for_each("n", sizes(),
                [](const Sizes& s) { check(Kind::kConvolution, ConvMode::kFull, s); });
}

TEST(Conv1dModes, SameIsTheMiddle) {
  RecordProperty("todo", 1);
  kit::for_each("n", sizes(),
                [](const Sizes& s) { check(Kind::kConvolution, ConvMode::kSame, s); });
}

TEST(Conv1dModes, ValidLeavesNothingToBeAssumed) {
  RecordProperty("todo", 1);
  kit::for_each("n", sizes(),
                [](const Sizes& s) { check(Kind::kConvolution, ConvMode::kValid, s); });
}

TEST(Conv1dModes, CorrelationTakesTheFilterFromItsEnd) {
  RecordProperty("todo", 3);
  for (const ConvMode mode : {ConvMode::kFull, ConvMode::kSame, ConvMode::kValid}) {
    kit::for_each("n", sizes(), [&](const Sizes& s) { check(Kind::kCorrelation, mode, s); });
  }
}

// Special values: kit::kSpecialSums says what the sums that they are in make of them.
TEST(Conv1dModes, SpecialValuesReachTheOutputsOverThem) {
  RecordProperty("todo", 3);
  for (const Kind kind : {Kind::kConvolution, Kind::kCorrelation}) {
    for (const ConvMode mode : {ConvMode::kFull, ConvMode::kSame, ConvMode::kValid}) {
      kit::for_each_special_sum(300, [&](const std::vector<float>& x) {
        check(kind, mode, x, kit::random_floats(7, 0.5f, 1.0f), false);
      });
    }
  }
}

TEST(Conv1dModes, TakesLongSignals) {
  RecordProperty("todo", 2);
  check(Kind::kConvolution, ConvMode::kFull, {4099, 3});
  check(Kind::kCorrelation, ConvMode::kFull, {4099, 3});
}

TEST(Conv1dModes, TakesLongFilters) {
  RecordProperty("todo", 3);
  // More weights than the shared memory of any card holds, 232,448 bytes at most. As many values
  // as the signal has are kept: a kernel may look at all weights for each of them.
  check(Kind::kConvolution, ConvMode::kSame, {300, 60000});
  check(Kind::kCorrelation, ConvMode::kSame, {300, 60000});
}

TEST(Conv1dModes, KeepsFullPrecision) {
  RecordProperty("todo", 3);
  std::vector<float> signs = kit::random_integer_floats(50, 0, 1);
  for (float& sign : signs) sign = 2 * sign - 1;
  check(Kind::kConvolution, ConvMode::kFull, kit::precision_tripwire_floats(200), signs);
  check(Kind::kCorrelation, ConvMode::kSame, kit::random_floats(300), kit::random_floats(70),
        false);
}

TEST(Conv1dModes, MultipliesEachPairOnce) {
  RecordProperty("todo", 2);
  const Sizes s = {64, 48};
  const kit::Run run = check(Kind::kConvolution, ConvMode::kFull, s);
  kit::budget("multiply-adds of a full convolution, per pair of value and weight",
              kit::ratio(static_cast<double>(run.counters().fp32_fma), 1.0 * s.n * s.k),
              kit::at_most(1), "Each value of the signal meets each weight in one output",
              &kit::Counters::fp32_fma);
}

TEST(Conv1dModes, FiltersTheLongestSignals) {
  RecordProperty("todo", 1);
  const auto check_large = [](bool turned, ConvMode mode) {
    const int n = 1 << 29, k = 3;
    const std::vector<float> w = {1, 10, 100};
    const auto x = kit::large_integers(n, "x");
    const auto d_w = kit::DeviceBuffer<float>::input(w, "w");
    const auto y = kit::LargeArray<float>::output(conv1d_size(n, k, mode), "y");
    const kit::Run run = kit::run([&] {
      (turned ? launch_convolve1d : launch_correlate1d)(x.get(), d_w.get(), y.get(), n, k, mode);
    });
    const long long first = mode == ConvMode::kFull ? 0 : mode == ConvMode::kSame ? 1 : 2;
    const bool right = kit::expect_at_ends(y, [&](size_t i) {
      float sum = 0;
      for (int j = 0; j < k; ++j) {
        const long long at = static_cast<long long>(i) + first - j;
        if (at >= 0 && at < n) sum += w[turned ? j : k - 1 - j] * x.at(at);
      }
      return sum;
    });
    if (right) expect_more_than_one_pass(run, y);
  };
  kit::at_largest("2^29 values, all kept", [&] { check_large(true, ConvMode::kFull); });
  kit::at_largest("2^29 values, as many kept", [&] { check_large(false, ConvMode::kSame); });
  kit::at_largest("2^29 values, the middle kept", [&] { check_large(true, ConvMode::kValid); });
}

// Tests of 12/09 batch norm.
#include "09_batch_norm.h"

#include <cmath>
#include <functional>
#include <sstream>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/same_bits.h"

namespace {

// x and y are n x c x hw.
struct Sizes {
  int n, c, hw;
  size_t count() const { return static_cast<size_t>(n) * c * hw; }
  int channel_of(size_t i) const { return static_cast<int>(i / hw % c); }
  kit::Shape shape() const { return kit::Shape(n, c, hw); }
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << " x " << s.c << " x " << s.hw;
}

struct Statistics {
  std::vector<double> mean, inv_std;  // [channel]
};
// Reference in double, from the definition: the variance divides by all n hw values.
template <class T>
Statistics statistics_on_cpu(const std::vector<T>& x, const Sizes& s) {
  const double count = static_cast<double>(s.n) * s.hw;
  std::vector<double> mean(s.c), variance(s.c), inv_std;
  for (size_t i = 0; i < x.size(); ++i) mean[s.channel_of(i)] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    const double distance = x[i] - mean[s.channel_of(i)];
    variance[s.channel_of(i)] += distance * distance / count;
  }
  for (const double v : variance) {
    inv_std.push_back(1 / std::sqrt(v + static_cast<double>(kBatchNormEpsilon)));
  }
  return {mean, inv_std};
}

template <class T>
std::vector<double> forward_on_cpu(const std::vector<T>& x, const std::vector<float>& gamma,
                                   const std::vector<float>& beta, const Statistics& stats,
                                   const Sizes& s) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const int c = s.channel_of(i);
    y[i] = (x[i] - stats.mean[c]) * stats.inv_std[c] * gamma[c] + beta[c];
  }
  return y;
}

struct Inputs {
  std::vector<float> x, gamma, beta, dy;
};
Inputs random_inputs(const Sizes& s, float offset = 0) {
  return {kit::random_floats(s.count(), offset - 2, offset + 2), kit::random_floats(s.c),
          kit::random_floats(s.c), kit::random_floats(s.count())};
}

constexpr auto kAtEnd = kit::Placement::kAtEnd;

kit::DeviceBuffer<float> given(const std::vector<float>& values, const char* name) {
  return kit::DeviceBuffer<float>::input(values, name, kAtEnd);
}
kit::DeviceBuffer<float> wanted(size_t n, const char* name) {
  return kit::DeviceBuffer<float>::output(n, name, kAtEnd);
}

// True if the variances are those of a sample, a common mistake: n hw / (n hw - 1) times too large.
bool divides_by_one_less(const std::vector<float>& inv_std, const Statistics& stats,
                         const Sizes& s) {
  const double count = static_cast<double>(s.n) * s.hw;
  if (count < 2 || count > 1000) return false;  // no difference, or one that rounding may make
  bool all = true;
  for (int c = 0; c < s.c; ++c) {
    const double epsilon = static_cast<double>(kBatchNormEpsilon);
    const double variance = 1 / (stats.inv_std[c] * stats.inv_std[c]) - epsilon;
    const double expected = 1 / std::sqrt(variance * count / (count - 1) + epsilon);
    all = all && std::fabs(inv_std[c] - expected) <= 1e-5 * expected;
  }
  return all;
}

kit::Run check_forward(const Inputs& in, const Sizes& s, double tolerance = 1e-5) {
  const auto d_x = given(in.x, "x"), d_gamma = given(in.gamma, "gamma");
  const auto d_beta = given(in.beta, "beta"), d_y = wanted(s.count(), "y");
  const auto d_mean = wanted(s.c, "mean"), d_inv_std = wanted(s.c, "inv_std");
  const auto d_scratch = wanted(batch_norm_scratch(s.c), "scratch");
  const kit::Run run = kit::run([&] {
    launch_batch_norm_forward(d_x.get(), d_gamma.get(), d_beta.get(), d_y.get(), d_mean.get(),
                              d_inv_std.get(), d_scratch.get(), s.n, s.c, s.hw);
  });
  const Statistics stats = statistics_on_cpu(in.x, s);
  kit::expect_near(d_mean, stats.mean, kit::Tolerance::absolute(tolerance));
  if (divides_by_one_less(d_inv_std.download(), stats, s)) {
    kit::fail(
        "inv_std belongs to a variance that is divided by n hw - 1. Batch norm divides by all n "
        "hw values.");
  }
  kit::expect_near(d_inv_std, stats.inv_std, kit::Tolerance::relative(tolerance));
  kit::expect_near(d_y, forward_on_cpu(in.x, in.gamma, in.beta, stats, s),
                   kit::Tolerance::absolute(tolerance), s.shape());
  return run;
}

// What forward makes.
std::vector<float> forward_bits(const Inputs& in, const Sizes& s) {
  const auto d_x = given(in.x, "x"), d_gamma = given(in.gamma, "gamma");
  const auto d_beta = given(in.beta, "beta"), d_y = wanted(s.count(), "y");
  const auto d_mean = wanted(s.c, "mean"), d_inv_std = wanted(s.c, "inv_std");
  const auto d_scratch = wanted(batch_norm_scratch(s.c), "scratch");
  kit::run([&] {
    launch_batch_norm_forward(d_x.get(), d_gamma.get(), d_beta.get(), d_y.get(), d_mean.get(),
                              d_inv_std.get(), d_scratch.get(), s.n, s.c, s.hw);
  });
  return kit::joined({d_mean, d_inv_std, d_y});
}

struct Gradients {
  std::vector<double> dx, dgamma, dbeta, scale;  // scale: sum of |dy xhat| and |dy| of a channel
};
Gradients gradients_on_cpu(const Inputs& in, const Statistics& stats, const Sizes& s) {
  const double count = static_cast<double>(s.n) * s.hw;
  Gradients g{std::vector<double>(in.x.size()), std::vector<double>(s.c), std::vector<double>(s.c),
              std::vector<double>(s.c)};
  const auto xhat = [&](size_t i) {
    return (in.x[i] - stats.mean[s.channel_of(i)]) * stats.inv_std[s.channel_of(i)];
  };
  for (size_t i = 0; i < in.x.size(); ++i) {
    const int c = s.channel_of(i);
    g.dbeta[c] += in.dy[i];
    g.dgamma[c] += in.dy[i] * xhat(i);
    g.scale[c] += std::fabs(in.dy[i]) * (1 + std::fabs(xhat(i)));
  }
  for (size_t i = 0; i < in.x.size(); ++i) {
    const int c = s.channel_of(i);
    const double centered = in.dy[i] - g.dbeta[c] / count - xhat(i) * g.dgamma[c] / count;
    g.dx[i] = in.gamma[c] * stats.inv_std[c] * centered;
  }
  return g;
}

struct Backward {
  kit::DeviceBuffer<float> dx, dgamma, dbeta;
  kit::Run run;
};
Backward backward(const Inputs& in, const Statistics& stats, const Sizes& s) {
  const auto d_x = given(in.x, "x"), d_gamma = given(in.gamma, "gamma"), d_dy = given(in.dy, "dy");
  const auto d_mean = given({stats.mean.begin(), stats.mean.end()}, "mean");
  const auto d_inv_std = given({stats.inv_std.begin(), stats.inv_std.end()}, "inv_std");
  const auto d_dx = wanted(s.count(), "dx"), d_dgamma = wanted(s.c, "dgamma");
  const auto d_dbeta = wanted(s.c, "dbeta");
  const auto d_scratch = wanted(batch_norm_scratch(s.c), "scratch");
  const kit::Run run = kit::run([&] {
    launch_batch_norm_backward(d_x.get(), d_gamma.get(), d_mean.get(), d_inv_std.get(), d_dy.get(),
                               d_dx.get(), d_dgamma.get(), d_dbeta.get(), d_scratch.get(), s.n, s.c,
                               s.hw);
  });
  return {d_dx, d_dgamma, d_dbeta, run};
}

void check_sums(const Sizes& s, float offset = 0, double tolerance = 0) {
  const Inputs in = random_inputs(s, offset);
  const Statistics stats = statistics_on_cpu(in.x, s);
  const Gradients expected = gradients_on_cpu(in, stats, s);
  const Backward got = backward(in, stats, s);
  kit::Tolerance near = kit::Tolerance::units(16, expected.scale);
  near.absolute_error = tolerance;
  kit::expect_near(got.dbeta, expected.dbeta, near);
  kit::expect_near(got.dgamma, expected.dgamma, near);
}

void check_dx(const Sizes& s, float offset = 0, double tolerance = 1e-5) {
  const Inputs in = random_inputs(s, offset);
  const Statistics stats = statistics_on_cpu(in.x, s);
  kit::expect_near(backward(in, stats, s).dx, gradients_on_cpu(in, stats, s).dx,
                   kit::Tolerance::absolute(tolerance), s.shape());
}

void check_apply(const Sizes& s) {
  const Inputs in = random_inputs(s);
  const std::vector<float> mean = kit::random_floats(s.c), inv_std = kit::random_floats(s.c, 1, 2);
  const auto d_x = given(in.x, "x"), d_gamma = given(in.gamma, "gamma");
  const auto d_beta = given(in.beta, "beta"), d_mean = given(mean, "mean");
  const auto d_inv_std = given(inv_std, "inv_std"), d_y = wanted(s.count(), "y");
  kit::run([&] {
    launch_batch_norm_apply(d_x.get(), d_gamma.get(), d_beta.get(), d_mean.get(), d_inv_std.get(),
                            d_y.get(), s.n, s.c, s.hw);
  });
  const Statistics stats = {{mean.begin(), mean.end()}, {inv_std.begin(), inv_std.end()}};
  kit::expect_near(d_y, forward_on_cpu(in.x, in.gamma, in.beta, stats, s),
                   kit::Tolerance::absolute(1e-5), s.shape());
}

// One value, one part, several of the same and of different size, planes larger than a block.
std::vector<Sizes> all_sizes() {
  return {{1, 1, 1}, {3, 5, 4}, {2, 16, 784}, {33, 3, 70}, {64, 2, 36}, {7, 1, 1023}, {2, 2, 3000}};
}

}  // namespace

TEST(BatchNorm, NormalisesOneImage) {
  RecordProperty("todo", 1);
  // One image is one part. Of one value the variance is 0.
  kit::for_each("n x c x hw", std::vector<Sizes>{{1, 1, 1}, {1, 3, 5}, {1, 2, 300}, {1, 1, 1024}},
                [](const Sizes& s) { check_forward(random_inputs(s), s); });
}

TEST(BatchNorm, AddsUpPartsOfDifferentSize) {
  RecordProperty("todo", 2);
  kit::for_each("n x c x hw", all_sizes(),
                [](const Sizes& s) { check_forward(random_inputs(s), s); });
}

TEST(BatchNorm, CoversEveryExtent) {
  RecordProperty("todo", 2);
  kit::for_each("n x c x hw", std::vector<Sizes>{{65'537, 1, 1}, {1, 1031, 24}, {1, 1, 65'537}},
                [](const Sizes& s) {
                  check_forward(random_inputs(s), s);
                  check_sums(s);
                  check_dx(s);
                });
}

TEST(BatchNorm, PartsMayLieFarApart) {
  RecordProperty("todo", 2);
  // Each image around another value: most of the variance is between the parts.
  const Sizes s = {13, 2, 400};
  Inputs in = random_inputs(s);
  for (size_t i = 0; i < in.x.size(); ++i) in.x[i] += static_cast<float>(i / s.hw / s.c % 7);
  check_forward(in, s);
}

TEST(BatchNorm, KeepsItsDigitsFarFromZero) {
  RecordProperty("todo", 1);
  // At 100 a float holds 7.6e-6: that is what a right answer may lose, and no more than a few
  // times.
  const Sizes s = {40, 2, 60};
  check_forward(random_inputs(s, 100), s, 4e-5);
}

TEST(BatchNorm, AConstantChannelBecomesBeta) {
  RecordProperty("todo", 2);
  const Sizes s = {33, 2, 6};
  Inputs in = random_inputs(s);
  for (size_t i = 0; i < in.x.size(); ++i) in.x[i] = s.channel_of(i) == 0 ? 0.75f : in.x[i];
  check_forward(in, s);
}

TEST(BatchNorm, SumsUpTheGradientsOfGammaAndBeta) {
  RecordProperty("todo", 3);
  kit::for_each("n x c x hw", all_sizes(), [](const Sizes& s) { check_sums(s); });
  check_sums({40, 2, 60}, 100, 4e-3);  // xhat of each of 2400 values is off by 4e-6 there
}

TEST(BatchNorm, TakesTheGradientBackToX) {
  RecordProperty("todo", 4);
  // One value has no gradient: whatever it is, it becomes beta.
  const std::vector<Sizes> sizes = {{3, 5, 4}, {2, 16, 784}, {33, 3, 7}, {5, 1, 1023}};
  kit::for_each("n x c x hw", sizes, [](const Sizes& s) { check_dx(s); });
  check_dx({40, 2, 60}, 100, 4e-5);
}

TEST(BatchNorm, FiniteDifferencesAgree) {
  RecordProperty("todo", 4);
  const Sizes s = {3, 2, 7};
  const Inputs in = random_inputs(s);
  const std::vector<float> dx = backward(in, statistics_on_cpu(in.x, s), s).dx.download();
  std::vector<double> x(in.x.begin(), in.x.end()), by_step;
  const auto loss = [&] {  // sum of dy y, in double
    const std::vector<double> y = forward_on_cpu(x, in.gamma, in.beta, statistics_on_cpu(x, s), s);
    double sum = 0;
    for (size_t i = 0; i < y.size(); ++i) sum += in.dy[i] * y[i];
    return sum;
  };
  for (size_t i = 0; i < x.size(); ++i) {
    const double middle = x[i], step = 1e-5;
    x[i] = middle + step;
    const double above = loss();
    x[i] = middle - step;
    by_step.push_back((above - loss()) / (2 * step));
    x[i] = middle;
  }
  kit::expect_near("dx against finite differences", dx, by_step, kit::Tolerance::absolute(1e-5));
}

TEST(BatchNorm, AppliesStatisticsThatAreGiven) {
  RecordProperty("todo", 1);
  std::vector<Sizes> sizes = {{3, 4, 10}, {65'537, 1, 1}, {1, 1031, 24}, {1, 1, 65'537}};
  for (const Sizes& s : all_sizes()) sizes.push_back(s);
  kit::for_each("n x c x hw", sizes, check_apply);
}

TEST(BatchNorm, AppliesThemToTheLargestArrays) {
  RecordProperty("todo", 2);
  // All channels that there may be, planes of a pixel and long ones, and many images.
  const std::vector<Sizes> all = {
      {1, 65'535, 32'768}, {32'768, 65'535, 1}, {1 << 20, 1, 2047}, {1, 1, 1 << 30}};
  for (const Sizes& s : all) {
    std::ostringstream title;
    title << "n x c x hw = " << s;
    kit::at_largest(title.str(), [&] {
      const auto x = kit::large_floats(s.count(), "x");
      const auto gamma = kit::large_floats(s.c, "gamma"), beta = kit::large_floats(s.c, "beta");
      const auto mean = kit::large_floats(s.c, "mean"), inv_std = kit::large_floats(s.c, "inv_std");
      const auto y = kit::LargeArray<float>::output(s.count(), "y");
      kit::run([&] {
        launch_batch_norm_apply(x.get(), gamma.get(), beta.get(), mean.get(), inv_std.get(),
                                y.get(), s.n, s.c, s.hw);
      });
      const auto expected = [&](size_t i) {
        const size_t c = s.channel_of(i);
        const double distance = static_cast<double>(x.at(i)) - mean.at(c);
        return distance * inv_std.at(c) * gamma.at(c) + beta.at(c);
      };
      kit::expect_at_ends(y, expected, kit::Tolerance::absolute(1e-5));
    });
  }
}

// One image is one part for 1024 values or fewer: the statistics of a channel are those of a block.
TEST(BatchNorm, TakesTheMostChannels) {
  RecordProperty("todo", 2);
  const Sizes s = {1, 65'535, 24};
  const Inputs in = random_inputs(s);
  kit::at_largest("n x c x hw = 1 x 65,535 x 24", [&] {
    const auto x = kit::LargeArray<float>::input(s.count(), "x", in.x);
    const auto gamma = kit::LargeArray<float>::input(s.c, "gamma", in.gamma);
    const auto beta = kit::LargeArray<float>::input(s.c, "beta", in.beta);
    const auto mean = kit::LargeArray<float>::output(s.c, "mean");
    const auto inv_std = kit::LargeArray<float>::output(s.c, "inv_std");
    const auto y = kit::LargeArray<float>::output(s.count(), "y");
    const auto scratch = kit::LargeArray<float>::output(batch_norm_scratch(s.c), "scratch");
    kit::run([&] {
      launch_batch_norm_forward(x.get(), gamma.get(), beta.get(), y.get(), mean.get(),
                                inv_std.get(), scratch.get(), s.n, s.c, s.hw);
    });
    const Statistics stats = statistics_on_cpu(in.x, s);
    kit::expect_at_ends(
        mean, [&](size_t c) { return stats.mean[c]; }, kit::Tolerance::absolute(1e-5));
    kit::expect_at_ends(
        inv_std, [&](size_t c) { return stats.inv_std[c]; }, kit::Tolerance::relative(1e-5));
    const std::vector<double> expected = forward_on_cpu(in.x, in.gamma, in.beta, stats, s);
    kit::expect_at_ends(
        y, [&](size_t i) { return expected[i]; }, kit::Tolerance::absolute(1e-5));
  });
}

TEST(BatchNorm, HasTheSameBitsAtEveryRun) {
  RecordProperty("todo", 4);
  // Up to 19 parts of a channel: more than two, whose sum is the same in either order.
  kit::for_each("n x c x hw", std::vector<Sizes>{{33, 3, 400}, {64, 2, 300}}, [](const Sizes& s) {
    const Inputs in = random_inputs(s);
    kit::expect_same_bits("mean, then inv_std and y,", [&] { return forward_bits(in, s); });
    const Statistics stats = statistics_on_cpu(in.x, s);
    kit::expect_same_bits("dgamma, then dbeta and dx,", [&] {
      const Backward got = backward(in, stats, s);
      return kit::joined({got.dgamma, got.dbeta, got.dx});
    });
  });
}

TEST(BatchNorm, ReadsXTwiceAtMost) {
  RecordProperty("todo", 1);
  const Sizes s = {256, 1, 196};
  const kit::Counters c = check_forward(random_inputs(s), s).counters();
  kit::budget("readings of x",
              kit::ratio(static_cast<double>(c.global_load_bytes), 4.0 * s.count()),
              kit::at_most(3),
              "Once for the sums, once to normalise, and a share for what threads load of their "
              "channel: mean and squares come from one reading, as distances from one value",
              &kit::Counters::global_load_bytes);
}

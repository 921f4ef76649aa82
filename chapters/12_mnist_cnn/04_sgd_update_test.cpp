// Tests of 12/04 SGD update.
#include "04_sgd_update.h"

#include <cmath>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

constexpr unsigned long long kSeed = 2026;
constexpr double kLargest = std::numeric_limits<float>::max();

// The value at a position, from its definition: the upper 24 bits, centred, in double. Every step
// but the product with bound is exact in float too.
float uniform_on_cpu(float bound, unsigned long long seed, unsigned long long position) {
  const double integer = static_cast<double>(random_bits(seed, position) >> 40) - 8388608.0;
  return static_cast<float>(integer / 8388608.0) * bound;
}

std::vector<float> uniform_on_cpu(int n, float bound, unsigned long long seed,
                                  unsigned long long offset) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(uniform_on_cpu(bound, seed, offset + i));
  return values;
}

// w begins at element `w_at` of its array, dw at `dw_at`: what lies before them stays as it was.
kit::Run check_update_at(int w_at, int dw_at, const std::vector<float>& w,
                         const std::vector<float>& dw, float rate = 0.0625f) {
  const int n = static_cast<int>(w.size()) - w_at;
  const auto d_w = kit::DeviceBuffer<float>::inout(w, "w", kit::Placement::kAtEnd);
  const auto d_dw = kit::DeviceBuffer<float>::input(dw, "dw", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_sgd_update(d_w.get() + w_at, d_dw.get() + dw_at, rate, n); });
  std::vector<double> expected(w.begin(), w.begin() + w_at), scale(w_at);
  for (int i = 0; i < n; ++i) {
    const float weight = w[w_at + i], slope = dw[dw_at + i];
    const double stepped = weight - static_cast<double>(rate) * slope;
    expected.push_back(std::fabs(stepped) > kLargest ? std::copysign(INFINITY, stepped) : stepped);
    scale.push_back(std::fabs(weight) + std::fabs(rate * slope));
  }
  // 1e-44: a few of the smallest steps that a float can make.
  kit::expect_near_or_nan(d_w, expected, {1e-44, 0, 2, scale}, {},
                          "A weight is NaN after a step if it or its gradient was, or where "
                          "infinity is taken from itself: no gradient is left out.");
  return run;
}
kit::Run check_update_at(int w_at, int dw_at, int n) {
  return check_update_at(w_at, dw_at, kit::random_floats(w_at + n), kit::random_floats(dw_at + n));
}
kit::Run check_update(int n) { return check_update_at(0, 0, n); }

std::vector<float> initialised(const Network& net, unsigned long long seed) {
  const auto d_p = kit::DeviceBuffer<float>::output(parameters_of(net).total, "parameters");
  kit::run([&] { launch_network_init(net, d_p.get(), seed); });
  return d_p.download();
}

}  // namespace

TEST(SgdUpdate, StepsAgainstTheGradient) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), check_update);
  check_update(0);
}

TEST(SgdUpdate, WeightsAndGradientsMayBeAnyFloat) {
  RecordProperty("todo", 1);
  // A rate of 0 is a factor, too, and one below it goes along the gradient.
  for (const float rate : {0.0625f, 0.0f, -0.5f}) {
    check_update_at(0, 0, kit::special_floats(500), kit::special_floats_and_nans(500), rate);
  }
}

TEST(SgdUpdate, ATensorMayBeginAtAnyElement) {
  RecordProperty("todo", 1);
  kit::for_each("begin", std::vector<int>{1, 2, 3}, [](int begin) {
    check_update_at(begin, begin, 300);
    check_update_at(begin, 0, 300);
    check_update_at(0, begin, 300);
  });
}

TEST(SgdUpdate, TouchesEachWeightOnce) {
  RecordProperty("todo", 1);
  const int n = 1 << 14;
  const kit::Run run = check_update(n);
  kit::budget("bytes moved per weight",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes +
                                             run.counters().global_store_bytes),
                         n),
              kit::at_most(12), "w and dw are read once, w is written once: 3 floats");
}

TEST(SgdUpdate, UniformValuesAreThoseOfTheirPositions) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1, 31, 257, 1000}, [](int n) {
    const auto d_w = kit::DeviceBuffer<float>::output(n, "w", kit::Placement::kAtEnd);
    const float bound = 0.375f;
    kit::run([&] { launch_uniform_init(d_w.get(), n, bound, kSeed, 5); });
    kit::expect_equal(d_w, uniform_on_cpu(n, bound, kSeed, 5));
  });
}

TEST(SgdUpdate, APositionHasItsValueWhoeverAsks) {
  RecordProperty("todo", 2);
  const auto d_all = kit::DeviceBuffer<float>::output(700, "w");
  const auto d_parts = kit::DeviceBuffer<float>::output(700, "w, in two launches");
  const unsigned long long far = 1ull << 40;  // past 32 bits
  kit::run([&] {
    launch_uniform_init(d_all.get(), 700, 1.0f, kSeed, far);
    launch_uniform_init(d_parts.get(), 300, 1.0f, kSeed, far);
    launch_uniform_init(d_parts.get() + 300, 400, 1.0f, kSeed, far + 300);
  });
  kit::expect_equal(d_parts, d_all.download());
}

TEST(SgdUpdate, UniformValuesFillTheirRange) {
  RecordProperty("todo", 2);
  constexpr int kCount = 20000;
  constexpr double kBound = 2;
  const auto d_w = kit::DeviceBuffer<float>::output(kCount, "w");
  kit::run([&] { launch_uniform_init(d_w.get(), kCount, kBound, 7, 0); });
  double sum = 0, squares = 0, largest = 0;
  const std::vector<float> values = d_w.download();
  for (const float value : values) {
    sum += value;
    squares += static_cast<double>(value) * value;
    largest = std::max(largest, std::fabs(static_cast<double>(value)));
  }
  // Mean 0 and variance bound^2 / 3, each within four standard deviations for this many values.
  const double mean = sum / kCount, variance = squares / kCount;
  if (!(std::fabs(mean) < 4 * kBound / std::sqrt(3.0 * kCount))) {
    kit::fail("The mean is " + std::to_string(mean) + ": half of the values should be below 0.");
  }
  const double expected = kBound * kBound / 3;
  if (!(std::fabs(variance - expected) < 4 * expected * std::sqrt(0.8 / kCount))) {
    kit::fail("The variance is " + std::to_string(variance) + ", expected " +
              std::to_string(expected) + ": the values do not fill the range evenly.");
  }
  if (!(largest <= kBound)) kit::fail("A value of " + std::to_string(largest) + " is past bound.");
}

TEST(SgdUpdate, EachTensorStartsWithItsBound) {
  RecordProperty("todo", 3);
  kit::Cases cases;
  for (const Network& net : {kNarrowNetwork, Network{8, 3, 2, 5, 4}}) {
    const std::vector<float> got = initialised(net, kSeed);
    const Parameters p = parameters_of(net);
    Tensor tensors[kTensors];
    list_tensors(p, tensors);
    for (const Tensor& t : tensors) {
      cases.run(std::string("tensor = ") + t.name, [&] {
        const std::vector<float> values(got.begin() + static_cast<long>(t.offset),
                                        got.begin() + static_cast<long>(t.offset) + t.size);
        const bool is_gamma = t.offset == p.bn1_gamma.offset || t.offset == p.bn2_gamma.offset;
        std::vector<float> expected(t.size, is_gamma ? 1.0f : 0.0f);
        if (t.fan_in > 0) {
          expected = uniform_on_cpu(t.size, 1.0f / std::sqrt(static_cast<float>(t.fan_in)), kSeed,
                                    t.offset);
        }
        kit::expect_equal(t.name, values, expected);
      });
    }
  }
}

TEST(SgdUpdate, TakesTheLargestNetworks) {
  RecordProperty("todo", 1);
  kit::at_largest("2^30 weights", [] {
    const int n = 1 << 30;
    const auto w = kit::LargeArray<float>::inout(n, "w", kit::random_integer_floats(kit::kPeriod));
    const auto dw = kit::large_integers(n, "dw");
    kit::run([&] { launch_sgd_update(w.get(), dw.get(), 0.5f, n); });
    kit::expect_at_ends(w, [&](size_t i) { return w.at(i) - 0.5f * dw.at(i); });
  });
  kit::at_largest("random numbers past position 2^32", [] {
    const int n = 1 << 30;
    const unsigned long long seed = 17, offset = (3ull << 30) + 5;
    const auto w = kit::LargeArray<float>::output(n, "w");
    kit::run([&] { launch_uniform_init(w.get(), n, 0.5f, seed, offset); });
    kit::expect_at_ends(w, [&](size_t i) {
      const unsigned long long k = random_bits(seed, offset + i) >> 40;
      return (static_cast<float>(k) * 0x1p-23f - 1.0f) * 0.5f;
    });
  });
}

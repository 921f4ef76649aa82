// Tests of 03/07 constant polynomial.
#include "07_constant_polynomial.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/passing_input.h"

namespace {

// Reference in double, n elements, and what the rounding errors are proportional to.
struct Polynomial {
  std::vector<double> result, scale;
};
Polynomial polynomial_on_cpu(const std::vector<float>& coefficients, const std::vector<float>& x) {
  Polynomial polynomial;
  for (const float at : x) {
    double sum = 0, scale = 0, power = 1;
    for (const float c : coefficients) {
      sum += c * power;
      scale += std::fabs(c * power);
      power *= at;
    }
    polynomial.result.push_back(sum);
    polynomial.scale.push_back(scale);
  }
  return polynomial;
}

struct Case {
  int terms, n;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.n << " (" << c.terms << (c.terms == 1 ? " term)" : " terms)");
}

// `first`, unless it is NaN, is the first coefficient.
kit::Run check(const Case& c, kit::Placement placement = kit::Placement::kMiddle,
               float first = NAN) {
  std::vector<float> coefficients = kit::random_floats(c.terms);
  if (!std::isnan(first)) coefficients[0] = first;
  const std::vector<float> x = kit::random_floats(c.n, -1.25f, 1.25f);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(c.n, "y", placement);
  const kit::Run run =
      kit::run([&] { launch_polynomial(coefficients.data(), c.terms, d_x.get(), d_y.get(), c.n); });
  const Polynomial expected = polynomial_on_cpu(coefficients, x);
  // Horner's rule rounds at most twice per term.
  kit::expect_near(d_y, expected.result, kit::Tolerance::units(2 * c.terms, expected.scale));
  return run;
}

}  // namespace

TEST(ConstantPolynomial, ASingleTermIsItsCoefficient) {
  RecordProperty("todo", 2);
  check({1, 100});
}

TEST(ConstantPolynomial, AddsUpAllTerms) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Case>{{2, 256}, {3, 256}, {8, 512}, {17, 256}, {kMaxTerms, 256}},
                [](const Case& c) { check(c); });
}

TEST(ConstantPolynomial, EveryCallHasItsOwnCoefficients) {
  RecordProperty("todo", 2);
  // The second has fewer terms: what the first left behind must not count.
  kit::for_each("n", std::vector<Case>{{20, 64}, {5, 64}, {5, 64}},
                [](const Case& c) { check(c); });
  // As many, and the first is the same: the others are not.
  for (int call = 0; call < 2; ++call) check({5, 64}, kit::Placement::kMiddle, 0.5f);
}

TEST(ConstantPolynomial, TheSameArrayMayHoldOtherCoefficients) {
  RecordProperty("todo", 2);
  std::vector<float> coefficients(5);
  const std::vector<float> x = kit::random_floats(64);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  for (const char* call : {"the first call", "the second call"}) {
    const std::vector<float> others = kit::random_floats(coefficients.size());
    std::copy(others.begin(), others.end(), coefficients.begin());
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    kit::run(call, [&] { launch_polynomial(coefficients.data(), 5, d_x.get(), d_y.get(), 64); });
    const Polynomial expected = polynomial_on_cpu(coefficients, x);
    kit::expect_near(d_y, expected.result, kit::Tolerance::units(10, expected.scale));
  }
}

TEST(ConstantPolynomial, TheCallerMayOverwriteItsCoefficients) {
  RecordProperty("todo", 2);
  const std::vector<float> coefficients = kit::random_floats(kMaxTerms), x = kit::random_floats(64);
  kit::PassingInput<float> passing(coefficients);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run("coefficients in pinned memory, overwritten as soon as the call has returned", [&] {
    passing.lend(
        [&](const float* h) { launch_polynomial(h, kMaxTerms, d_x.get(), d_y.get(), 64); });
  });
  const Polynomial expected = polynomial_on_cpu(coefficients, x);
  kit::expect_near(d_y, expected.result, kit::Tolerance::units(2 * kMaxTerms, expected.scale));
}

// A symbol is there once on each device.
TEST(ConstantPolynomial, EqualCoefficientsReachEveryDevice) {
  RecordProperty("todo", 2);
  const std::vector<float> coefficients = kit::random_floats(5), x = kit::random_floats(64);
  const Polynomial expected = polynomial_on_cpu(coefficients, x);
  for (int device = 0; device < std::min(2, kit::device_count()); ++device) {
    const kit::OnDevice scope(device);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    kit::run(device == 0 ? "on device 0" : "the same coefficients on device 1",
             [&] { launch_polynomial(coefficients.data(), 5, d_x.get(), d_y.get(), 64); });
    kit::expect_near(d_y, expected.result, kit::Tolerance::units(10, expected.scale));
  }
}

TEST(ConstantPolynomial, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check({6, n}); });
}

TEST(ConstantPolynomial, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Case>{{4, 1000}, {kMaxTerms, 33}},
                [](const Case& c) { check(c, kit::Placement::kAtEnd); });
}

TEST(ConstantPolynomial, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check({3, 0});
  check({3, 1});  // the same launcher must work when there is something to compute
}

TEST(ConstantPolynomial, ReadsOnlyXFromGlobalMemory) {
  RecordProperty("todo", 1);
  const Case c = {32, 1 << 12};
  const kit::Run run = check(c);
  kit::budget("bytes loaded from global memory per element",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), c.n),
              kit::at_most(4),
              "x[i] is loaded once, into a register; the coefficients come from constant memory",
              &kit::Counters::global_load_bytes);
}

// Behind the last term is memory of the host that belongs to somebody else.
TEST(ConstantPolynomial, CopiesTheTermsThatThereAre) {
  RecordProperty("todo", 2);
  const Case c = {5, 64};
  const std::vector<float> coefficients = kit::random_floats(c.terms);
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(c.n), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(c.n, "y");
  uint64_t copied = 0;
  kit::run([&] {
    launch_polynomial(coefficients.data(), c.terms, d_x.get(), d_y.get(), c.n);
    cudaDeviceSynchronize();
    for (int i = 0; i < wsim_timeline_count(); ++i) {
      wsim_timeline_item item;
      if (wsim_get_timeline_item(i, &item) != 0) break;
      if (std::strcmp(item.kind, "copy to device") == 0) copied += item.bytes;
    }
  });
  kit::budget("bytes copied per term", kit::ratio(static_cast<double>(copied), c.terms),
              kit::at_most(sizeof(float)),
              "The caller has `terms` floats: what lies behind them must not be read");
}

TEST(ConstantPolynomial, TakesLongArrays) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const std::vector<float> coefficients = {5, -2, 3};
    const auto x = kit::large_integers(n, "x");
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_polynomial(coefficients.data(), 3, x.get(), y.get(), n); });
    kit::expect_at_ends(y, [&](size_t i) { return 5 - 2 * x.at(i) + 3 * x.at(i) * x.at(i); });
  });
}

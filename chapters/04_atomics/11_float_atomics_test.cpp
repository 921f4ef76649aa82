// Tests of 04/11 float atomics.
#include "11_float_atomics.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>

#include "kit/host_code.h"
#include "kit/kit.h"

namespace {

constexpr double kUnit = 0x1p-40;

// The sum in double, from the smallest magnitude to the largest.
double sum_on_cpu(std::vector<float> x) {
  std::sort(x.begin(), x.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  double sum = 0;
  for (const float v : x) sum += v;
  return sum;
}

long long total_on_cpu(const std::vector<float>& x) {
  long long total = 0;
  for (const float v : x) total += std::llrint(v / kUnit);  // ties to even, as on the device
  return total;
}

double magnitude(const std::vector<float>& x) {
  double sum = 0;
  for (const float v : x) sum += std::fabs(v);
  return sum;
}

// At most `units` roundings of half a unit of the whole sum are allowed.
float float_sum(const std::vector<float>& x, double units = 64) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_sum = kit::DeviceBuffer<float>::output(1, "float sum");
  kit::run([&] { launch_sum_float(d_x.get(), d_sum.get(), static_cast<int>(x.size())); });
  kit::expect_near(d_sum, {sum_on_cpu(x)}, kit::Tolerance::units(units, {magnitude(x)}));
  return d_sum.download()[0];
}

double double_sum(const std::vector<float>& x) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_sum = kit::DeviceBuffer<double>::output(1, "double sum");
  kit::run([&] { launch_sum_double(d_x.get(), d_sum.get(), static_cast<int>(x.size())); });
  std::vector<uint8_t> written;
  const double got = d_sum.download(&written)[0], expected = sum_on_cpu(x);
  const double allowed = 1e-13 * magnitude(x);
  if (!(std::fabs(got - expected) <= allowed)) {  // also for a NaN
    char text[160];
    std::snprintf(text, sizeof text,
                  "The double sum is %.17g, expected %.17g; at most %.2g may be lost to rounding.",
                  got, expected, allowed);
    kit::fail(text);
  }
  return got;
}

// `hint` is what a wrong total suggests.
long long fixed_sum(const std::vector<float>& x, const char* hint = "") {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_total = kit::DeviceBuffer<long long>::output(1, "total");
  kit::run([&] { launch_sum_fixed(d_x.get(), d_total.get(), static_cast<int>(x.size())); });
  const long long got = d_total.download()[0], expected = total_on_cpu(x);
  if (got != expected) {
    kit::fail("The total is " + std::to_string(got) + " units of 2^-40, expected exactly " +
              std::to_string(expected) + "." + hint);
  }
  return got;
}

// Values between 2^-30 and 1 in magnitude: their last bits reach below those of a double sum.
std::vector<float> wide_floats(int n) {
  std::vector<float> x = kit::random_floats(n);
  const std::vector<int> exponents = kit::random_ints(n, -30, 0);
  for (int i = 0; i < n; ++i) x[i] = std::ldexp(x[i], exponents[i]);
  return x;
}

// x in 8 orders: as it is, then shuffled.
std::vector<std::vector<float>> orders_of(std::vector<float> x) {
  std::vector<std::vector<float>> orders = {x};
  while (orders.size() < 8) {
    const std::vector<int> random = kit::random_ints(x.size(), 0, 1 << 30);
    for (size_t i = x.size(); i > 1; --i) std::swap(x[i - 1], x[random[i - 1] % i]);
    orders.push_back(x);
  }
  return orders;
}

}  // namespace

TEST(FloatAtomics, AddsInFloat) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { float_sum(kit::random_floats(n)); });
}

TEST(FloatAtomics, AddsInDouble) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { double_sum(kit::random_floats(n)); });
}

TEST(FloatAtomics, EveryElementIsAnAtomic) {
  RecordProperty("todo", 1);
  const int n = 5000;
  std::vector<float> x = kit::random_floats(n);
  for (int i = 0; i < n; i += 10) x[i] = 0;  // is added like any other
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto expect_atomics = [n](const char* name, const kit::Run& run) {
    kit::budget(name, kit::ratio(static_cast<double>(run.counters().atomics_global), n),
                kit::at_least(1),
                "The header asks for one atomicAdd for each element, whose order shows in the sum",
                &kit::Counters::atomics_global);
  };
  const auto d_sum = kit::DeviceBuffer<float>::output(1, "float sum");
  const auto d_double = kit::DeviceBuffer<double>::output(1, "double sum");
  expect_atomics("atomics per element of the float sum",
                 kit::run([&] { launch_sum_float(d_x.get(), d_sum.get(), n); }));
  expect_atomics("atomics per element of the double sum",
                 kit::run([&] { launch_sum_double(d_x.get(), d_double.get(), n); }));
}

TEST(FloatAtomics, TheValueOfATotalIsExact) {
  RecordProperty("todo", 2);
  kit::for_each(
      "total", std::vector<long long>{1, -1, 0, (1ll << 40) + 1, -(3ll << 40) - 7, 1ll << 62},
      [](long long total) {
        double got = 0;
        kit::expect_host_code("value_of_total", [&] { got = value_of_total(total); });
        const double expected = total * kUnit;
        if (got == expected) return;
        char text[128];
        std::snprintf(text, sizeof text, "value_of_total is %.17g, expected %.17g.", got, expected);
        kit::fail(text);
      });
}

TEST(FloatAtomics, CountsInUnits) {
  RecordProperty("todo", 2);
  // One element: what to_units makes of it. Multiples of 2^-40, halves of them, and others.
  kit::for_each("x",
                std::vector<float>{1.0f, -1.0f, 0.5f, -0.3f, 0x1p-40f, -0x1p-40f, 0x1.8p-40f,
                                   -0x1.8p-40f, 0x1p-41f, 0.0f, 1e-20f},
                [](float x) { fixed_sum({x}); });
}

TEST(FloatAtomics, AddsUnits) {
  RecordProperty("todo", 3);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { fixed_sum(wide_floats(n)); });
  fixed_sum(kit::random_floats(10007, -1.0f, -0.5f));
}

// So many ones that a double has no digits left for the units beside them.
TEST(FloatAtomics, UnitsAreNotLostBesideManyOnes) {
  RecordProperty("todo", 3);
  std::vector<float> x(40'000, 1.0f);
  for (size_t i = 0; i < x.size(); i += 7) x[i] = 0x1p-40f;
  fixed_sum(x);
  for (float& value : x) value = -value;
  fixed_sum(x);
}

// Threads that share the largest array may have thousands of elements each, and a double no room
// for the units of 8,192 ones: the few small elements behind them are lost then.
TEST(FloatAtomics, AddsTheUnitsOfTheLargestArray) {
  RecordProperty("todo", 3);
  std::vector<float> x(1 << 22, 1.0f);
  std::fill(x.end() - 1000, x.end(), 0x1p-40f);
  fixed_sum(x,
            " 8,192 ones are 2^53 units. From there on a double holds even numbers only, so a sum "
            "of units in a double loses the last 1,000 elements, of one unit each: add integers.");
}

TEST(FloatAtomics, NothingAddsUpToZero) {
  RecordProperty("todo", 1);
  float_sum({});
  double_sum({});
  fixed_sum({});
}

TEST(FloatAtomics, OnlyTheLastBitsOfFloatsDependOnTheOrder) {
  RecordProperty("todo", 3);
  const std::vector<float> x = wide_floats(4096);
  std::set<float> floats;
  std::set<double> doubles;
  std::set<long long> totals;
  std::printf("4096 floats in 8 orders:\n  %-14s %-22s %s\n", "float", "double", "fixed point");
  for (const std::vector<float>& order : orders_of(x)) {
    const float in_float = float_sum(order);
    const double in_double = double_sum(order);
    const long long total = fixed_sum(order);
    std::printf("  %-14.9g %-22.17g %.17g\n", in_float, in_double, value_of_total(total));
    floats.insert(in_float);
    doubles.insert(in_double);
    totals.insert(total);
  }
  std::printf("  %zu different   %zu different           %zu\n", floats.size(), doubles.size(),
              totals.size());
  if (floats.size() == 1 || doubles.size() == 1) {
    kit::fail(
        "All 8 orders gave the same sum in float or in double. Additions one by one, as atomics "
        "make them, would not.");
  }
  if (totals.size() != 1) kit::fail("The sum in units of 2^-40 depends on the order.");
}

// The same elements at the same places: only the machine decides who comes first. Behind the 1 each
// 2^-25 is rounded away; before it they add up.
TEST(FloatAtomics, ABlockThatComesLateChangesAFloatSum) {
  RecordProperty("todo", 1);
  std::vector<float> x(4096, 0x1p-25f);
  x[0] = 1;
  std::set<float> floats;
  std::printf("1 and 4095 times 2^-25, blocks forward, reversed, in turns:\n");
  kit::for_each_block_order([&] {
    const float in_float = float_sum(x, 4096);  // each addition may round
    std::printf("  float %.9g, double %.9g, fixed point %.9g\n", in_float, double_sum(x),
                value_of_total(fixed_sum(x)));
    floats.insert(in_float);
  });
  if (kit::simulated() && floats.size() == 1) {
    kit::fail(
        "The float sum of 1 and 4095 times 2^-25 is the same in three orders of the blocks. With "
        "one atomicAdd for each thread's element it is 1 if block 0 comes first, and more if it "
        "comes last.");
  }
}

TEST(FloatAtomics, AddsInRegistersFirst) {
  RecordProperty("todo", 3);
  const int n = 1 << 14;
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_total = kit::DeviceBuffer<long long>::output(1, "total");
  const kit::Run run = kit::run([&] { launch_sum_fixed(d_x.get(), d_total.get(), n); });
  kit::budget(
      "atomics per element of the fixed-point sum",
      kit::ratio(static_cast<double>(run.counters().atomics_global), n), kit::at_most(0.25),
      "Integers may be added in any grouping: first in registers, then one atomic per thread",
      &kit::Counters::atomics_global);
}

// Tests of 04/09 reduction, atomic.
#include "09_reduction_atomic.h"

#include <cmath>
#include <future>
#include <thread>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/libraries/libraries.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

// The sum in double, and what rounding errors are proportional to.
struct Sum {
  double value = 0, scale = 0;
};
Sum sum_on_cpu(const std::vector<float>& x) {
  Sum sum;
  for (const float v : x) {
    sum.value += v;
    sum.scale += std::fabs(v);
  }
  return sum;
}

// The same of the n floats that a timed call was given, by all cores of the host.
Sum sum_on_cpu(const kit::SpeedBuffer<float>& x, size_t n) {
  const size_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<Sum>> futures;
  for (size_t part = 0; part < parts; ++part) {
    futures.push_back(std::async(std::launch::async, [&x, n, part, parts] {
      Sum sum;
      for (size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
        sum.value += x.at(i);
        sum.scale += std::fabs(x.at(i));
      }
      return sum;
    }));
  }
  Sum all;
  for (auto& future : futures) {
    const Sum sum = future.get();
    all.value += sum.value;
    all.scale += sum.scale;
  }
  return all;
}

constexpr double kUnits = 8;  // of 2^-24 of the sum of magnitudes

kit::Run check(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_sum = kit::DeviceBuffer<float>::output(1, "sum");
  const kit::Run run = kit::run([&] { launch_reduction_atomic(d_x.get(), d_sum.get(), n); });
  const Sum expected = sum_on_cpu(x);
  kit::expect_near_or_nan(d_sum, {expected.value}, kit::Tolerance::units(kUnits, {expected.scale}));
  return run;
}

}  // namespace

// Special elements: kit::kSpecialSums says what a sum makes of them.
TEST(ReductionAtomic, TheSumOfAnInfiniteElementIsInfinite) {
  RecordProperty("todo", 1);
  kit::for_each_special_sum(20003, [](const std::vector<float>& x) { check(x); });
}

TEST(ReductionAtomic, AddsUpOneBlock) {
  RecordProperty("todo", 1);
  // Small integers: every order of additions gives the exact sum.
  kit::for_each("n", std::vector<int>{2048, 1024, 512, 4096},
                [](int n) { check(kit::random_integer_floats(n)); });
}

TEST(ReductionAtomic, CoversSizesThatAreNotMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(kit::random_floats(n)); });
}

TEST(ReductionAtomic, AddsUpManyBlocks) {
  RecordProperty("todo", 3);
  check(kit::random_integer_floats(100003));
  check(kit::random_floats(kit::work_scale(200000, 1 << 26)));
}

// A volatile load and a volatile store are no race, and still two steps: what another block adds
// between them is lost.
TEST(ReductionAtomic, LosesNothingWhenBlocksTakeTurns) {
  RecordProperty("todo", 3);
  kit::in_block_order(kit::BlockOrder::kTurns, [] { check(kit::random_integer_floats(400003)); });
}

TEST(ReductionAtomic, SumsOfOneSignAreRight) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{30000, 1025},
                [](int n) { check(kit::random_floats(n, 0.5f, 1.0f)); });
}

TEST(ReductionAtomic, NothingAddsUpToZeroInEveryCall) {
  RecordProperty("todo", 3);
  check({});
  const auto d_x = kit::DeviceBuffer<float>::input(std::vector<float>(100, 0.25f), "x");
  const auto d_sum = kit::DeviceBuffer<float>::inout({7.0f}, "sum");
  kit::for_each("call", std::vector<int>{1, 2}, [&](int) {
    kit::run([&] { launch_reduction_atomic(d_x.get(), d_sum.get(), 100); });
    kit::expect_equal(d_sum, std::vector<float>{25.0f});
  });
}

TEST(ReductionAtomic, KeepsToItsBudgets) {
  RecordProperty("todo", 1);
  const int n = 1 << 18;
  const kit::Run run = check(kit::random_floats(n));
  const kit::Counters& c = run.counters();
  double warps = 0;
  for (const kit::Launch& launch : run.launches()) {
    warps += static_cast<double>(launch.blocks()) *
             ((launch.block[0] * launch.block[1] * launch.block[2] + 31) / 32);
  }
  kit::budget("bytes loaded per element", kit::ratio(static_cast<double>(c.global_load_bytes), n),
              kit::at_most(4.2),
              "Each float has to be read once; sums stay in registers and shared memory",
              &kit::Counters::global_load_bytes);
  kit::budget("barriers per block", kit::ratio(static_cast<double>(c.barriers), warps),
              kit::at_most(2),
              "Each barrier waits for the slowest warp; within a warp warp_sum() needs none",
              &kit::Counters::barriers);
  kit::budget("atomics per block",
              kit::ratio(static_cast<double>(c.atomics_global), static_cast<double>(c.blocks)),
              kit::at_most(1), "All blocks add to one word, one after the other",
              &kit::Counters::atomics_global);
}

// The sum of a few blocks is none; what they read and how many there are is looked at.
TEST(ReductionAtomic, ReachesTheEndsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 3", [] {
    const int n = (1 << 30) - 3;
    const auto x = kit::large_integers(n, "x");
    const auto sum = kit::DeviceBuffer<float>::output(1, "sum");
    kit::run([&] { launch_reduction_atomic(x.get(), sum.get(), n); });
  });
}

TEST(ReductionAtomic, IsFast) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 21, 1 << 28);
  kit::Speed speed;
  const auto x = speed.input<float>(n, "x");
  const auto sum = speed.output<float>(1, "sum");
  speed.bytes(4.0 * n).flops(1.0 * n).slice(8);
  speed.launch([&] { launch_reduction_atomic(x.get(), sum.get(), n); });
  speed.expect(
      sum,
      [&](size_t) {
        const Sum expected = sum_on_cpu(x, n);
        return kit::Expected(expected.value, expected.scale);
      },
      kit::Tolerance::units(kUnits));
  speed.against(kit::library("CUB DeviceReduce::Sum", kit::cub(),
                             [&] { kit::cub_sum(x.get(), sum.get(), n); }),
                kit::Bars(0.50, 0.92, 1.00));
  speed.against(kit::read_rate(), kit::Bars(0.45));
  speed.grade();
}

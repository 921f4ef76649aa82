// Tests of 04/10 last block.
#include "10_last_block.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/notes.h"
#include "kit/same_bits.h"
#include "kit/special_values.h"

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

// What the launcher works with; several sums can use the same.
struct Workspace {
  kit::DeviceBuffer<float> partial = kit::DeviceBuffer<float>::output(kMostBlocks, "partial");
  kit::DeviceBuffer<unsigned> arrived = kit::DeviceBuffer<unsigned>::inout({0u}, "arrived");
};

kit::Run check(const std::vector<float>& x, const Workspace& space = Workspace()) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_sum = kit::DeviceBuffer<float>::output(1, "sum");
  const kit::Run run = kit::run([&] {
    launch_sum_last_block(d_x.get(), d_sum.get(), space.partial.get(), space.arrived.get(), n);
    kit::expect_no_note("missing-acquire-fence");
  });
  const Sum expected = sum_on_cpu(x);
  kit::expect_near_or_nan(d_sum, {expected.value}, kit::Tolerance::units(8, {expected.scale}));
  return run;
}

}  // namespace

TEST(LastBlock, AddsUpOneBlock) {
  RecordProperty("todo", 3);
  // A single block is its own last one.
  kit::for_each("n", std::vector<int>{1000, 256, 33, 1},
                [](int n) { check(kit::random_integer_floats(n)); });
}

TEST(LastBlock, AddsUpManyBlocks) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{5000, 1025, 100003},
                [](int n) { check(kit::random_integer_floats(n)); });
}

TEST(LastBlock, CoversSizesThatAreNotMultiples) {
  RecordProperty("todo", 3);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(kit::random_floats(n)); });
}

TEST(LastBlock, AddsUpMorePartialSumsThanThreads) {
  RecordProperty("todo", 3);
  // A block for each 1024 floats or fewer would be more than there is room for.
  const kit::Run run = check(kit::random_integer_floats(kit::work_scale(1'100'003, 1 << 26)));
  if (!run.ok()) return;
  kit::budget("blocks", static_cast<double>(run.counters().blocks), kit::at_most(kMostBlocks),
              "The caller has room for kMostBlocks partial sums: a larger sum needs a loop");
}

// The sum of a few blocks is none; what they read and where they leave their partial sums is looked
// at.
TEST(LastBlock, HasAPlaceForEveryPartialSumOfTheLargestArray) {
  RecordProperty("todo", 3);
  kit::at_largest("n = 2^30 - 3", [] {
    const int n = (1 << 30) - 3;
    const auto x = kit::large_integers(n, "x");
    const auto sum = kit::DeviceBuffer<float>::output(1, "sum");
    const auto partial =
        kit::DeviceBuffer<float>::inout(std::vector<float>(kMostBlocks, 0.0f), "partial");
    const auto arrived = kit::DeviceBuffer<unsigned>::inout({0u}, "arrived");
    kit::run([&] { launch_sum_last_block(x.get(), sum.get(), partial.get(), arrived.get(), n); });
  });
}

// Special elements: kit::kSpecialSums says what a sum makes of them.
TEST(LastBlock, TheSumOfAnInfiniteElementIsInfinite) {
  RecordProperty("todo", 3);
  kit::for_each_special_sum(9003, [](const std::vector<float>& x) { check(x); });
}

TEST(LastBlock, NothingAddsUpToZero) {
  RecordProperty("todo", 3);
  check({});
}

TEST(LastBlock, TheCounterIsReadyForTheNextCall) {
  RecordProperty("todo", 2);
  const Workspace space;
  kit::for_each("n", std::vector<int>{9000, 300, 20000}, [&](int n) {
    check(kit::random_integer_floats(n), space);
    kit::expect_equal(space.arrived, std::vector<unsigned>{0u});
  });
}

TEST(LastBlock, GivesTheSameBitsInEveryCall) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{50000, 20011, 9000}, [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const Workspace space;
    // Another block is the last one in each order.
    kit::expect_same_bits("sum", [&] {
      const auto d_sum = kit::DeviceBuffer<float>::output(1, "sum");
      kit::run([&] {
        launch_sum_last_block(d_x.get(), d_sum.get(), space.partial.get(), space.arrived.get(), n);
      });
      return d_sum.download();
    });
  });
}

TEST(LastBlock, NeedsOneLaunch) {
  RecordProperty("todo", 3);
  const kit::Run run = check(kit::random_floats(20000));
  kit::budget("kernel launches", static_cast<double>(run.counters().launches), kit::at_most(1),
              "The last block finishes what a second launch would be for");
  kit::budget("atomics per block",
              kit::ratio(static_cast<double>(run.counters().atomics_global),
                         static_cast<double>(run.counters().blocks)),
              kit::at_most(1), "A block has to be counted once; the sums need no atomic",
              &kit::Counters::atomics_global);
}

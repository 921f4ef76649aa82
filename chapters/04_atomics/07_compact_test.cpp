// Tests of 04/07 compact.
#include "07_compact.h"

#include <algorithm>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// The elements greater than 0, in order of size: the order in memory is free.
std::vector<float> compact_on_cpu(const std::vector<float>& x) {
  std::vector<float> kept;
  std::copy_if(x.begin(), x.end(), std::back_inserter(kept), [](float v) { return v > 0.0f; });
  std::sort(kept.begin(), kept.end());
  return kept;
}

// n values of which about share * n are greater than 0.
std::vector<float> values_with(int n, float share) {
  return kit::random_floats(n, share - 1.0f, share);
}

kit::Run check(const std::vector<float>& x, kit::Placement placement = kit::Placement::kMiddle) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_kept = kit::DeviceBuffer<float>::output(n, "kept", placement);
  const auto d_count = kit::DeviceBuffer<int>::output(1, "count");
  const kit::Run run = kit::run([&] { launch_compact(d_x.get(), d_kept.get(), d_count.get(), n); });
  const std::vector<float> expected = compact_on_cpu(x);
  const int count = static_cast<int>(expected.size());
  if (!kit::expect_equal(d_count, std::vector<int>{count})) return run;
  std::vector<uint8_t> written;
  std::vector<float> kept = d_kept.download(&written);
  for (int k = 0; k < n && kit::simulated(); ++k) {
    if ((written[k] != 0) == (k < count)) continue;
    kit::fail("count is " + std::to_string(count) + ", but kept[" + std::to_string(k) + "] was " +
              (k < count ? "never written: there is a gap, so two values went to one place."
                         : "written: it lies past the end of what is kept."));
    return run;
  }
  kept.resize(count);
  std::sort(kept.begin(), kept.end());
  kit::expect_equal("kept, sorted", kept, expected);
  return run;
}

}  // namespace

TEST(Compact, KeepsAboutHalf) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{32, 256, 1024}, [](int n) { check(values_with(n, 0.5f)); });
}

TEST(Compact, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(values_with(n, 0.3f)); });
}

TEST(Compact, KeepsAllOrNothing) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{32, 1000, 33}, [](int n) {
    check(kit::random_floats(n, 0.5f, 1.0f));
    check(kit::random_floats(n, -1.0f, -0.5f));
    check(std::vector<float>(n, 0.0f));  // 0 is not greater than 0
  });
}

TEST(Compact, AsksWhetherAValueIsGreaterThanZero) {
  RecordProperty("todo", 1);
  // Infinities, both zeros, the smallest floats, and NaN, which is greater than nothing.
  check(kit::special_floats_and_nans(1000));
}

TEST(Compact, LosesNothingWhenBlocksTakeTurns) {
  RecordProperty("todo", 1);
  kit::in_block_order(kit::BlockOrder::kTurns, [] { check(values_with(100000, 0.5f)); });
}

TEST(Compact, StaysInsideItsArrays) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1025, 31, 1},
                [](int n) { check(kit::random_floats(n, 0.5f, 1.0f), kit::Placement::kAtEnd); });
}

TEST(Compact, CountsFromZeroInEveryCall) {
  RecordProperty("todo", 2);
  const std::vector<float> x = values_with(500, 0.5f);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_kept = kit::DeviceBuffer<float>::output(500, "kept");
  const auto d_count = kit::DeviceBuffer<int>::inout({0}, "count");
  const int expected = static_cast<int>(compact_on_cpu(x).size());
  kit::for_each("call", std::vector<int>{1, 2}, [&](int) {
    kit::run([&] { launch_compact(d_x.get(), d_kept.get(), d_count.get(), 500); });
    kit::expect_equal(d_count, std::vector<int>{expected});
  });
}

TEST(Compact, KeepsNothingOfNothing) {
  RecordProperty("todo", 2);
  check({});
}

TEST(Compact, AsksOncePerWarp) {
  RecordProperty("todo", 1);
  const int n = 8192;
  const kit::Run run = check(values_with(n, 0.5f));
  kit::budget(
      "atomics per warp", kit::ratio(static_cast<double>(run.counters().atomics_global), n / 32),
      kit::at_most(1), "One lane can ask for the places of all 32", &kit::Counters::atomics_global);
}

TEST(Compact, AWarpThatKeepsNothingDoesNotAsk) {
  RecordProperty("todo", 1);
  // One warp in eight has something to keep.
  std::vector<float> x(8192, -1.0f);
  for (size_t i = 0; i < x.size(); i += 256) x[i + 40] = 1.0f;
  const kit::Run run = check(x);
  kit::budget("atomics per warp that keeps something",
              kit::ratio(static_cast<double>(run.counters().atomics_global), 8192 / 256),
              kit::at_most(1), "To ask for 0 places is to queue for nothing",
              &kit::Counters::atomics_global);
}

// The result of a few blocks is none; what they read and how many there are is looked at.
TEST(Compact, ReachesTheEndsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 3", [] {
    const int n = (1 << 30) - 3;
    const auto x = kit::large_floats(n, "x");
    const auto kept = kit::LargeArray<float>::output(n, "kept");
    const auto count = kit::DeviceBuffer<int>::output(1, "count");
    kit::run([&] { launch_compact(x.get(), kept.get(), count.get(), n); });
  });
}

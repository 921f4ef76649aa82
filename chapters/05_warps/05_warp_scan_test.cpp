// Tests of 05/05 warp scan.
#include "05_warp_scan.h"

#include "05_warps/test/scan.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

enum class Look { kInclusive, kExclusive };

kit::Run check(kit::Shape shape, const std::vector<float>& x, Look look) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_inclusive =
      kit::DeviceBuffer<float>::output(x.size(), "inclusive", kit::Placement::kAtEnd);
  const auto d_exclusive =
      kit::DeviceBuffer<float>::output(x.size(), "exclusive", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] {
    launch_scan_rows(d_x.get(), d_inclusive.get(), d_exclusive.get(), shape.rows, shape.cols);
  });
  const kit::Scan scan = kit::scan_on_cpu(x, shape);
  if (look == Look::kInclusive) {
    kit::expect_near_or_nan(d_inclusive, scan.inclusive, kit::Tolerance::units(8, scan.scale),
                            shape);
  } else {
    kit::expect_near_or_nan(d_exclusive, scan.exclusive,
                            kit::Tolerance::units(8, scan.exclusive_scale), shape);
  }
  return run;
}

kit::Run check(kit::Shape shape, Look look) {
  return check(shape, kit::random_floats(shape.size()), look);
}

std::vector<kit::Shape> one_chunk() { return {{1, 32}, {9, 32}, {3, 31}, {5, 7}, {2, 1}}; }
std::vector<kit::Shape> several_chunks() { return {{1, 64}, {9, 65}, {2, 1000}, {17, 33}}; }

}  // namespace

TEST(WarpScan, AddsWhatTheLanesBelowHold) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", one_chunk(),
                [](kit::Shape shape) { check(shape, Look::kInclusive); });
}

TEST(WarpScan, LeavesTheOwnValueOut) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", one_chunk(),
                [](kit::Shape shape) { check(shape, Look::kExclusive); });
}

TEST(WarpScan, ALargeValueDoesNotSpoilTheSumBeforeIt) {
  RecordProperty("todo", 2);
  // 1e8 - own value loses the digits of the small ones; a shift keeps them.
  std::vector<float> x = kit::random_floats(32);
  x[20] = 1e8f;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_inclusive = kit::DeviceBuffer<float>::output(32, "inclusive");
  const auto d_exclusive = kit::DeviceBuffer<float>::output(32, "exclusive");
  kit::run([&] { launch_scan_rows(d_x.get(), d_inclusive.get(), d_exclusive.get(), 1, 32); });
  const kit::Scan scan = kit::scan_on_cpu(x, {1, 32});
  std::vector<double> scale;  // of the values before, without the own one
  for (int i = 0; i < 32; ++i) scale.push_back(scan.scale[i] - std::fabs(x[i]));
  kit::expect_near(d_exclusive, scan.exclusive, kit::Tolerance::units(8, scale));
}

// Special elements: kit::kSpecialSums says what sums make of them, and what lies before them is as
// it was; so are other rows.
TEST(WarpScan, AnInfiniteElementReachesThoseBehindIt) {
  RecordProperty("todo", 2);
  kit::for_each_special_sum(5 * 70, [](const std::vector<float>& x) {
    check({5, 70}, x, Look::kInclusive);
    check({5, 70}, x, Look::kExclusive);
  });
}

TEST(WarpScan, NothingLiesBeforeTheFirst) {
  RecordProperty("todo", 2);
  // Before an infinite value there is 0, and not 0 times that value.
  std::vector<float> x = kit::random_floats(70);
  x[0] = INFINITY;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_inclusive = kit::DeviceBuffer<float>::output(70, "inclusive");
  const auto d_exclusive = kit::DeviceBuffer<float>::output(70, "exclusive");
  kit::run([&] { launch_scan_rows(d_x.get(), d_inclusive.get(), d_exclusive.get(), 1, 70); });
  const kit::Scan scan = kit::scan_on_cpu(x, {1, 70});
  kit::expect_nans("inclusive", d_inclusive.download(), scan.inclusive);
  kit::expect_nans("exclusive", d_exclusive.download(), scan.exclusive);
}

TEST(WarpScan, CarriesTheSumFromChunkToChunk) {
  RecordProperty("todo", 3);
  kit::for_each("rows x cols", several_chunks(), [](kit::Shape shape) {
    check(shape, Look::kInclusive);
    check(shape, Look::kExclusive);
  });
}

TEST(WarpScan, TakesManyRowsAndLongOnes) {
  RecordProperty("todo", 3);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{33'001, 1}, {1, 33'001}},
                [](kit::Shape shape) { check(shape, Look::kInclusive); });
}

TEST(WarpScan, AcceptsNoRows) {
  RecordProperty("todo", 1);
  check({0, 32}, Look::kInclusive);
  check({1, 32}, Look::kInclusive);  // the same launcher must work when there is a row
}

TEST(WarpScan, FiveStepsInRegisters) {
  RecordProperty("todo", 1);
  const kit::Shape shape(32, 256);
  const kit::Run run = check(shape, Look::kInclusive);
  const kit::Counters& c = run.counters();
  kit::budget("shared-memory requests",
              static_cast<double>(c.shared_load_requests + c.shared_store_requests),
              kit::at_most(0), "A shuffle reads another lane's register without any memory",
              &kit::Counters::shared_load_requests);
  kit::budget("instructions of a warp for 32 elements", kit::ratio(c.warp_instructions, 32 * 8),
              kit::at_most(90), "Each step doubles the lanes that a sum covers: five are enough",
              &kit::Counters::warp_instructions);
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(c.global_load_bytes), shape.size()), kit::at_most(4),
              "Each element is read once, by one lane", &kit::Counters::global_load_bytes);
}

TEST(WarpScan, TakesTheLargestMatrices) {
  RecordProperty("todo", 1);
  kit::at_largest("2^26 rows of 33", [] {
    const int rows = 1 << 26, cols = 33;
    const size_t n = size_t{1} * rows * cols;
    const auto x = kit::large_integers(n, "x");
    const auto inclusive = kit::LargeArray<float>::output(n, "inclusive");
    const auto exclusive = kit::LargeArray<float>::output(n, "exclusive");
    kit::run([&] { launch_scan_rows(x.get(), inclusive.get(), exclusive.get(), rows, cols); });
    const auto sum_before = [&](size_t i) {
      float sum = 0;
      for (size_t k = i / cols * cols; k < i; ++k) sum += x.at(k);
      return sum;
    };
    kit::expect_at_ends(inclusive, [&](size_t i) { return sum_before(i) + x.at(i); });
    kit::expect_at_ends(exclusive, sum_before);
  });
}

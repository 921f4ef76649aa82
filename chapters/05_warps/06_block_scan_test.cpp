// Tests of 05/06 block scan.
#include "06_block_scan.h"

#include "05_warps/test/scan.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

kit::Run check(kit::Shape shape, const std::vector<float>& x) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_block_scan(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  const kit::Scan expected = kit::scan_on_cpu(x, shape);
  kit::expect_near_or_nan(d_y, expected.inclusive, kit::Tolerance::units(8, expected.scale), shape);
  return run;
}

kit::Run check(kit::Shape shape) { return check(shape, kit::random_floats(shape.size())); }

}  // namespace

TEST(BlockScan, ScansOneWarp) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 32}, {3, 31}, {2, 2}, {5, 1}},
                [](kit::Shape shape) { check(shape); });
}

// Special elements: kit::kSpecialSums says what sums make of them, and what lies before them is as
// it was; so is the other row.
TEST(BlockScan, AnInfiniteElementReachesThoseBehindIt) {
  RecordProperty("todo", 2);
  kit::for_each_special_sum(2 * 1031, [](const std::vector<float>& x) { check({2, 1031}, x); });
}

TEST(BlockScan, AddsTheWarpsBefore) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 256}, {3, 255}, {7, 33}, {2, 100}},
                [](kit::Shape shape) { check(shape); });
}

TEST(BlockScan, CarriesTheSumFromChunkToChunk) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{{1, 512}, {3, 257}, {2, 1031}, {1, 5000}, {5, 767}},
                [](kit::Shape shape) { check(shape); });
}

TEST(BlockScan, TakesManyRowsAndLongOnes) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{2053, 2}, {1, 70'001}},
                [](kit::Shape shape) { check(shape); });
}

TEST(BlockScan, AcceptsNoRows) {
  RecordProperty("todo", 1);
  check({0, 32});
  check({1, 32});  // the same launcher must work when there is a row
}

TEST(BlockScan, LeavesMostOfTheWorkInRegisters) {
  RecordProperty("todo", 1);
  const kit::Shape shape(16, 1024);
  const kit::Run run = check(shape);
  const kit::Counters& c = run.counters();
  const double chunks = 16 * 4.0;  // of 256 elements
  kit::budget("barriers per chunk and warp", kit::ratio(c.barriers, chunks * 8), kit::at_most(3.5),
              "Totals there, totals scanned, totals read: three meetings",
              &kit::Counters::barriers);
  kit::budget(
      "shared-memory requests per chunk",
      kit::ratio(static_cast<double>(c.shared_load_requests + c.shared_store_requests), chunks),
      kit::at_most(32), "Of 32 values only their sum has to leave the warp",
      &kit::Counters::shared_load_requests);
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(c.global_load_bytes), shape.size()), kit::at_most(4),
              "Each element is read once, by one thread", &kit::Counters::global_load_bytes);
}

TEST(BlockScan, TakesTheLargestMatrices) {
  RecordProperty("todo", 1);
  kit::at_largest("2^24 rows of 129", [] {
    const int rows = 1 << 24, cols = 129;
    const auto x = kit::large_integers(size_t{1} * rows * cols, "x");
    const auto y = kit::LargeArray<float>::output(size_t{1} * rows * cols, "y");
    kit::run([&] { launch_block_scan(x.get(), y.get(), rows, cols); });
    kit::expect_at_ends(y, [&](size_t i) {
      float sum = 0;
      for (size_t k = i / cols * cols; k <= i; ++k) sum += x.at(k);
      return sum;
    });
  });
}

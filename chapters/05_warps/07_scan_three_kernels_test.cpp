// Tests of 05/07 scan in three kernels.
#include "07_scan_three_kernels.h"

#include "05_warps/test/scan.h"
#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

kit::Run check(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", kit::Placement::kAtEnd);
  const auto d_totals = kit::DeviceBuffer<float>::output(scan_totals_size(n), "totals");
  const kit::Run run =
      kit::run([&] { launch_scan_three_kernels(d_x.get(), d_y.get(), d_totals.get(), n); });
  const kit::Scan expected = kit::scan_on_cpu(x);
  kit::expect_near_or_nan(d_y, expected.inclusive, kit::Tolerance::units(8, expected.scale));
  return run;
}

// Small integers: every order of the sums is exact, so a missing or doubled element shows.
kit::Run check_exactly(int n) { return check(kit::random_integer_floats(n)); }

}  // namespace

TEST(ScanThreeKernels, ScansOneTile) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{256, 1024, 1, 31, 257, 1000},
                [](int n) { check_exactly(n); });
}

// Special elements: kit::kSpecialSums says what sums make of them, and what lies before them is as
// it was.
TEST(ScanThreeKernels, AnInfiniteElementReachesThoseBehindIt) {
  RecordProperty("todo", 3);
  kit::for_each_special_sum(20003, [](const std::vector<float>& x) { check(x); });
}

TEST(ScanThreeKernels, AddsTheTileBefore) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{4096, 4095, 2049, 3000}, [](int n) { check_exactly(n); });
}

TEST(ScanThreeKernels, AddsAllTilesBefore) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{65536, 65537, 100003}, [](int n) { check_exactly(n); });
}

// More tiles than a block has threads, unless tiles are very long.
TEST(ScanThreeKernels, ScansMoreTotalsThanABlockHasThreads) {
  RecordProperty("todo", 2);
  check_exactly(kit::work_scale(2'100'001, 60'000'001));
}

TEST(ScanThreeKernels, KeepsTheDigitsOfLongSums) {
  RecordProperty("todo", 3);
  check(kit::random_floats(kit::work_scale(100000, 20000003), -0.5f, 1.0f));
}

// What lies behind an element is no part of its sum, and takes no digits from it either.
TEST(ScanThreeKernels, ALargeElementCostsThoseBeforeItNothing) {
  RecordProperty("todo", 2);
  constexpr int kCount = 1 << 14, kLarge = (1 << 13) - 1;
  std::vector<float> x = kit::random_floats(kCount, 0.5f, 1.0f);
  x[kLarge] = 1e10f;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(kCount, "y");
  const auto d_totals = kit::DeviceBuffer<float>::output(scan_totals_size(kCount), "totals");
  kit::run([&] { launch_scan_three_kernels(d_x.get(), d_y.get(), d_totals.get(), kCount); });
  kit::Scan expected = kit::scan_on_cpu(x);
  std::vector<float> y = d_y.download();
  // How the block scan of a chunk adds is another exercise's affair.
  constexpr int kLooked = kLarge - 1023;
  y.resize(kLooked);
  expected.inclusive.resize(kLooked);
  expected.scale.resize(kLooked);
  kit::expect_near("y", y, expected.inclusive, kit::Tolerance::units(8, expected.scale));
}

TEST(ScanThreeKernels, AcceptsNoElements) {
  RecordProperty("todo", 3);
  check({});
  check_exactly(1);  // the same launcher must work when there is an element
}

TEST(ScanThreeKernels, MovesTwelveBytesPerElement) {
  RecordProperty("todo", 3);
  const int n = kit::work_scale(1 << 18, 1 << 24);
  const kit::Counters c = check(kit::random_floats(n)).counters();
  // A word that all lanes of a warp read counts once.
  kit::budget("bytes moved per element",
              kit::ratio(static_cast<double>(c.global_load_unique_bytes + c.global_store_bytes), n),
              kit::at_most(12.2), "Two readings of x and one writing of y, 4 bytes each",
              &kit::Counters::global_load_unique_bytes);
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(4),
              "Tiles of one launch run side by side; a launch per tile makes each wait for the one "
              "before");
}

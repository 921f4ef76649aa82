// Tests of 05/09 device scan.
#include "09_device_scan.h"

#include "05_warps/test/scan.h"
#include "kit/kit.h"
#include "kit/libraries/libraries.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

kit::Run check(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  // At the end of an allocation, unless that would take away the alignment that is promised.
  const auto placement = n % 4 == 0 ? kit::Placement::kAtEnd : kit::Placement::kMiddle;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", placement);
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(scan_workspace_words(n), "workspace");
  const kit::Run run =
      kit::run([&] { launch_device_scan(d_x.get(), d_y.get(), d_workspace.get(), n); });
  const kit::Scan expected = kit::scan_on_cpu(x);
  kit::expect_near_or_nan(d_y, expected.inclusive, kit::Tolerance::units(8, expected.scale));
  return run;
}

// Small integers: every order of the sums is exact, so a missing or doubled element shows.
kit::Run check_exactly(int n) { return check(kit::random_integer_floats(n)); }

}  // namespace

TEST(DeviceScan, ScansWhatOneWarpHolds) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{128, 1024, 4, 3, 1, 127, 1000},
                [](int n) { check_exactly(n); });
}

// Special elements: kit::kSpecialSums says what sums make of them, and what lies before them is as
// it was.
TEST(DeviceScan, AnInfiniteElementReachesThoseBehindIt) {
  RecordProperty("todo", 3);
  kit::for_each_special_sum(100003, [](const std::vector<float>& x) { check(x); });
}

TEST(DeviceScan, ScansOneTile) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{2048, 1025, 8192, 10007}, [](int n) { check_exactly(n); });
}

TEST(DeviceScan, AddsTheTilesBefore) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{65536, 65537, 100003, 32769},
                [](int n) { check_exactly(n); });
}

// Where blocks run one after the other, each finds the prefix of the tile before. Where they take
// turns, it finds totals as well.
TEST(DeviceScan, DoesNotDependOnWhichBlockIsEarly) {
  RecordProperty("todo", 2);
  kit::for_each_block_order([] { check_exactly(200003); });
}

TEST(DeviceScan, KeepsTheDigitsOfLongSums) {
  RecordProperty("todo", 2);
  check(kit::random_floats(kit::work_scale(100000, 20000003), -0.5f, 1.0f));
}

TEST(DeviceScan, IsRightTwiceInARow) {
  RecordProperty("todo", 3);
  const int n = 70001;
  const std::vector<float> first = kit::random_integer_floats(n), x = kit::random_integer_floats(n);
  const auto d_first = kit::DeviceBuffer<float>::input(first, "first x");
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(scan_workspace_words(n), "workspace");
  // The second scan finds what the first has left in the workspace.
  kit::run([&] {
    launch_device_scan(d_first.get(), d_y.get(), d_workspace.get(), n);
    launch_device_scan(d_x.get(), d_y.get(), d_workspace.get(), n);
  });
  kit::expect_near(d_y, kit::scan_on_cpu(x).inclusive, kit::Tolerance::absolute(0));
}

TEST(DeviceScan, AcceptsNoElements) {
  RecordProperty("todo", 3);
  check({});
  check_exactly(1);  // the same launcher must work when there is an element
}

TEST(DeviceScan, MovesFourTimesTheArrayAtMost) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 18, 1 << 24);
  const kit::Counters c = check(kit::random_floats(n)).counters();
  kit::budget("bytes moved per element",
              kit::ratio(static_cast<double>(c.global_load_bytes + c.global_store_bytes), n),
              kit::at_most(16.4),
              "Three kernels read twice and write once, one kernel reads once and writes once",
              &kit::Counters::global_load_bytes);
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(4),
              "Tiles of one launch run side by side; a launch per tile makes each wait for the one "
              "before");
}

TEST(DeviceScan, IsFast) {
  RecordProperty("todo", 2);
  const int n = kit::work_scale(1 << 17, 1 << 28);
  kit::Speed speed;
  // Sums of small integers are exact: any mistake in any tile shows.
  const auto x = speed.input<float>(n, "x", kit::Values::integers(-8, 8));
  const auto y = speed.output<float>(n, "y");
  const auto workspace = speed.output<int>(2 * scan_workspace_words(n), "workspace");
  const auto words = [&] { return reinterpret_cast<unsigned long long*>(workspace.get()); };
  speed.bytes(8.0 * n).flops(1.0 * n).slice(16);
  speed.launch([&] { launch_device_scan(x.get(), y.get(), words(), n); });
  size_t summed = 0;  // elements of x in `sum`; positions are asked for in rising order
  double sum = 0;
  speed.expect(
      y,
      [&](size_t i) {
        if (i == 0) summed = 0, sum = 0;
        for (; summed <= i; ++summed) sum += x.at(summed);
        return kit::Expected(sum);
      },
      kit::Tolerance::absolute(0));
  speed.against(kit::library("CUB DeviceScan::InclusiveSum", kit::cub(),
                             [&] { kit::cub_inclusive_sum(x.get(), y.get(), n); }),
                kit::Bars(0.25, 0.60, 1.00));
  // The model of time makes look-back wait far longer than a card does: no verdict without one.
  speed.against(kit::copy_rate().on_gpu_only(), kit::Bars(0.20));
  speed.grade();
}

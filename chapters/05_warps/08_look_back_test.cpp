// Tests of 05/08 look back.
#include "08_look_back.h"

#include "05_warps/test/scan.h"
#include "kit/kit.h"
#include "kit/special_values.h"

namespace {

kit::Run check(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", kit::Placement::kAtEnd);
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(look_back_words(n), "workspace");
  const kit::Run run =
      kit::run([&] { launch_look_back(d_x.get(), d_y.get(), d_workspace.get(), n); });
  const kit::Scan expected = kit::scan_on_cpu(x);
  kit::expect_near_or_nan(d_y, expected.inclusive, kit::Tolerance::units(8, expected.scale));
  return run;
}

// Small integers: every order of the sums is exact, so a missing or doubled element shows.
kit::Run check_exactly(int n) { return check(kit::random_integer_floats(n)); }

}  // namespace

TEST(LookBack, ScansOneTile) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1024, 256, 1, 31, 257, 1000},
                [](int n) { check_exactly(n); });
}

// Special elements: kit::kSpecialSums says what sums make of them, and what lies before them is as
// it was.
TEST(LookBack, AnInfiniteElementReachesThoseBehindIt) {
  RecordProperty("todo", 2);
  kit::for_each_special_sum(20003, [](const std::vector<float>& x) { check(x); });
}

TEST(LookBack, GivesEveryTileToABlock) {
  RecordProperty("todo", 1);
  // All zeros: y is right whatever look_back says, if every element belongs to a block.
  const std::vector<float> x(20000, 0.0f);
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(look_back_words(n), "workspace");
  kit::run([&] { launch_look_back(d_x.get(), d_y.get(), d_workspace.get(), n); });
  kit::expect_equal(d_y, x);
}

TEST(LookBack, AddsTheTilesBefore) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{2048, 2049, 3000, 10007, 40000},
                [](int n) { check_exactly(n); });
}

// Where blocks run one after the other, each finds the prefix of the tile before. Where they take
// turns, it finds totals as well. Where the last block runs first, blockIdx.x would wait for ever.
TEST(LookBack, DoesNotDependOnWhichBlockIsEarly) {
  RecordProperty("todo", 2);
  // More blocks than an H200 has room for.
  kit::for_each_block_order([] { check_exactly(300011); });
}

TEST(LookBack, KeepsTheDigitsOfLongSums) {
  RecordProperty("todo", 2);
  // A tile's prefix is one addition behind that of the tile before, so rounding grows with their
  // number. Twenty million elements were off by twice this tolerance on an H100.
  check(kit::random_floats(kit::work_scale(40000, 200003), -0.5f, 1.0f));
}

TEST(LookBack, IsRightTwiceInARow) {
  RecordProperty("todo", 1);
  const int n = 20001;
  const std::vector<float> first = kit::random_integer_floats(n), x = kit::random_integer_floats(n);
  const auto d_first = kit::DeviceBuffer<float>::input(first, "first x");
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y");
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(look_back_words(n), "workspace");
  // The second scan finds what the first has left in the workspace, and blocks that look before the
  // tile in front has spoken would believe it.
  kit::in_block_order(kit::BlockOrder::kTurns, [&] {
    kit::run([&] {
      launch_look_back(d_first.get(), d_y.get(), d_workspace.get(), n);
      launch_look_back(d_x.get(), d_y.get(), d_workspace.get(), n);
    });
  });
  kit::expect_near(d_y, kit::scan_on_cpu(x).inclusive, kit::Tolerance::absolute(0));
}

TEST(LookBack, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check({});
  check_exactly(1);  // the same launcher must work when there is an element
}

TEST(LookBack, ReadsOnceAndWritesOnce) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 17, 1 << 24);
  const kit::Counters c = check(kit::random_floats(n)).counters();
  kit::budget("bytes moved per element",
              kit::ratio(static_cast<double>(c.global_load_bytes + c.global_store_bytes), n),
              kit::at_most(10), "One reading of x, one writing of y; the states are short",
              &kit::Counters::global_load_bytes);
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(2),
              "The tiles meet in global memory, inside one kernel");
}

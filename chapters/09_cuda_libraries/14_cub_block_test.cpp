// Tests of 09/14 CUB in a block.
#include "14_cub_block.h"

#include <algorithm>
#include <climits>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// References: inclusive sums of each row, and the largest element of each.
std::vector<int> sums_on_cpu(const std::vector<int>& x, const kit::Shape& s) {
  std::vector<int> sums = x;
  for (int row = 0; row < s.rows; ++row) {
    for (int col = 1; col < s.cols; ++col) sums[row * s.cols + col] += sums[row * s.cols + col - 1];
  }
  return sums;
}
std::vector<int> largest_on_cpu(const std::vector<int>& x, const kit::Shape& s) {
  std::vector<int> largest;
  for (int row = 0; row < s.rows; ++row) {
    largest.push_back(*std::max_element(x.begin() + row * s.cols, x.begin() + (row + 1) * s.cols));
  }
  return largest;
}

enum class Result { kSums, kLargest, kBoth };

kit::Run check_values(const kit::Shape& s, Result result, const std::vector<int>& x) {
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_x = kit::DeviceBuffer<int>::input(x, "x", at_end);
  const auto d_sums = kit::DeviceBuffer<int>::output(s.size(), "sums", at_end);
  const auto d_largest = kit::DeviceBuffer<int>::output(s.rows, "largest", at_end);
  const kit::Run run =
      kit::run([&] { launch_row_sums(d_x.get(), d_sums.get(), d_largest.get(), s.rows, s.cols); });
  if (result != Result::kLargest) kit::expect_equal(d_sums, sums_on_cpu(x, s), s);
  if (result != Result::kSums) kit::expect_equal(d_largest, largest_on_cpu(x, s));
  return run;
}

kit::Run check(const kit::Shape& s, Result result, int low = -1000, int high = 1000) {
  return check_values(s, result, kit::random_ints(s.size(), low, high));
}

}  // namespace

TEST(CubBlock, LoadsATileAndItsTail) {
  RecordProperty("todo", 1);
  // Rows of one element, which is its own sum: nothing else has to be written for it.
  kit::for_each("x", std::vector<kit::Shape>{{1, 1}, {5, 1}, {40, 1}},
                [](const kit::Shape& s) { check(s, Result::kSums); });
}

TEST(CubBlock, SumsOverTheBlock) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<kit::Shape>{{3, 4}, {2, 3}, {2, 512}, {3, 31}, {2, 129}, {1, 511}},
                [](const kit::Shape& s) { check(s, Result::kSums); });
}

TEST(CubBlock, SumsGoOnFromTileToTile) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<kit::Shape>{{2, 513}, {1, 1024}, {3, 1700}},
                [](const kit::Shape& s) { check(s, Result::kSums); });
}

TEST(CubBlock, FindsTheLargestOfEachRow) {
  RecordProperty("todo", 2);
  kit::for_each("x", std::vector<kit::Shape>{{5, 1}, {3, 33}, {2, 512}, {2, 1100}, {40, 7}},
                [](const kit::Shape& s) { check(s, Result::kLargest); });
  check({4, 100}, Result::kBoth, -1000, -1);  // a tail of zeros would win
}

TEST(CubBlock, TakesEveryInt) {
  RecordProperty("todo", 2);
  // 2^24 + 1 is no float, and nothing is less than INT_MIN.
  check_values({5, 1}, Result::kBoth, {INT_MIN, INT_MAX, 16777217, -16777217, 0});
  check_values({2, 2}, Result::kBoth, {16777216, 16777217, INT_MIN, 0});
}

TEST(CubBlock, AsManyRowsAsAnIntCounts) {
  RecordProperty("todo", 1);
  kit::at_largest((1 << 30) + 77, [](int rows) {
    const auto d_x = kit::LargeArray<int>::input(rows, "x", kit::random_ints(kit::kPeriod, -9, 9));
    const auto d_sums = kit::LargeArray<int>::output(rows, "sums");
    const auto d_largest = kit::LargeArray<int>::output(rows, "largest");
    kit::run([&] { launch_row_sums(d_x.get(), d_sums.get(), d_largest.get(), rows, 1); });
    kit::expect_at_ends(d_sums, [&](size_t i) { return d_x.at(i); });
    kit::expect_at_ends(d_largest, [&](size_t i) { return d_x.at(i); });
  });
}

TEST(CubBlock, AcceptsNoRows) {
  RecordProperty("todo", 1);
  check({0, 5}, Result::kBoth);
  check({2, 5}, Result::kBoth);  // the same launcher must work here
}

TEST(CubBlock, LoadsNeighboursTogether) {
  RecordProperty("todo", 1);
  const kit::Run run = check({4, 1024}, Result::kBoth);
  kit::budget("sectors per request",
              kit::ratio(static_cast<double>(run.counters().global_load_sectors),
                         static_cast<double>(run.counters().global_load_requests)),
              kit::at_most(5),
              "A warp that loads 32 neighbours needs 4 sectors. With 4 items of a thread side by "
              "side they lie 16 bytes apart, unless the items are exchanged through shared memory",
              &kit::Counters::global_load_sectors);
}

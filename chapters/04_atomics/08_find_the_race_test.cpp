// Tests of 04/08 find the race.
#include "08_find_the_race.h"

#include <algorithm>
#include <climits>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"

namespace {

constexpr int kMostAddend = (1 << 30) - 1;  // an int holds the sum of two

// n elements; mirror(i) is the other end of the tile of i.
std::vector<int> mirrored_on_cpu(const std::vector<int>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<int> mirrored;
  for (int i = 0; i < n; ++i) {
    const int first = i / kTile * kTile;
    const int size = std::min(kTile, n - first);
    mirrored.push_back(x[first + size - 1 - (i - first)]);
  }
  return mirrored;
}

const char* name_of(Hazard hazard) {
  switch (hazard) {
    case Hazard::kReadTooEarly:
      return "kReadTooEarly";
    case Hazard::kWriteTooEarly:
      return "kWriteTooEarly";
    case Hazard::kLostUpdate:
      return "kLostUpdate";
    default:
      return "kUnanswered";
  }
}

void expect_answer(const char* kernel, Hazard answer, Hazard right, const char* question) {
  if (answer == right) return;
  kit::fail(std::string("The race of ") + kernel + ": your answer is " + name_of(answer) + ". " +
            question);
}

}  // namespace

TEST(FindTheRace, TilesAreReversed) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{128, 1000, 129, 32, 1, 0}, [](int n) {
    const std::vector<int> x = kit::random_ints(n, INT_MIN, INT_MAX);
    const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
    const auto d_out = kit::DeviceBuffer<int>::output(n, "out");
    kit::run([&] { launch_reverse_tiles(d_x.get(), d_out.get(), n); });
    kit::expect_equal(d_out, mirrored_on_cpu(x));
  });
}

TEST(FindTheRace, MirrorImagesAreAdded) {
  RecordProperty("todo", 2);
  // 3 blocks: each walks over several tiles.
  kit::for_each("n", std::vector<int>{1000, 2048, 129, 1, 0}, [](int n) {
    const std::vector<int> x = kit::random_ints(n, -kMostAddend, kMostAddend);
    std::vector<int> expected = mirrored_on_cpu(x);
    for (int i = 0; i < n; ++i) expected[i] += x[i];
    const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
    const auto d_out = kit::DeviceBuffer<int>::output(n, "out");
    const kit::Run run = kit::run([&] { launch_add_mirrored(d_x.get(), d_out.get(), n, 3); });
    kit::expect_equal(d_out, expected);
    kit::expect_at_most_blocks(run, 3);
  });
}

TEST(FindTheRace, ColumnsAreAdded) {
  RecordProperty("todo", 3);
  const std::vector<kit::Shape> shapes = {{20, 200}, {3, 129},    {64, 5},
                                          {1, 1},    {33'001, 1}, {1, 33'001}};
  kit::for_each("rows x cols", shapes, [](const kit::Shape& shape) {
    const int most = std::numeric_limits<int>::max() / shape.rows;
    const std::vector<int> x = kit::random_ints(shape.size(), -most, most);
    std::vector<int> sums(shape.cols, 0);
    for (size_t i = 0; i < x.size(); ++i) sums[i % shape.cols] += x[i];
    const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
    const auto d_sums = kit::DeviceBuffer<int>::output(shape.cols, "sums");
    kit::run([&] { launch_add_columns(d_x.get(), d_sums.get(), shape.rows, shape.cols); });
    kit::expect_equal(d_sums, sums);
  });
}

TEST(FindTheRace, AsFewBlocksAsTheCallerAllows) {
  RecordProperty("todo", 2);
  kit::for_each("max_blocks", std::vector<int>{1, 2, 7, 1000}, [](int max_blocks) {
    const std::vector<int> x = kit::random_ints(1000, -kMostAddend, kMostAddend);
    std::vector<int> expected = mirrored_on_cpu(x);
    for (size_t i = 0; i < x.size(); ++i) expected[i] += x[i];
    const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
    const auto d_out = kit::DeviceBuffer<int>::output(x.size(), "out");
    const kit::Run run =
        kit::run([&] { launch_add_mirrored(d_x.get(), d_out.get(), 1000, max_blocks); });
    kit::expect_equal(d_out, expected);
    kit::expect_at_most_blocks(run, max_blocks);
  });
}

// A volatile load and a volatile store are no race, and still two steps.
TEST(FindTheRace, ColumnsAreAddedWhenBlocksTakeTurns) {
  RecordProperty("todo", 3);
  const kit::Shape shape(40, 130);
  const std::vector<int> x = kit::random_ints(shape.size(), 1, 1000);
  std::vector<int> sums(shape.cols, 0);
  for (size_t i = 0; i < x.size(); ++i) sums[i % shape.cols] += x[i];
  kit::for_each_block_order([&] {
    const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
    const auto d_sums = kit::DeviceBuffer<int>::output(shape.cols, "sums");
    kit::run([&] { launch_add_columns(d_x.get(), d_sums.get(), shape.rows, shape.cols); });
    kit::expect_equal(d_sums, sums);
  });
}

TEST(FindTheRace, TheReportsAreRead) {
  RecordProperty("todo", 4);
  expect_answer("reverse_tiles", hazard_of_reverse_tiles(), Hazard::kReadTooEarly,
                "Each thread stores one element of the tile and reads another one, once. What does "
                "a fast warp find there?");
  expect_answer("add_mirrored", hazard_of_add_mirrored(), Hazard::kWriteTooEarly,
                "Of the two lines in the report, which comes later in the loop, and in which round "
                "is the other thread?");
  expect_answer("add_columns", hazard_of_add_columns(), Hazard::kLostUpdate,
                "Both threads are at the same line. How many steps is `+=`?");
}

TEST(FindTheRace, TakesLongArrays) {
  RecordProperty("todo", 1);
  const auto check_large = [](bool adds, int max_blocks) {
    const int n = (1 << 30) - 50;
    const auto x = kit::LargeArray<int>::input(n, "x", kit::random_ints(kit::kPeriod, 0, 99));
    const auto out = kit::LargeArray<int>::output(n, "out");
    kit::run([&] {
      if (adds) {
        launch_add_mirrored(x.get(), out.get(), n, max_blocks);
      } else {
        launch_reverse_tiles(x.get(), out.get(), n);
      }
    });
    kit::expect_at_ends(out, [&](size_t i) {
      const size_t begin = i / kTile * kTile, end = std::min<size_t>(begin + kTile, n);
      const int mirrored = x.at(begin + end - 1 - i);
      return adds ? x.at(i) + mirrored : mirrored;
    });
  };
  kit::at_largest("tiles turned", [&] { check_large(false, 0); });
  kit::at_largest("mirrored, a block for each tile", [&] { check_large(true, 1 << 30); });
  kit::at_largest("mirrored, 1000 blocks", [&] { check_large(true, 1000); });
}

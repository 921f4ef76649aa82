// Tests of 05/02 warp reduce.
#include "02_warp_reduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// References: x is rows x cols, row-major.
struct Sums {
  std::vector<double> sum,
      scale;  // rows each; scale: sum of |x|, which rounding is proportional to
};
Sums sums_on_cpu(const std::vector<float>& x, kit::Shape shape) {
  Sums sums{std::vector<double>(shape.rows, 0), std::vector<double>(shape.rows, 0)};
  for (size_t i = 0; i < x.size(); ++i) {
    sums.sum[i / shape.cols] += x[i];
    sums.scale[i / shape.cols] += std::fabs(x[i]);
  }
  return sums;
}
std::vector<float> subtract_max_on_cpu(const std::vector<float>& x, kit::Shape shape) {
  std::vector<float> y;
  for (int row = 0; row < shape.rows; ++row) {
    const auto begin = x.begin() + static_cast<ptrdiff_t>(row) * shape.cols;
    const float greatest = *std::max_element(begin, begin + shape.cols);
    for (int col = 0; col < shape.cols; ++col) y.push_back(begin[col] - greatest);
  }
  return y;
}

// One row per lane count, then rows that leave warps of the last block without work.
std::vector<kit::Shape> shapes() {
  return {{1, 32}, {8, 32}, {9, 64}, {3, 1}, {5, 7}, {7, 31}, {17, 33}, {2, 1000}, {33, 127}};
}

kit::Run check_sums(kit::Shape shape, const std::vector<float>& x) {
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_sums = kit::DeviceBuffer<float>::output(shape.rows, "sums", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_sum_rows(d_x.get(), d_sums.get(), shape.rows, shape.cols); });
  const Sums expected = sums_on_cpu(x, shape);
  kit::expect_near_or_nan(d_sums, expected.sum, kit::Tolerance::units(8, expected.scale));
  return run;
}

kit::Run check_sums(kit::Shape shape) {
  return check_sums(shape, kit::random_floats(shape.size()));
}

kit::Run check_max(kit::Shape shape, float low, float high) {
  const std::vector<float> x = kit::random_floats(shape.size(), low, high);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_subtract_row_max(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_y, subtract_max_on_cpu(x, shape), shape);
  return run;
}

void budget_registers_only(const kit::Counters& c) {
  kit::budget("shared-memory requests",
              static_cast<double>(c.shared_load_requests + c.shared_store_requests),
              kit::at_most(0), "A shuffle reads another lane's register without any memory",
              &kit::Counters::shared_load_requests);
  kit::budget("barriers", static_cast<double>(c.barriers), kit::at_most(0),
              "A shuffle synchronises the lanes that it names", &kit::Counters::barriers);
}

}  // namespace

TEST(WarpReduce, AddsTheValuesOfAllLanes) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", shapes(), [](kit::Shape shape) { check_sums(shape); });
}

TEST(WarpReduce, TellsEveryLaneTheGreatest) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", shapes(), [](kit::Shape shape) { check_max(shape, -1, 1); });
}

TEST(WarpReduce, FindsTheGreatestOfNegativeValues) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", shapes(), [](kit::Shape shape) { check_max(shape, -3, -2); });
}

TEST(WarpReduce, TakesManyRowsAndLongOnes) {
  RecordProperty("todo", 1);
  // More than 16 bits can count with a sign.
  kit::for_each("rows x cols", std::vector<kit::Shape>{{33'001, 1}, {1, 33'001}},
                [](kit::Shape shape) {
                  check_sums(shape);
                  check_max(shape, -3, -2);
                });
}

TEST(WarpReduce, TheGreatestMayBeAnyFloat) {
  RecordProperty("todo", 2);
  // Minus infinity, both zeros, the largest and the smallest floats. Each row has its greatest
  // more than once.
  const kit::Shape shape(20, 70);
  std::vector<float> x = kit::special_floats(shape.size());
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] > 1e30f || i % shape.cols == 5) x[i] = 1.5f;  // infinity less infinity is no number
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run([&] { launch_subtract_row_max(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_y, subtract_max_on_cpu(x, shape), shape);
}

// Special elements: kit::kSpecialSums says what the sum of their row makes of them.
TEST(WarpReduce, TheSumOfAnInfiniteElementIsInfinite) {
  RecordProperty("todo", 1);
  kit::for_each_special_sum(9 * 127, [](const std::vector<float>& x) { check_sums({9, 127}, x); });
  // A row has both infinities.
  check_sums({2, 40},
             kit::with_specials(kit::random_floats(80), {{41, INFINITY}, {75, -INFINITY}}).values);
}

TEST(WarpReduce, InfinityLessItselfIsNoNumber) {
  RecordProperty("todo", 2);
  const kit::Shape shape(33, 45);
  std::vector<float> x = kit::random_floats(shape.size());
  for (int row = 0; row < shape.rows; row += 2) x[row * shape.cols + row] = INFINITY;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run([&] { launch_subtract_row_max(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  kit::expect_equal_or_nan("y", d_y.download(), subtract_max_on_cpu(x, shape),
                           "Infinity less infinity is no number, and anything else less infinity "
                           "is minus infinity.");
}

// Infinity less infinity is no number: only -infinity, or an element of the row, is less than all
// others and may begin the search.
TEST(WarpReduce, ARowMayBeNothingButMinusInfinity) {
  RecordProperty("todo", 2);
  const kit::Shape shape(3, 40);
  const std::vector<float> x(shape.size(), -std::numeric_limits<float>::infinity());
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run([&] { launch_subtract_row_max(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  for (const float value : d_y.download()) {
    if (std::isnan(value)) continue;
    kit::fail("y of a row of nothing but -infinity is " + std::to_string(value) +
              ", expected NaN: the greatest of the row is -infinity, not the least float.");
    break;
  }
}

TEST(WarpReduce, AcceptsNoRows) {
  RecordProperty("todo", 1);
  check_sums({0, 32});
  check_max({0, 32}, -1, 1);
  check_sums({1, 32});  // the same launchers must work when there is a row
  check_max({1, 32}, -1, 1);
}

TEST(WarpReduce, SumsNeedFiveShuffles) {
  RecordProperty("todo", 1);
  const kit::Run run = check_sums({64, 32});
  budget_registers_only(run.counters());
  kit::budget("instructions of the warp of a row",
              kit::ratio(static_cast<double>(run.counters().warp_instructions), 64),
              kit::at_most(100), "Five steps of halving are enough for 32 lanes",
              &kit::Counters::warp_instructions);
}

TEST(WarpReduce, TheGreatestNeedsNoMemory) {
  RecordProperty("todo", 2);
  budget_registers_only(check_max({64, 32}, -1, 1).counters());
}

TEST(WarpReduce, TakesTheLargestMatrices) {
  RecordProperty("todo", 1);
  kit::at_largest("2^26 rows of 65", [] {
    const int rows = 1 << 26, cols = 65;  // 32 bits do not count them
    const size_t n = size_t{1} * rows * cols;
    const auto x = kit::large_integers(n, "x");
    const auto sums = kit::LargeArray<float>::output(rows, "sums");
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_sum_rows(x.get(), sums.get(), rows, cols); });
    kit::expect_at_ends(sums, [&](size_t row) {
      float sum = 0;
      for (int c = 0; c < cols; ++c) sum += x.at(row * cols + c);
      return sum;
    });
    kit::run([&] { launch_subtract_row_max(x.get(), y.get(), rows, cols); });
    kit::expect_at_ends(y, [&](size_t i) {
      float greatest = x.at(i);
      for (int c = 0; c < cols; ++c) greatest = std::max(greatest, x.at(i / cols * cols + c));
      return x.at(i) - greatest;
    });
  });
}

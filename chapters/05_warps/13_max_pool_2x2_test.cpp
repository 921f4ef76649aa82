// Tests of 05/13 max pool 2x2.
#include "13_max_pool_2x2.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/mistake.h"
#include "kit/special_values.h"

namespace {

enum class Pool { kMax, kAverage, kAverageFirst };

// Reference in double: x is depth x rows x cols, a plane per depth.
std::vector<double> pool_on_cpu(const std::vector<float>& x, kit::Shape shape, Pool pool) {
  std::vector<double> y;
  for (int plane = 0; plane < shape.depth; ++plane) {
    for (int row = 0; row + 1 < shape.rows; row += 2) {
      for (int col = 0; col + 1 < shape.cols; col += 2) {
        double greatest = 0, sum = 0, plain_sum = 0;
        for (int k = 0; k < 4; ++k) {
          const size_t i =
              (static_cast<size_t>(plane) * shape.rows + row + k / 2) * shape.cols + col + k % 2;
          const double relu = std::max(0.0, static_cast<double>(x[i]));
          greatest = std::max(greatest, relu);
          sum += relu;
          plain_sum += x[i];
        }
        y.push_back(pool == Pool::kMax       ? greatest
                    : pool == Pool::kAverage ? sum / 4
                                             : std::max(0.0, plain_sum / 4));
      }
    }
  }
  return y;
}

kit::Run check(kit::Shape shape, Pool pool, float low = -1, float high = 1) {
  const std::vector<float> x = kit::random_floats(shape.size(), low, high);
  const std::vector<double> expected = pool_on_cpu(x, shape, pool);
  // At the end of an allocation, unless that would take away the alignment that is promised.
  const auto placement = x.size() % 2 == 0 ? kit::Placement::kAtEnd : kit::Placement::kMiddle;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(expected.size(), "y", kit::Placement::kAtEnd);
  const auto launch = pool == Pool::kMax ? launch_relu_max_pool : launch_relu_average_pool;
  const kit::Run run =
      kit::run([&] { launch(d_x.get(), d_y.get(), shape.depth, shape.rows, shape.cols); });
  const kit::Mistake other_order("they are what comes out when ReLU follows the average",
                                 [&] { return pool_on_cpu(x, shape, Pool::kAverageFirst); });
  kit::expect_near(d_y, expected, kit::Tolerance::units(4),
                   kit::Shape(shape.depth, shape.rows / 2, shape.cols / 2));
  return run;
}

// The layers of chapter 12, one window, odd sizes, more planes than a block has threads.
std::vector<kit::Shape> shapes() {
  return {{1, 2, 2}, {3, 28, 28}, {5, 14, 14}, {2, 7, 9},
          {4, 3, 2}, {1, 2, 67},  {300, 2, 2}, {2, 33, 64}};
}

void budget_one_reading(const kit::Counters& c, double outputs) {
  kit::budget("bytes loaded per output",
              kit::ratio(static_cast<double>(c.global_load_bytes), outputs), kit::at_most(16),
              "A window has four floats, and each lies in one window",
              &kit::Counters::global_load_bytes);
  kit::budget("useful share of moved bytes", kit::useful_share(c), kit::at_least(0.9),
              "With an even width the two floats of a row are one load of 8 bytes",
              &kit::Counters::global_load_sectors);
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(1),
              "ReLU and pooling look at the same four values: one kernel does both");
}

}  // namespace

TEST(MaxPool2x2, FindsTheWindowOfEachOutput) {
  RecordProperty("todo", 3);
  // Positive values: relu changes nothing, so only the place counts.
  kit::for_each("planes x height x width", shapes(),
                [](kit::Shape shape) { check(shape, Pool::kMax, 1, 2); });
}

TEST(MaxPool2x2, TakesTheGreatestAfterRelu) {
  RecordProperty("todo", 1);
  kit::for_each("planes x height x width", shapes(),
                [](kit::Shape shape) { check(shape, Pool::kMax); });
}

TEST(MaxPool2x2, AveragesAfterRelu) {
  RecordProperty("todo", 2);
  kit::for_each("planes x height x width", shapes(),
                [](kit::Shape shape) { check(shape, Pool::kAverage); });
}

TEST(MaxPool2x2, NegativeWindowsBecomeZero) {
  RecordProperty("todo", 1);
  check({2, 6, 6}, Pool::kMax, -2, -1);
  check({2, 6, 6}, Pool::kAverage, -2, -1);
}

TEST(MaxPool2x2, CoversEveryExtent) {
  RecordProperty("todo", 3);
  kit::for_each(
      "planes x height x width",
      std::vector<kit::Shape>{{65'537, 2, 2}, {1, 131'074, 2}, {1, 2, 131'074}, {1, 2, 2'000'000}},
      [](kit::Shape shape) { check(shape, Pool::kMax); });
}

// 8 bytes are promised, and no more.
TEST(MaxPool2x2, BeginsAtAnyMultipleOf8Bytes) {
  RecordProperty("todo", 3);
  const kit::Shape shape{2, 8, 16};
  const std::vector<float> x = kit::random_floats(shape.size());
  std::vector<float> behind_two = {7, 7};
  behind_two.insert(behind_two.end(), x.begin(), x.end());
  const std::vector<double> expected = pool_on_cpu(x, shape, Pool::kMax);
  const auto d_x = kit::DeviceBuffer<float>::input(behind_two, "two floats and x");
  const auto d_y = kit::DeviceBuffer<float>::output(expected.size(), "y");
  kit::run(
      [&] { launch_relu_max_pool(d_x.get() + 2, d_y.get(), shape.depth, shape.rows, shape.cols); });
  kit::expect_near(d_y, expected, kit::Tolerance::units(4), kit::Shape(2, 4, 8));
}

TEST(MaxPool2x2, TakesInfinitiesAndZeros) {
  RecordProperty("todo", 1);
  const kit::Shape shape(4, 6, 8);
  std::vector<float> x = kit::special_floats(shape.size());
  for (float& value : x) {
    if (value > 1e30f) value = INFINITY;
  }
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  for (const Pool pool : {Pool::kMax, Pool::kAverage}) {
    const std::vector<double> y = pool_on_cpu(x, shape, pool);
    const auto d_y = kit::DeviceBuffer<float>::output(y.size(), "y");
    const auto launch = pool == Pool::kMax ? launch_relu_max_pool : launch_relu_average_pool;
    kit::run([&] { launch(d_x.get(), d_y.get(), 4, 6, 8); });
    // The least numbers that a float has lose digits when they are divided.
    kit::Tolerance tolerance = kit::Tolerance::units(4);
    tolerance.absolute_error = 1e-44;
    kit::expect_near(d_y, y, tolerance);
  }
}

TEST(MaxPool2x2, AcceptsNoPlanes) {
  RecordProperty("todo", 3);
  check({0, 4, 4}, Pool::kMax);
  check({0, 4, 4}, Pool::kAverage);
  check({1, 4, 4}, Pool::kMax);  // the same launchers must work when there is a plane
  check({1, 4, 4}, Pool::kAverage);
}

TEST(MaxPool2x2, ReadsEachValueOnce) {
  RecordProperty("todo", 3);
  const kit::Shape shape(16, 32, 64);
  const double outputs = static_cast<double>(shape.size()) / 4;
  budget_one_reading(check(shape, Pool::kMax).counters(), outputs);
  budget_one_reading(check(shape, Pool::kAverage).counters(), outputs);
}

TEST(MaxPool2x2, PoolsManyPlanes) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t planes, size_t height, size_t width, bool average) {
    const size_t out_height = height / 2, out_width = width / 2;
    const auto x = kit::large_integers(planes * height * width, "x");
    const auto y = kit::LargeArray<float>::output(planes * out_height * out_width, "y");
    kit::run([&] {
      (average ? launch_relu_average_pool : launch_relu_max_pool)(
          x.get(), y.get(), static_cast<int>(planes), static_cast<int>(height),
          static_cast<int>(width));
    });
    kit::expect_at_ends(y, [&](size_t i) {
      const size_t plane = i / out_width / out_height, row = i / out_width % out_height;
      const size_t col = i % out_width;
      float greatest = 0, sum = 0;
      for (size_t k = 0; k < 4; ++k) {
        const float value =
            std::max(0.0f, x.at((plane * height + 2 * row + k / 2) * width + 2 * col + k % 2));
        greatest = std::max(greatest, value);
        sum += value;
      }
      return average ? sum / 4 : greatest;
    });
  };
  kit::at_largest("2^20 planes of 46 x 46, the greatest",
                  [&] { check_large(1 << 20, 46, 46, false); });
  kit::at_largest("2^20 planes of 46 x 46, the average",
                  [&] { check_large(1 << 20, 46, 46, true); });
  kit::at_largest("2 planes of 46,342 x 46,342", [&] { check_large(2, 46'342, 46'342, false); });
  // One extent has it all: a grid has 65,535 blocks along y and z, however many rows there are.
  const size_t longest = size_t{1} << 30;
  kit::at_largest("2^30 planes of 2 x 2", [&] { check_large(longest, 2, 2, false); });
  kit::at_largest("a plane of 2^30 rows", [&] { check_large(1, longest, 2, false); });
  kit::at_largest("a plane of 2^30 columns", [&] { check_large(1, 2, longest, false); });
}

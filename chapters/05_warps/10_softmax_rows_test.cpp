// Tests of 05/10 softmax of rows.
#include "10_softmax_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/libraries/libraries.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double: rows x cols, row-major.
std::vector<double> softmax_on_cpu(const std::vector<float>& x, kit::Shape shape) {
  std::vector<double> y(x.size());
  for (int row = 0; row < shape.rows; ++row) {
    const size_t begin = static_cast<size_t>(row) * shape.cols;
    const double greatest = *std::max_element(x.begin() + begin, x.begin() + begin + shape.cols);
    double sum = 0;
    for (int col = 0; col < shape.cols; ++col) {
      sum += y[begin + col] = std::exp(x[begin + col] - greatest);
    }
    for (int col = 0; col < shape.cols; ++col) y[begin + col] /= sum;
  }
  return y;
}

// Distance of the finite values.
double range_of(const std::vector<float>& x) {
  double least = 0, most = 0;
  bool first = true;
  for (float value : x) {
    if (!std::isfinite(value)) continue;
    least = first ? value : std::min<double>(least, value);
    most = first ? value : std::max<double>(most, value);
    first = false;
  }
  return most - least;
}

kit::Run check(kit::Shape shape, const std::vector<float>& x) {
  // At the end of an allocation, unless that would take away the alignment that is promised.
  const auto placement = x.size() % 4 == 0 ? kit::Placement::kAtEnd : kit::Placement::kMiddle;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", placement);
  const kit::Run run =
      kit::run([&] { launch_softmax_rows(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  // 3e-6: exp, the scaling, the sum and the division, each with a few roundings. The argument of
  // exp is rounded twice, by up to 2^-24 of itself, and that is a relative error of the result.
  kit::Tolerance tolerance = kit::Tolerance::relative(3e-6 + std::ldexp(range_of(x), -23));
  tolerance.absolute_error = 1e-35;  // what float cannot hold with all its digits
  kit::expect_near(d_y, softmax_on_cpu(x, shape), tolerance, shape);
  return run;
}

kit::Run check(kit::Shape shape, float low = -3, float high = 3) {
  return check(shape, kit::random_floats(shape.size(), low, high));
}

struct Width {
  int cols, rows_simulated;
};
std::ostream& operator<<(std::ostream& out, const Width& width) { return out << width.cols; }

}  // namespace

TEST(SoftmaxRows, ARowOfOneThread) {
  RecordProperty("todo", 3);
  // Four floats or fewer are one load of one thread: nothing has to be joined yet.
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 4}, {5, 4}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SoftmaxRows, JoinsTheLanesOfAWarp) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{{1, 8}, {3, 128}, {17, 100}, {8, 64}, {9, 256}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SoftmaxRows, JoinsTheWarpsOfABlock) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{
                    {2, 1024}, {3, 260}, {1, 4096}, {2, 2052}, {1, 8192}, {1, 32768}, {1, 9000}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SoftmaxRows, TakesRowsOfAnyLength) {
  RecordProperty("todo", 1);
  // Rows that are not made of whole float4, or longer than the registers of a block.
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{{3, 1}, {5, 7}, {7, 1023}, {3, 1025}, {2, 33}, {1, 33000}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SoftmaxRows, TakesManyRows) {
  RecordProperty("todo", 2);
  check({33'001, 4});
}

TEST(SoftmaxRows, StandsLargeAndSmallLogits) {
  RecordProperty("todo", 3);
  // exp(1e4) is infinite in float, exp(-1e4) is 0; only differences inside the row count.
  kit::for_each("logits around", std::vector<float>{1e4f, -1e4f}, [](float shift) {
    check({3, 1024}, shift - 3, shift + 3);
    check({3, 1023}, shift - 3, shift + 3);  // not made of whole float4
    for (const int cols : {2, 4, 31, 32, 128}) check({3, cols}, shift - 3, shift + 3);
  });
  check({2, 260}, -80, 80);
}

// Whatever a search for the greatest begins with, a finite value may be less.
TEST(SoftmaxRows, TheGreatestMayBeAnyFiniteFloat) {
  RecordProperty("todo", 3);
  using Limits = std::numeric_limits<float>;
  const float greatest[] = {Limits::max(), 1e37f, -2e30f, -1e37f, Limits::lowest()};
  kit::for_each("cols", std::vector<int>{4, 33, 512, 511, 2052}, [&](int cols) {
    const kit::Shape shape(5, cols);
    std::vector<float> x;
    for (const int i : kit::random_ints(shape.size(), 0, 2)) {
      const float top = greatest[x.size() / cols];
      // So far below that its weight is 0: a neighbour of such a float is more than 1e20 away.
      const float below = std::max(top - std::fabs(top) / 2, Limits::lowest());
      x.push_back(x.size() % cols == 0 || i == 0 ? top : i == 1 ? below : -Limits::infinity());
    }
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    kit::run([&] { launch_softmax_rows(d_x.get(), d_y.get(), shape.rows, shape.cols); });
    kit::expect_near(d_y, softmax_on_cpu(x, shape), kit::Tolerance::relative(3e-6), shape);
  });
}

TEST(SoftmaxRows, GivesMaskedValuesNoWeight) {
  RecordProperty("todo", 3);
  kit::for_each("cols", std::vector<int>{512, 511}, [](int cols) {
    const kit::Shape shape(8, cols);
    std::vector<float> x = kit::random_floats(shape.size());
    for (int row = 0; row < shape.rows; ++row) {
      for (int col = 4 * row + 1; col < shape.cols; ++col) {
        x[row * shape.cols + col] = -std::numeric_limits<float>::infinity();
      }
    }
    check(shape, x);
  });
}

TEST(SoftmaxRows, RowsSumToOne) {
  RecordProperty("todo", 2);
  const kit::Shape shape(4, 2048);
  const auto d_x = kit::DeviceBuffer<float>::input(kit::random_floats(shape.size(), -5, 5), "x");
  const auto d_y = kit::DeviceBuffer<float>::output(shape.size(), "y");
  kit::run([&] { launch_softmax_rows(d_x.get(), d_y.get(), shape.rows, shape.cols); });
  const std::vector<float> y = d_y.download();
  std::vector<float> sums;
  for (int row = 0; row < shape.rows; ++row) {
    double sum = 0;
    for (int col = 0; col < shape.cols; ++col) sum += y[row * shape.cols + col];
    sums.push_back(static_cast<float>(sum));
  }
  kit::expect_near("sums of the rows", sums, std::vector<double>(shape.rows, 1.0),
                   kit::Tolerance::absolute(1e-5));
}

TEST(SoftmaxRows, AcceptsNoRows) {
  RecordProperty("todo", 3);
  check({0, 4});
  check({1, 4});  // the same launcher must work when there is a row
}

TEST(SoftmaxRows, TouchesEachElementFourTimesAtMost) {
  RecordProperty("todo", 3);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{8, 1024}, {2, 8192}}, [](kit::Shape shape) {
    const kit::Counters c = check(shape).counters();
    const double bytes =
        static_cast<double>(c.global_load_bytes) + static_cast<double>(c.global_store_bytes);
    kit::budget("accesses per element", bytes / 4 / shape.size(), kit::at_most(4),
                "Greatest value, sum and result are three readings and one writing; "
                "with the row in registers one reading is enough",
                &kit::Counters::global_load_bytes);
  });
}

TEST(SoftmaxRows, TakesTheLargestMatrices) {
  RecordProperty("todo", 1);
  kit::at_largest("2^23 rows of 257", [] {
    const int rows = 1 << 23, cols = 257;
    const auto x = kit::LargeArray<float>::input(size_t{1} * rows * cols, "x", {7.0f});
    const auto y = kit::LargeArray<float>::output(size_t{1} * rows * cols, "y");
    kit::run([&] { launch_softmax_rows(x.get(), y.get(), rows, cols); });
    kit::expect_at_ends(
        y, [&](size_t) { return 1.0 / cols; }, kit::Tolerance::relative(1e-5));
  });
}

TEST(SoftmaxRows, IsFastForNarrowAndWideRows) {
  RecordProperty("todo", 3);
  const std::vector<Width> widths = {{1024, 192}, {8192, 24}, {32768, 8}};
  kit::for_each("cols", widths, [](const Width& width) {
    const int cols = width.cols;
    const int rows = kit::work_scale(width.rows_simulated, (1 << 27) / cols);
    const size_t n = static_cast<size_t>(rows) * cols;
    kit::Speed speed;
    const auto x = speed.input<float>(n, "x", kit::Values::uniform(-4, 4));
    const auto y = speed.output<float>(n, "y");
    speed.bytes(8.0 * n).slice(66);
    speed.launch([&] { launch_softmax_rows(x.get(), y.get(), rows, cols); });
    size_t summed = n;  // the row whose sum is known; positions are asked for in rising order
    double sum = 0;
    speed.expect(
        y,
        [&](size_t i) {
          const size_t row = i / cols;
          if (row != summed || i == 0) {
            sum = 0;
            for (int col = 0; col < cols; ++col) sum += std::exp(x.at(row * cols + col));
            summed = row;
          }
          return kit::Expected(std::exp(x.at(i)) / sum);
        },
        kit::Tolerance::relative(3e-6));
    speed.against(kit::library("cuDNN softmax", kit::cudnn(),
                               [&] { kit::cudnn_softmax(x.get(), y.get(), rows, cols); }),
                  kit::Bars(0.55, 0.85));
    speed.against(kit::stage("a thread per row",
                             [&] { launch_softmax_rows_by_thread(x.get(), y.get(), rows, cols); }),
                  kit::Bars(3));
    speed.against(kit::copy_rate(), kit::Bars(0, 0.75, 0.88));
    speed.grade();
  });
}

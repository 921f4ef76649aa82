// Tests of 05/11 layer norm.
#include "11_layer_norm.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

struct Moments {
  double mean = 0, scale = 0;  // scale: 1 / sqrt(variance + epsilon)
};
// Of `cols` values value(0), value(1), ..., in double.
template <class Value>
Moments moments_on_cpu(int cols, const Value& value) {
  double sum = 0, squares = 0;
  for (int col = 0; col < cols; ++col) sum += value(col);
  const double mean = sum / cols;
  for (int col = 0; col < cols; ++col) squares += (value(col) - mean) * (value(col) - mean);
  return {mean, 1 / std::sqrt(squares / cols + static_cast<double>(kEpsilon))};
}

// Reference: x is rows x cols.
std::vector<double> layer_norm_on_cpu(const std::vector<float>& x, const std::vector<float>& gamma,
                                      const std::vector<float>& beta, kit::Shape shape) {
  std::vector<double> y;
  for (int row = 0; row < shape.rows; ++row) {
    const float* values = x.data() + static_cast<size_t>(row) * shape.cols;
    const Moments m = moments_on_cpu(shape.cols, [&](int col) { return values[col]; });
    for (int col = 0; col < shape.cols; ++col) {
      y.push_back((values[col] - m.mean) * m.scale * gamma[col] + beta[col]);
    }
  }
  return y;
}

kit::Run check(kit::Shape shape, float offset = 0, double tolerance = 1e-5) {
  const std::vector<float> x = kit::random_floats(shape.size(), offset - 2, offset + 2);
  const std::vector<float> gamma = kit::random_floats(shape.cols);
  const std::vector<float> beta = kit::random_floats(shape.cols);
  // At the end of an allocation, unless that would take away the alignment that is promised.
  const auto placement = shape.cols % 4 == 0 ? kit::Placement::kAtEnd : kit::Placement::kMiddle;
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_gamma = kit::DeviceBuffer<float>::input(gamma, "gamma", placement);
  const auto d_beta = kit::DeviceBuffer<float>::input(beta, "beta", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", placement);
  const kit::Run run = kit::run([&] {
    launch_layer_norm(d_x.get(), d_gamma.get(), d_beta.get(), d_y.get(), shape.rows, shape.cols);
  });
  kit::expect_near(d_y, layer_norm_on_cpu(x, gamma, beta, shape),
                   kit::Tolerance::absolute(tolerance), shape);
  return run;
}

struct Width {
  int cols, rows_simulated;
};
std::ostream& operator<<(std::ostream& out, const Width& width) { return out << width.cols; }

}  // namespace

TEST(LayerNorm, NormalisesARowOfOneThread) {
  RecordProperty("todo", 2);
  // Four floats are one load of one thread, and a block whose other threads have nothing.
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 4}, {5, 4}},
                [](kit::Shape shape) { check(shape); });
}

TEST(LayerNorm, AddsUpTheThreadsOfABlock) {
  RecordProperty("todo", 1);
  kit::for_each(
      "rows x cols",
      std::vector<kit::Shape>{{1, 8}, {3, 128}, {2, 1024}, {3, 100}, {2, 2052}, {1, 8192}},
      [](kit::Shape shape) { check(shape); });
}

TEST(LayerNorm, TakesRowsOfAnyLength) {
  RecordProperty("todo", 3);
  // Rows that are not made of whole float4, or longer than the registers of a block.
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{{3, 1}, {5, 7}, {7, 1023}, {2, 33}, {1, 10000}},
                [](kit::Shape shape) { check(shape); });
}

TEST(LayerNorm, TakesManyRowsAndLongOnes) {
  RecordProperty("todo", 3);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{2053, 8}, {1, 33'001}},
                [](kit::Shape shape) { check(shape); });
}

TEST(LayerNorm, KeepsItsDigitsFarFromZero) {
  RecordProperty("todo", 2);
  // At 100 a float holds 7.6e-6: that is what a right answer may lose, and no more than a few
  // times.
  check({3, 1024}, 100, 4e-5);
}

TEST(LayerNorm, KeepsItsDigitsFarFromZeroInTwoPasses) {
  RecordProperty("todo", 3);
  check({3, 1023}, 100, 4e-5);
}

TEST(LayerNorm, AcceptsNoRows) {
  RecordProperty("todo", 2);
  check({0, 4});
  check({1, 4});  // the same launcher must work when there is a row
}

TEST(LayerNorm, ReadsTheRowTwiceAtMost) {
  RecordProperty("todo", 2);
  kit::for_each(
      "rows x cols", std::vector<kit::Shape>{{16, 1024}, {4, 8192}}, [](kit::Shape shape) {
        const kit::Counters c = check(shape).counters();
        // gamma and beta are read once per row, too. A word that all lanes of a warp read counts
        // once.
        const double bytes = static_cast<double>(c.global_load_unique_bytes);
        kit::budget("readings of x", kit::ratio(bytes, 4.0 * shape.size()) - 2, kit::at_most(2.1),
                    "Mean and variance need the whole row before the first result; a "
                    "block that keeps the row in registers reads it once",
                    &kit::Counters::global_load_unique_bytes);
      });
}

TEST(LayerNorm, TakesTheLargestMatrices) {
  RecordProperty("todo", 1);
  kit::at_largest("2^23 rows of 257", [] {
    const int rows = 1 << 23, cols = 257;
    const size_t n = size_t{1} * rows * cols;
    const std::vector<float> gamma = kit::random_floats(cols), beta = kit::random_floats(cols);
    const auto d_gamma = kit::DeviceBuffer<float>::input(gamma, "gamma");
    const auto d_beta = kit::DeviceBuffer<float>::input(beta, "beta");
    const auto x = kit::LargeArray<float>::input(n, "x", {7.0f});
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_layer_norm(x.get(), d_gamma.get(), d_beta.get(), y.get(), rows, cols); });
    kit::expect_at_ends(
        y, [&](size_t i) { return beta[i % cols]; }, kit::Tolerance::absolute(1e-3));
  });
}

TEST(LayerNorm, IsFast) {
  RecordProperty("todo", 2);
  const std::vector<Width> widths = {{1024, 192}, {8192, 24}};
  kit::for_each("cols", widths, [](const Width& width) {
    const int cols = width.cols;
    const int rows = kit::work_scale(width.rows_simulated, (1 << 27) / cols);
    const size_t n = static_cast<size_t>(rows) * cols;
    kit::Speed speed;
    const auto x = speed.input<float>(n, "x");
    const auto gamma = speed.input<float>(cols, "gamma");
    const auto beta = speed.input<float>(cols, "beta");
    const auto y = speed.output<float>(n, "y");
    speed.bytes(8.0 * n).slice(66);
    speed.launch([&] { launch_layer_norm(x.get(), gamma.get(), beta.get(), y.get(), rows, cols); });
    size_t known = n;  // the row whose moments are known; positions are asked for in rising order
    Moments m;
    speed.expect(
        y,
        [&](size_t i) {
          const size_t row = i / cols;
          if (row != known || i == 0) {
            m = moments_on_cpu(cols, [&](int col) { return x.at(row * cols + col); });
            known = row;
          }
          const size_t col = i % cols;
          return kit::Expected((x.at(i) - m.mean) * m.scale * gamma.at(col) + beta.at(col));
        },
        kit::Tolerance::absolute(1e-5));
    speed.against(kit::stage("a thread per row",
                             [&] {
                               launch_layer_norm_by_thread(x.get(), gamma.get(), beta.get(),
                                                           y.get(), rows, cols);
                             }),
                  kit::Bars(3));
    // Two reads of x: modelled 86 %, measured 76 %.
    speed.against(kit::copy_rate(), kit::Bars(0.55, 0.85, 0.90).gold_on_gpu_only());
    speed.grade();
  });
}

// Tests of 03/08 spilled array.
#include "08_spilled_array.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

// Reference in double, rows x cols elements, and what the rounding errors are proportional to.
struct Filtered {
  std::vector<double> result, scale;
};
Filtered filter_on_cpu(const std::vector<float>& in, const Taps& taps, kit::Shape shape) {
  Filtered filtered;
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) {
      double sum = 0, scale = 0;
      for (int k = 0; k < kTaps && k <= r; ++k) {
        const double product = static_cast<double>(taps.weight[k]) * in[(r - k) * shape.cols + c];
        sum += product;
        scale += std::fabs(product);
      }
      filtered.result.push_back(sum);
      filtered.scale.push_back(scale);
    }
  }
  return filtered;
}

// Sixteen different weights, so that no row can stand in for another.
Taps random_taps() {
  Taps taps;
  const std::vector<float> values = kit::random_floats(kTaps, 0.25f, 1.0f);
  for (int k = 0; k < kTaps; ++k) taps.weight[k] = (k % 3 == 1 ? -1.0f : 1.0f) * values[k];
  return taps;
}

kit::Run check(kit::Shape shape, const Taps& taps,
               kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> in = kit::random_floats(shape.size());
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in", placement);
  const auto d_out = kit::DeviceBuffer<float>::output(shape.size(), "out", placement);
  const kit::Run run = kit::run(
      [&] { launch_filter_columns(d_in.get(), d_out.get(), taps, shape.rows, shape.cols); });
  const Filtered expected = filter_on_cpu(in, taps, shape);
  // Sixteen products and as many sums, one rounding each.
  kit::expect_near(d_out, expected.result, kit::Tolerance::units(17, expected.scale), shape);
  return run;
}

kit::Run check(kit::Shape shape, kit::Placement placement = kit::Placement::kMiddle) {
  return check(shape, random_taps(), placement);
}

}  // namespace

TEST(SpilledArray, DelaysByEachOfTheSixteenRows) {
  RecordProperty("todo", 1);
  kit::for_each("weight that is not 0", std::vector<int>{0, 1, 7, 15}, [](int k) {
    Taps taps = {};
    taps.weight[k] = 1.0f;
    check({40, 33}, taps);
  });
}

TEST(SpilledArray, AWeightOfZeroIsMultiplied) {
  RecordProperty("todo", 1);
  const kit::Shape shape(60, 70);
  Taps taps = {};
  taps.weight[3] = 1.0f;
  const std::vector<float> in = kit::special_floats(shape.size());
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in");
  const auto d_out = kit::DeviceBuffer<float>::output(shape.size(), "out");
  kit::run([&] { launch_filter_columns(d_in.get(), d_out.get(), taps, shape.rows, shape.cols); });
  kit::expect_nans("out", d_out.download(), filter_on_cpu(in, taps, shape).result);
}

TEST(SpilledArray, GoesOnWhereABlockEnds) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{512, 40}, {300, 130}, {257, 5}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SpilledArray, CoversAwkwardShapes) {
  RecordProperty("todo", 1);
  kit::for_each("shape", kit::awkward_shapes(), [](kit::Shape shape) { check(shape); });
  kit::for_each("shape", std::vector<kit::Shape>{{1, 1}, {15, 3}, {16, 3}, {17, 3}},
                [](kit::Shape shape) { check(shape); });
}

TEST(SpilledArray, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{260, 33}, {10, 129}},
                [](kit::Shape shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(SpilledArray, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check({0, 5});
  check({5, 0});
  check({5, 5});  // the same launcher must work when there is something to filter
}

TEST(SpilledArray, StaysInRegisters) {
  RecordProperty("todo", 1);
  const kit::Run run = check({128, 128});
  kit::budget("bytes of local memory", static_cast<double>(run.counters().local_bytes),
              kit::at_most(0),
              "An array that is indexed by constants only lies in registers; `recent` does not",
              &kit::Counters::local_bytes);
}

TEST(SpilledArray, LoadsEachRowOnce) {
  RecordProperty("todo", 1);
  const kit::Shape shape = {1024, 128};
  const kit::Run run = check(shape);
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes),
                         static_cast<double>(shape.size())),
              kit::at_most(5),
              "A row is loaded once, and 16 rows more at the beginning of each 256",
              &kit::Counters::global_load_bytes);
}

TEST(SpilledArray, FiltersTheLongestMatrices) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t rows, size_t cols) {
    Taps taps;
    for (int k = 0; k < kTaps; ++k) taps.weight[k] = static_cast<float>(k - 5);
    const auto in = kit::large_integers(rows * cols, "in");
    const auto out = kit::LargeArray<float>::output(rows * cols, "out");
    kit::run([&] { launch_filter_columns(in.get(), out.get(), taps, rows, cols); });
    kit::expect_at_ends(out, [&](size_t i) {
      float sum = 0;
      for (size_t k = 0; k < kTaps && k <= i / cols; ++k) {
        sum += taps.weight[k] * in.at(i - k * cols);
      }
      return sum;
    });
  };
  kit::at_largest("2^20 x 4999", [&] { check_large(1 << 20, 4999); });  // beyond 32 bits
  kit::at_largest("4999 x 2^20", [&] { check_large(4999, 1 << 20); });
}

TEST(SpilledArray, IsFast) {
  RecordProperty("todo", 1);
  const int rows = kit::work_scale(512, 16384), cols = kit::work_scale(512, 16384);
  const size_t n = static_cast<size_t>(rows) * cols;
  const Taps taps = random_taps();
  kit::Speed speed;
  const auto in = speed.input<float>(n, "in");
  const auto out = speed.output<float>(n, "out");
  speed.bytes(8.0 * n).flops(2.0 * kTaps * n).slice(132);
  speed.launch([&] { launch_filter_columns(in.get(), out.get(), taps, rows, cols); });
  speed.expect(
      out,
      [&](size_t i) {
        double sum = 0, scale = 0;
        for (size_t k = 0; k < kTaps && k * cols <= i; ++k) {
          const double product = static_cast<double>(taps.weight[k]) * in.at(i - k * cols);
          sum += product;
          scale += std::fabs(product);
        }
        return kit::Expected(sum, scale);
      },
      kit::Tolerance::units(17));
  speed.against(
      kit::stage("array in local memory",
                 [&] { launch_filter_columns_local(in.get(), out.get(), taps, rows, cols); }),
      kit::Bars(1.5, 2));
  speed.grade();
}

// Tests of 03/02 coalescing.
#include "02_coalescing.h"

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"
#include "kit/speed/speed.h"

namespace {

// Reference: rows x cols elements. One product has one correct result: compared bit by bit.
std::vector<float> scale_on_cpu(const std::vector<float>& gain, const std::vector<float>& in,
                                kit::Shape shape) {
  std::vector<float> out(in.size());
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c < shape.cols; ++c) {
      out[r * shape.cols + c] = gain[c] * in[r * shape.cols + c];
    }
  }
  return out;
}

kit::Run check(kit::Shape shape, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> gain = kit::random_floats(shape.cols, -2.0f, 2.0f);
  const std::vector<float> in = kit::random_floats(shape.size());
  const auto d_gain = kit::DeviceBuffer<float>::input(gain, "gain", placement);
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in", placement);
  const auto d_out = kit::DeviceBuffer<float>::output(shape.size(), "out", placement);
  const kit::Run run = kit::run(
      [&] { launch_scale_columns(d_gain.get(), d_in.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_out, scale_on_cpu(gain, in, shape), shape);
  return run;
}

}  // namespace

TEST(Coalescing, ScalesWholeBlocks) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{8, 256}, {32, 768}, {512, 512}},
                [](kit::Shape shape) { check(shape); });
}

TEST(Coalescing, CoversShapesThatAreNotBlockMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("shape", kit::awkward_shapes(), [](kit::Shape shape) { check(shape); });
  kit::for_each("shape", std::vector<kit::Shape>{{1, 1000}, {1000, 1}, {9, 257}},
                [](kit::Shape shape) { check(shape); });
}

TEST(Coalescing, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{33, 65}, {7, 31}, {1, 1}},
                [](kit::Shape shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(Coalescing, AcceptsNoElements) {
  RecordProperty("todo", 2);
  check({0, 7});
  check({7, 0});
  check({7, 7});  // the same launcher must work when there is something to scale
}

TEST(Coalescing, AGainOfZeroIsMultiplied) {
  RecordProperty("todo", 1);
  const kit::Shape shape(40, 70);
  std::vector<float> gain = kit::random_floats(shape.cols, -2.0f, 2.0f);
  for (size_t c = 0; c < gain.size(); c += 3) gain[c] = 0;
  const std::vector<float> in = kit::special_floats(shape.size());
  const auto d_gain = kit::DeviceBuffer<float>::input(gain, "gain");
  const auto d_in = kit::DeviceBuffer<float>::input(in, "in");
  const auto d_out = kit::DeviceBuffer<float>::output(shape.size(), "out");
  kit::run(
      [&] { launch_scale_columns(d_gain.get(), d_in.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_nans("out", d_out.download(), scale_on_cpu(gain, in, shape));
}

// More than 2^32 elements: a row's first index is beyond 32 bits.
TEST(Coalescing, ScalesTheLongestMatrices) {
  RecordProperty("todo", 2);
  const auto check_large = [](size_t rows, size_t cols) {
    const auto gain = kit::large_floats(cols, "gain");
    const auto in = kit::large_floats(rows * cols, "in");
    const auto out = kit::LargeArray<float>::output(rows * cols, "out");
    kit::run([&] { launch_scale_columns(gain.get(), in.get(), out.get(), rows, cols); });
    kit::expect_at_ends(out, [&](size_t i) { return gain.at(i % cols) * in.at(i); });
  };
  kit::at_largest("2^18 x 18001", [&] { check_large(1 << 18, 18'001); });
  kit::at_largest("18001 x 2^18", [&] { check_large(18'001, 1 << 18); });
}

TEST(Coalescing, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const kit::Run run = check({256, 512});
  kit::budget(
      "useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
      "32 neighbouring floats lie in 4 sectors of 32 bytes, floats of 32 rows in 32 sectors",
      &kit::Counters::global_store_sectors);
}

TEST(Coalescing, IsFast) {
  RecordProperty("todo", 1);
  const int rows = kit::work_scale(128, 16384), cols = kit::work_scale(2048, 16384);
  const size_t n = static_cast<size_t>(rows) * cols;
  kit::Speed speed;
  const auto gain = speed.input<float>(cols, "gain");
  const auto in = speed.input<float>(n, "in");
  const auto out = speed.output<float>(n, "out");
  speed.bytes(8.0 * n + 4.0 * cols).flops(1.0 * n).slice(33);
  speed.launch([&] { launch_scale_columns(gain.get(), in.get(), out.get(), rows, cols); });
  speed.expect(
      out, [&](size_t i) { return gain.at(i % cols) * in.at(i); }, kit::Tolerance::absolute(0));
  // A block per row: modelled 85 %, measured 97 %.
  speed.against(kit::copy_rate(), kit::Bars(0.60, 0.85, 0.95).gold_on_gpu_only());
  speed.against(
      kit::stage(
          "walk by columns",
          [&] { launch_scale_columns_strided(gain.get(), in.get(), out.get(), rows, cols); }),
      kit::Bars(2.5));
  speed.grade();
}

// Tests of 02/06 batched add.
#include "06_batched_add.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// Reference: rows x cols elements, row-major. One float addition has one correct result.
std::vector<float> add_on_cpu(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    c[i] = a[i] + b[i];
  }
  return c;
}

kit::Run check(const kit::Shape& shape, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> a = kit::random_floats(shape.size());
  const std::vector<float> b = kit::random_floats(shape.size());
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", placement);
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b", placement);
  const auto d_c = kit::DeviceBuffer<float>::output(shape.size(), "c", placement);
  const kit::Run run = kit::run(
      [&] { launch_batched_add(d_a.get(), d_b.get(), d_c.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_c, add_on_cpu(a, b), shape);
  return run;
}

}  // namespace

TEST(BatchedAdd, AddsOneShortRow) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 128}, {1, 64}, {1, 100}, {1, 1}},
                [](const kit::Shape& shape) { check(shape); });
}

TEST(BatchedAdd, AddsEveryRow) {
  // contract: c = a + b for a batch of `rows` vectors of `cols` floats
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{5, 128}, {128, 5}, {3, 256}},
                [](const kit::Shape& shape) { check(shape); });
}

// Nothing is said of multiples of 16 bytes: an array may begin at any float.
TEST(BatchedAdd, ArraysMayBeginAtAnyFloat) {
  RecordProperty("todo", 2);
  const kit::Shape shape(3, 64);
  const std::vector<float> a = kit::random_floats(shape.size() + 1);
  const std::vector<float> b = kit::random_floats(shape.size() + 1);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto d_c = kit::DeviceBuffer<float>::inout(std::vector<float>(a.size(), 7.0f), "c");
  kit::run([&] {
    launch_batched_add(d_a.get() + 1, d_b.get() + 1, d_c.get() + 1, shape.rows, shape.cols);
  });
  std::vector<float> expected = add_on_cpu(a, b);
  expected[0] = 7.0f;  // before the begin
  kit::expect_equal(d_c, expected);
}

TEST(BatchedAdd, CoversShapesThatAreNotBlockMultiples) {
  // contract: rows 1 <= rows <= 65535
  // contract: cols 1 <= cols <= 2^30, rows * cols < 2^31
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", kit::awkward_shapes(),
                [](const kit::Shape& shape) { check(shape); });
  kit::for_each(
      "rows x cols",
      std::vector<kit::Shape>{{3, 1000}, {2, 1025}, {kit::work_scale(40, 4000), 1031}, {65535, 1}},
      [](const kit::Shape& shape) { check(shape); });
}

TEST(BatchedAdd, TakesTheMostRowsAndLongOnes) {
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{65'535, 1}, {1, 131'071}},
                [](const kit::Shape& shape) { check(shape); });
}

TEST(BatchedAdd, StaysInsideItsArraysAndRows) {
  // contract: d_a, d_b, d_c rows x cols floats each in device memory, row-major
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{1, 33}, {7, 129}, {4, 1}},
                [](const kit::Shape& shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(BatchedAdd, LaunchesOnceForTheWholeBatch) {
  // contract: with one launch
  RecordProperty("todo", 2);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{50, 300}, {300, 50}, {65'535, 1}},
                [](const kit::Shape& shape) {
                  const kit::Run run = check(shape);
                  kit::budget("launches per batch", static_cast<double>(run.counters().launches),
                              kit::at_most(1),
                              "The y direction of one grid holds all rows: every launch costs the "
                              "host some microseconds");
                });
}

TEST(BatchedAdd, AddsTheLargestBatches) {
  RecordProperty("todo", 1);
  const auto check_large = [](size_t rows, size_t cols) {
    const size_t n = rows * cols;
    const auto a = kit::large_floats(n, "a"), b = kit::large_floats(n, "b");
    const auto c = kit::LargeArray<float>::output(n, "c");
    kit::run([&] { launch_batched_add(a.get(), b.get(), c.get(), rows, cols); });
    kit::expect_at_ends(c, [&](size_t i) { return a.at(i) + b.at(i); });
  };
  kit::at_largest("1023 rows of 2^21", [&] { check_large(1023, 1 << 21); });
  kit::at_largest("1 row of 2^30", [&] { check_large(1, 1 << 30); });
}

TEST(BatchedAdd, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const kit::Run run = check({16, 1024});
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "threadIdx.x runs over columns: neighbouring threads must use neighbouring elements",
              &kit::Counters::global_load_sectors);
}

// Tests of 03/01 shift left.
#include "01_shift_left.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// Reference: rows x cols elements. Values are moved, so they are compared bit by bit.
std::vector<float> shift_left_on_cpu(const std::vector<float>& x, kit::Shape shape) {
  std::vector<float> shifted = x;
  for (int r = 0; r < shape.rows; ++r) {
    for (int c = 0; c + 1 < shape.cols; ++c) {
      shifted[r * shape.cols + c] = x[r * shape.cols + c + 1];
    }
  }
  return shifted;
}

kit::Run check(kit::Shape shape, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> x = kit::random_floats(shape.size());
  const auto d_x = kit::DeviceBuffer<float>::inout(x, "x", placement);
  const kit::Run run = kit::run([&] { launch_shift_left(d_x.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_x, shift_left_on_cpu(x, shape), shape);
  return run;
}

}  // namespace

TEST(ShiftLeft, ShiftsARowOfManyWarps) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 256}, {1, 1024}, {1, 1000}, {1, 65}},
                [](kit::Shape shape) { check(shape); });
}

TEST(ShiftLeft, ShiftsARowOfOneWarp) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 32}, {1, 31}, {1, 2}},
                [](kit::Shape shape) { check(shape); });
}

TEST(ShiftLeft, LeavesASingleColumnAlone) {
  RecordProperty("todo", 1);
  check({3, 1});
  check({1, 33});  // the same launcher must shift where there is something to shift
}

TEST(ShiftLeft, KeepsRowsApart) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{7, 96}, {3, 1023}, {40, 33}, {129, 5}},
                [](kit::Shape shape) { check(shape); });
}

TEST(ShiftLeft, StaysInsideItsArray) {
  RecordProperty("todo", 1);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 127}, {3, 64}},
                [](kit::Shape shape) { check(shape, kit::Placement::kAtEnd); });
}

TEST(ShiftLeft, ReadsEachElementOnce) {
  RecordProperty("todo", 1);
  const kit::Run run = check({8, 1024});
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), 8 * 1024),
              kit::at_most(4), "Each element has one new value, which one thread reads once",
              &kit::Counters::global_load_bytes);
}

// The last warp of a row of 33 has one thread, which moves nothing. Nobody waits for a thread that
// has ended, so a barrier that it leaves out shows neither here nor on a card.
TEST(ShiftLeft, EveryThreadComesToTheBarrier) {
  RecordProperty("todo", 1);
  const int rows = 4;
  const kit::Run run = check({rows, 33});
  // Whatever the block: warps of a block with others have somebody to wait for.
  double warps = 0;
  for (const kit::Launch& launch : run.launches()) {
    const unsigned of_block = (launch.block[0] * launch.block[1] * launch.block[2] + 31) / 32;
    if (of_block > 1) warps += of_block * launch.grid[0] * launch.grid[1] * launch.grid[2];
  }
  if (warps == 0) return;
  kit::budget("barriers per warp", kit::ratio(static_cast<double>(run.counters().barriers), warps),
              kit::at_least(1),
              "The thread of the last column has nothing to move, and must wait with the others: "
              "the barrier belongs outside of the condition");
}

TEST(ShiftLeft, ShiftsManyRows) {
  RecordProperty("todo", 1);
  // More than 2^32 elements: the last rows begin beyond 32 bits, with a sign or without.
  kit::at_largest("4,200,001 x 1024", [] {
    const int rows = 4'200'001, cols = 1024;
    const auto x = kit::LargeArray<float>::inout(size_t{1} * rows * cols, "x",
                                                 kit::random_integer_floats(kit::kPeriod));
    kit::run([&] { launch_shift_left(x.get(), rows, cols); });
    kit::expect_at_ends(x, [&](size_t i) { return i % cols < cols - 1 ? x.at(i + 1) : x.at(i); });
  });
}

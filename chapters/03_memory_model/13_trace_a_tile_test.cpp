// Tests of 03/13 trace a tile.
#include "13_trace_a_tile.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// Reference: rows x cols elements. Integers, so every order of additions gives the same.
std::vector<int> column_totals_on_cpu(const std::vector<int>& in, kit::Shape shape) {
  std::vector<int> totals = in;
  for (int r = 0; r < shape.rows; ++r) {
    if (r % kTile == 0) continue;  // the first row of a tile has nothing above it
    for (int c = 0; c < shape.cols; ++c) {
      totals[r * shape.cols + c] += totals[(r - 1) * shape.cols + c];
    }
  }
  return totals;
}

// Row r holds 10^r times the number of the column: the digits of a sum name its rows.
const std::vector<int>& readable_tile() {
  static const auto* tile =
      new std::vector<int>{1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400, 1000, 2000, 3000, 4000};
  return *tile;
}

void check(const std::vector<int>& in, kit::Shape shape,
           kit::Placement placement = kit::Placement::kMiddle) {
  const auto d_in = kit::DeviceBuffer<int>::input(in, "in", placement);
  const auto d_out = kit::DeviceBuffer<int>::output(in.size(), "out", placement);
  kit::run([&] { launch_column_totals(d_in.get(), d_out.get(), shape.rows, shape.cols); });
  kit::expect_equal(d_out, column_totals_on_cpu(in, shape), shape);
}

void check_random(kit::Shape shape) { check(kit::random_ints(shape.size(), -1000, 1000), shape); }

}  // namespace

TEST(TraceATile, TheTraceWasRead) {
  RecordProperty("todo", 1);
  // The unsolved kernel, step by step: with `row ^ step` thread 8 is the first to miss row - step.
  const FirstWrongLoad got = first_wrong_load();
  const int row = 2, step = 1;
  const FirstWrongLoad expected = {row * kTile, readable_tile()[(row ^ step) * kTile],
                                   readable_tile()[(row - step) * kTile]};
  if (got.thread != expected.thread) {
    kit::fail(
        "Thread " + std::to_string(got.thread) +
        " is not the lowest that loads a wrong element. `./grade trace --thread T` shows "
        "what thread T loads, for T from 0 to 15. It needs the unsolved kernel: `./grade reset` "
        "brings it back.");
  } else if (got.loads != expected.loads) {
    kit::fail("In the unsolved kernel the first wrong element that thread " +
              std::to_string(got.thread) + " loads from the tile is not " +
              std::to_string(got.loads) +
              ". Its loads of `tile` come in pairs: its own element first, then the one to add.");
  } else if (got.should_be != expected.should_be) {
    kit::fail("The loaded value and the thread are right, but " + std::to_string(got.should_be) +
              " is not what should be loaded there. Which row lies `step` above the row of the "
              "thread, in that round, and what does the tile hold there?");
  }
}

// The first launch of the program, so it is the one that `grade trace` shows.
TEST(TraceATile, AddsDownTheColumnsOfTheReadableTile) {
  RecordProperty("todo", 2);
  check(readable_tile(), {kTile, kTile});
}

TEST(TraceATile, AddsDownTheColumnsOfRandomTiles) {
  RecordProperty("todo", 2);
  kit::for_each("shape", std::vector<kit::Shape>{{4, 4}, {8, 4}, {4, 12}, {16, 20}}, check_random);
}

TEST(TraceATile, CoversShapesThatAreNotTileMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("shape", std::vector<kit::Shape>{{1, 1}, {3, 5}, {7, 4}, {13, 2}, {31, 33}},
                check_random);
}

TEST(TraceATile, StaysInsideItsArrays) {
  RecordProperty("todo", 2);
  kit::for_each("shape", std::vector<kit::Shape>{{5, 7}, {8, 8}}, [](kit::Shape shape) {
    check(kit::random_ints(shape.size(), -9, 9), shape, kit::Placement::kAtEnd);
  });
}

// More than 2^32 elements.
TEST(TraceATile, AddsInTheLargestMatrices) {
  RecordProperty("todo", 2);
  const auto check_large = [](size_t rows, size_t cols) {
    const auto in =
        kit::LargeArray<int>::input(rows * cols, "in", kit::random_ints(kit::kPeriod, -1000, 1000));
    const auto out = kit::LargeArray<int>::output(rows * cols, "out");
    kit::run([&] { launch_column_totals(in.get(), out.get(), rows, cols); });
    kit::expect_at_ends(out, [&](size_t i) {
      int total = 0;
      for (size_t k = 0; k <= i / cols % kTile; ++k) total += in.at(i - k * cols);
      return total;
    });
  };
  kit::at_largest("2^17 x 33,001", [&] { check_large(1 << 17, 33'001); });
  kit::at_largest("4099 x 2^20", [&] { check_large(4099, 1 << 20); });
}

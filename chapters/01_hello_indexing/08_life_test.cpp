// Tests of 01/08 life.
#include "08_life.h"

#include <numeric>

#include "kit/host_code.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

using Board = std::vector<unsigned char>;

Board random_board(const kit::Shape& shape) {
  Board board;
  for (const int cell : kit::random_ints(shape.size(), 0, 2)) board.push_back(cell == 0);
  return board;
}

// Reference: one generation, written with an explicit border instead of remainders.
Board next_of(const Board& board, const kit::Shape& shape) {
  Board next(board.size());
  const auto cell = [&](int row, int col) {
    row = row < 0 ? shape.rows - 1 : row == shape.rows ? 0 : row;
    col = col < 0 ? shape.cols - 1 : col == shape.cols ? 0 : col;
    return int{board[static_cast<size_t>(row) * shape.cols + col]};
  };
  for (int row = 0; row < shape.rows; ++row) {
    for (int col = 0; col < shape.cols; ++col) {
      const int above = cell(row - 1, col - 1) + cell(row - 1, col) + cell(row - 1, col + 1);
      const int below = cell(row + 1, col - 1) + cell(row + 1, col) + cell(row + 1, col + 1);
      const int living = above + below + cell(row, col - 1) + cell(row, col + 1);
      next[static_cast<size_t>(row) * shape.cols + col] =
          living == 3 || (living == 2 && cell(row, col) == 1);
    }
  }
  return next;
}

Board after(Board board, const kit::Shape& shape, int generations) {
  for (int k = 0; k < generations; ++k) board = next_of(board, shape);
  return board;
}

kit::Run check_launch(const kit::Shape& shape) {
  const Board board = random_board(shape);
  const auto cells = kit::DeviceBuffer<unsigned char>::input(board, "cells");
  const auto next = kit::DeviceBuffer<unsigned char>::output(board.size(), "next");
  const kit::Run run =
      kit::run([&] { launch_generation(cells.get(), next.get(), shape.rows, shape.cols); });
  kit::expect_equal(next, next_of(board, shape), shape);
  return run;
}

struct Case {
  kit::Shape shape;
  int generations;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.shape << " (" << c.generations << " generations)";
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {{{16, 16}, 1}, {{7, 13}, 2},  {{33, 9}, 5},
                                         {{3, 3}, 1},   {{40, 65}, 4}, {{5, 4}, 0}};
  return list;
}

TEST(Life, LivesOnTheCpu) {
  RecordProperty("todo", 1);
  std::vector<Case> all = cases();
  all.push_back({{65'535, 3}, 1});
  all.push_back({{3, 65'535}, 1});
  kit::for_each("rows x cols", all, [](const Case& c) {
    const Board board = random_board(c.shape);
    Board result(board.size(), 7);
    kit::expect_host_code("live_on_cpu", [&] {
      live_on_cpu(board.data(), result.data(), c.shape.rows, c.shape.cols, c.generations);
    });
    kit::expect_equal("h_after", result, after(board, c.shape, c.generations), c.shape);
  });
}

TEST(Life, LivesForOneGeneration) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{8, 32}, {64, 64}, {16, 128}}, check_launch);
}

TEST(Life, CoversBoardsThatAreNotBlockMultiples) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols",
                std::vector<kit::Shape>{{3, 3}, {5, 7}, {9, 33}, {33, 9}, {65, 127}, {127, 50}},
                check_launch);
}

TEST(Life, CoversHighAndWideBoards) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", std::vector<kit::Shape>{{65'535, 3}, {3, 65'535}}, check_launch);
}

TEST(Life, LivesFromHostToHost) {
  RecordProperty("todo", 1);
  kit::for_each("rows x cols", cases(), [](const Case& c) {
    const Board board = random_board(c.shape);
    Board cells = board, result(board.size(), 7);
    const kit::Run run = kit::run(
        [&] { live(cells.data(), result.data(), c.shape.rows, c.shape.cols, c.generations); });
    kit::expect_equal("h_cells afterwards", cells, board, c.shape);
    kit::expect_equal("h_after", result, after(board, c.shape, c.generations), c.shape);
    kit::expect_no_leak(run);
  });
}

// Five cells that are themselves again after four generations, one row down and one column right.
TEST(Life, AGliderComesHome) {
  RecordProperty("todo", 1);
  const kit::Shape shape{8, 12};
  Board board(shape.size());
  for (const int cell : {1, 12 + 2, 24, 24 + 1, 24 + 2}) board[cell] = 1;
  Board result(board.size(), 7);
  // 24 is the least number of steps that is a multiple of 8 rows and of 12 columns.
  kit::run([&] { live(board.data(), result.data(), shape.rows, shape.cols, 4 * 24); });
  kit::expect_equal("h_after", result, board, shape);
}

TEST(Life, TheDeviceTakesTheLargestBoards) {
  RecordProperty("todo", 1);
  const auto check_large = [](int rows, int cols) {
    const size_t n = static_cast<size_t>(rows) * cols;
    std::vector<unsigned char> cells;
    for (const int value : kit::random_ints(kit::kPeriod, 0, 1)) {
      cells.push_back(static_cast<unsigned char>(value));
    }
    const auto now = kit::LargeArray<unsigned char>::input(n, "cells", cells);
    const auto next = kit::LargeArray<unsigned char>::output(n, "next");
    kit::run([&] { launch_generation(now.get(), next.get(), rows, cols); });
    kit::expect_at_ends(next, [&](size_t i) {
      int neighbours = 0;
      for (int k = 0; k < 9; ++k) {
        const size_t row = (i / cols + rows + k / 3 - 1) % rows;
        const size_t col = (i % cols + cols + k % 3 - 1) % cols;
        if (k != 4) neighbours += now.at(row * cols + col);
      }
      return static_cast<unsigned char>(neighbours == 3 || (neighbours == 2 && now.at(i) == 1));
    });
  };
  kit::at_largest("65535 x 32767", [&] { check_large(65535, 32767); });
  kit::at_largest("32767 x 65535", [&] { check_large(32767, 65535); });
}

TEST(Life, MovesOnlyWhatItNeeds) {
  RecordProperty("todo", 1);
  const kit::Shape shape{64, 256};
  const kit::Run run = check_launch(shape);
  const kit::Counters& c = run.counters();
  kit::budget("bytes stored per cell", kit::ratio(c.global_store_bytes, shape.size()),
              kit::at_most(1), "One thread decides about one cell, once",
              &kit::Counters::global_store_bytes);
  kit::budget("bytes loaded per cell", kit::ratio(c.global_load_bytes, shape.size()),
              kit::at_most(9), "A cell and its eight neighbours are nine bytes",
              &kit::Counters::global_load_bytes);
  kit::budget("global load sectors per request",
              kit::ratio(c.global_load_sectors, c.global_load_requests), kit::at_most(5),
              "x is the fast axis: neighbours in threadIdx.x must stand side by side in a row",
              &kit::Counters::global_load_sectors);
}

TEST(Life, CopiesTwice) {
  RecordProperty("todo", 1);
  const kit::Shape shape{20, 30};
  const Board board = random_board(shape);
  Board result(board.size(), 7);
  kit::run([&] { live(board.data(), result.data(), shape.rows, shape.cols, 6); });
  kit::expect_equal("h_after", result, after(board, shape, 6), shape);
  if (!kit::simulated()) return;
  kit::budget("copies for 6 generations", static_cast<double>(kit::api_calls_like("cudaMemcpy")),
              kit::at_most(2), "The boards stay on the device between the generations");
}

}  // namespace

// Tests of 01/01 hello threads.
#include "01_hello_threads.h"

#include <ostream>

#include "kit/kit.h"
#include "kit/launches.h"

namespace {

struct Grid {
  int blocks, threads;
  int size() const { return blocks * threads; }
};

std::ostream& operator<<(std::ostream& out, const Grid& grid) {
  return out << grid.blocks << " x " << grid.threads;
}

struct GuestBook {
  explicit GuestBook(const Grid& grid)
      : block_of(kit::DeviceBuffer<int>::output(grid.size(), "block_of")),
        thread_of(kit::DeviceBuffer<int>::output(grid.size(), "thread_of")),
        next_line(kit::DeviceBuffer<int>::inout({0}, "next_line")) {
    run = kit::run([&] {
      launch_hello_threads(grid.blocks, grid.threads, block_of.get(), thread_of.get(),
                           next_line.get());
    });
  }

  kit::DeviceBuffer<int> block_of, thread_of, next_line;
  kit::Run run;
};

// Every thread of the grid must stand on exactly one line. Lines may be in any order, so the book
// is read into a table with one counter per thread.
void expect_every_thread_once(const GuestBook& book, const Grid& grid) {
  std::vector<uint8_t> written;  // empty on a GPU
  const std::vector<int> blocks = book.block_of.download(&written);
  const std::vector<int> threads = book.thread_of.download();
  std::vector<int> signatures(grid.size(), 0);
  for (int line = 0; line < grid.size(); ++line) {
    const int block = blocks[line], thread = threads[line];
    if (!written.empty() && !written[line]) {
      kit::fail("line " + std::to_string(line) + " of the guest book, which has " +
                std::to_string(grid.size()) + ", was never written.");
      return;
    }
    if (block < 0 || block >= grid.blocks || thread < 0 || thread >= grid.threads) {
      std::ostringstream message;
      message << "line " << line << " of the guest book says block " << block << ", thread "
              << thread << ", but blocks are numbered 0 to " << grid.blocks - 1
              << " and threads 0 to " << grid.threads - 1 << ".";
      if (block >= 0 && block < grid.threads && thread >= 0 && thread < grid.blocks) {
        message << " Block and thread look exchanged: in the book or between <<< and >>>.";
      }
      kit::fail(message.str());
      return;
    }
    ++signatures[block * grid.threads + thread];
  }
  for (int i = 0; i < grid.size(); ++i) {
    if (signatures[i] == 1) continue;
    std::ostringstream message;
    message << "thread " << i % grid.threads << " of block " << i / grid.threads << " signed "
            << signatures[i] << " lines; every thread signs 1.";
    kit::fail(message.str());
    return;
  }
}

TEST(HelloThreads, OneThreadSignsTheFirstLine) {
  RecordProperty("todo", 1);
  const GuestBook book({1, 1});
  kit::expect_equal(book.block_of, {0});
  kit::expect_equal(book.thread_of, {0});
}

TEST(HelloThreads, LaunchesAllThreadsOfAllBlocks) {
  RecordProperty("todo", 2);
  const std::vector<Grid> grids = {{1, 32}, {4, 1}, {3, 64}, {2, 1024}};
  kit::for_each("blocks x threads", grids, [](const Grid& grid) {
    const GuestBook book(grid);
    const int taken = book.next_line.download()[0];
    if (taken == grid.size()) return;
    kit::fail("lines of the guest book that were taken: " + std::to_string(taken) + ", expected " +
              std::to_string(grid.size()) + ", one for each thread.");
  });
}

TEST(HelloThreads, LaunchesTheBlocksThatWereAskedFor) {
  RecordProperty("todo", 2);
  kit::for_each("blocks x threads", std::vector<Grid>{{5, 2}, {3, 64}}, [](const Grid& grid) {
    const GuestBook book(grid);
    kit::expect_grid_of(book.run, dim3(grid.blocks));
    kit::expect_blocks_of(book.run, dim3(grid.threads));
  });
}

TEST(HelloThreads, EveryThreadSignsWithItsOwnNumbers) {
  RecordProperty("todo", 1);
  // Never square: exchanged numbers must show.
  const std::vector<Grid> grids = {{1, 31}, {5, 2}, {3, 64}, {7, 33}, {2, 1024}, {65'536, 1}};
  kit::for_each("blocks x threads", grids, [](const Grid& grid) {
    const GuestBook book(grid);
    expect_every_thread_once(book, grid);
  });
}

}  // namespace

// Tests of 06/12 child launch.
#include "12_child_launch.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

struct Picture {
  const char* name;
  Disc disc;
  int side;
};
std::ostream& operator<<(std::ostream& out, const Picture& p) {
  return out << p.side << " x " << p.side << " cells, " << p.name;
}

// Reference: side * side cells, by the definition.
std::vector<int> coverage_on_cpu(const Picture& p) {
  std::vector<int> coverage;
  for (int row = 0; row < p.side; ++row) {
    for (int col = 0; col < p.side; ++col) {
      int count = 0;
      for (int sample = 0; sample < kSamples; ++sample) {
        count += p.disc.contains_sample(row, col, sample);
      }
      coverage.push_back(count);
    }
  }
  return coverage;
}

int border_cells(const Picture& p) {
  int count = 0;
  for (int row = 0; row < p.side; ++row) {
    for (int col = 0; col < p.side; ++col) {
      count += !p.disc.contains_cell(row, col) && !p.disc.misses_cell(row, col);
    }
  }
  return count;
}

using Launcher = void (*)(const Disc&, int, int*);

kit::Run check(const Picture& p, Launcher launch = launch_adaptive_coverage) {
  const auto d_coverage = kit::DeviceBuffer<int>::output(p.side * p.side, "coverage");
  const kit::Run run = kit::run([&] { launch(p.disc, p.side, d_coverage.get()); });
  kit::expect_equal(d_coverage, coverage_on_cpu(p), kit::Shape(p.side, p.side));
  return run;
}

// In the middle of a picture of `side` cells, a little off the lattice.
Picture centred(int side, int radius) {
  return {"a disc in the middle", {kCell * side / 2 + 3, kCell * side / 2 - 5, radius}, side};
}

}  // namespace

TEST(ChildLaunch, CellsWithoutABorderNeedNoPoints) {
  RecordProperty("todo", 2);
  kit::for_each("picture",
                std::vector<Picture>{{"all inside the disc", {100, 100, 100000}, 9},
                                     {"all outside the disc", {-5000, -5000, 100}, 9}},
                [](const Picture& p) {
                  const kit::Run run = check(p);
                  if (kit::simulated() && run.counters().launches > 1) {
                    kit::fail("No cell of this picture has a border, but " +
                              std::to_string(run.counters().launches - 1) +
                              " kernels were launched by the kernel.");
                  }
                });
}

TEST(ChildLaunch, BorderCellsAreSampled) {
  RecordProperty("todo", 1);
  kit::for_each("picture",
                std::vector<Picture>{{"a disc inside one cell", {15, 16, 9}, 1},
                                     {"a disc inside one cell", {50, 16, 12}, 3},
                                     centred(5, 60),
                                     centred(16, 200)},
                [](const Picture& p) { check(p); });
}

TEST(ChildLaunch, DiscsMayReachOverTheEdge) {
  RecordProperty("todo", 2);
  kit::for_each("picture",
                std::vector<Picture>{{"a disc in a corner", {0, 0, 150}, 8},
                                     {"a disc past the right edge", {300, 80, 170}, 7},
                                     {"a disc of one point", {33, 33, 0}, 2},
                                     {"one cell", {40, 10, 20}, 1}},
                [](const Picture& p) { check(p); });
}

TEST(ChildLaunch, CoversTheLargestPicture) {
  RecordProperty("todo", 2);
  kit::at_largest("side = 46,340", [] {
    constexpr int kSide = 46'340;
    const auto coverage = kit::LargeArray<int>::output(size_t{kSide} * kSide, "coverage");
    const Disc disc = {0, 0, 1 << 30};  // all of the picture, and more
    kit::run([&] { launch_adaptive_coverage(disc, kSide, coverage.get()); });
    kit::expect_at_ends(coverage, [](size_t) { return kSamples; });
  });
}

TEST(ChildLaunch, OnlyTheBorderCosts) {
  RecordProperty("todo", 2);
  const Picture p = centred(32, 400);
  const kit::Run adaptive = check(p);
  const int border = border_cells(p);
  kit::budget("launches by the kernel", static_cast<double>(adaptive.counters().launches) - 1,
              kit::at_most(border), "Only cells that the border crosses need their points tested");
  kit::budget("threads", static_cast<double>(adaptive.counters().threads),
              kit::at_most(p.side * p.side + 64 + kSamples * border),
              "One thread per cell and a block of 256 for each border cell");
}

TEST(ChildLaunch, ChildrenDoNotWaitForEachOther) {
  RecordProperty("todo", 2);
  const Picture p = centred(16, 200);
  const auto d_coverage = kit::DeviceBuffer<int>::output(p.side * p.side, "coverage");
  uint64_t waiting = 0;
  kit::run([&] {
    launch_adaptive_coverage(p.disc, p.side, d_coverage.get());
    cudaDeviceSynchronize();
    waiting = wsim_waiting_children();
  });
  kit::expect_equal(d_coverage, coverage_on_cpu(p), kit::Shape(p.side, p.side));
  if (waiting > 0) {
    kit::fail(std::to_string(waiting) + " of " + std::to_string(border_cells(p)) +
              " children wait for another one, because they are in one stream. Which stream of a "
              "kernel has no order?");
  }
}

TEST(ChildLaunch, AgreesWithTheFlatLaunch) {
  RecordProperty("todo", 2);
  const Picture p = centred(kit::work_scale(16, 256), kit::work_scale(200, 3500));
  check(p, launch_flat_coverage);
  check(p);
}

// Tests of 01/05 grid-stride loop.
#include "05_grid_stride.h"

#include <ostream>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/launches.h"
#include "kit/special_values.h"

namespace {

// y[i] = max(x[i], 0), one after the other.
std::vector<float> relu_on_cpu(const std::vector<float>& x) {
  std::vector<float> y;
  for (const float value : x) y.push_back(value > 0.0f ? value : 0.0f);
  return y;
}

struct Case {
  int n, blocks, threads;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.n << " (grid " << c.blocks << " x " << c.threads << ")";
}

void expect_relu_on(const Case& c) {
  const std::vector<float> values = kit::random_floats(c.n);
  const auto x = kit::DeviceBuffer<float>::input(values, "x");
  const auto y = kit::DeviceBuffer<float>::output(c.n, "y");
  const kit::Run run =
      kit::run([&] { launch_relu_on(c.blocks, c.threads, x.get(), y.get(), c.n); });
  kit::expect_equal(y, relu_on_cpu(values));
  kit::expect_grid_of(run, dim3(c.blocks));
  kit::expect_blocks_of(run, dim3(c.threads));
}

// The grid of the learner's own choice.
kit::Run expect_relu(int n) {
  const std::vector<float> values = kit::random_floats(n);
  const auto x = kit::DeviceBuffer<float>::input(values, "x");
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  const kit::Run run = kit::run([&] { launch_relu(x.get(), y.get(), n); });
  kit::expect_equal(y, relu_on_cpu(values));
  return run;
}

TEST(GridStride, WorksWithAsManyThreadsAsElements) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Case>{{1, 1, 1}, {64, 2, 32}, {1024, 8, 128}, {16384, 64, 256}},
                expect_relu_on);
}

TEST(GridStride, WorksWithMoreThreadsThanElements) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<Case>{{0, 1, 32}, {1, 2, 64}, {33, 2, 32}, {1000, 16, 256}},
                expect_relu_on);
}

TEST(GridStride, WorksWithFewerThreadsThanElements) {
  RecordProperty("todo", 1);
  kit::for_each("n",
                std::vector<Case>{{100, 1, 1},
                                  {128, 1, 64},
                                  {1000, 3, 32},
                                  {1031, 5, 33},
                                  {5000, 2, 1024},
                                  {16384, 1, 1},
                                  {16384, 1, 256}},
                expect_relu_on);
}

TEST(GridStride, WhatIsNotPositiveBecomesZero) {
  RecordProperty("todo", 1);
  // Infinities, both zeros and NaN, which is not positive either.
  const std::vector<float> values = kit::special_floats_and_nans(500);
  const auto x = kit::DeviceBuffer<float>::input(values, "x");
  const auto y = kit::DeviceBuffer<float>::output(values.size(), "y");
  kit::run([&] { launch_relu_on(3, 64, x.get(), y.get(), 500); });
  kit::expect_equal(y, relu_on_cpu(values));
}

TEST(GridStride, ReadsNeighbouringElementsTogether) {
  RecordProperty("todo", 1);
  const int n = 16384;
  const std::vector<float> values = kit::random_floats(n);
  const auto x = kit::DeviceBuffer<float>::input(values, "x");
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  const kit::Run run = kit::run([&] { launch_relu_on(4, 256, x.get(), y.get(), n); });
  kit::expect_equal(y, relu_on_cpu(values));
  const kit::Counters& c = run.counters();
  kit::budget("global load sectors per request",
              kit::ratio(c.global_load_sectors, c.global_load_requests), kit::at_most(5),
              "32 neighbouring floats are 4 sectors of 32 bytes; with a chunk of elements per "
              "thread every thread of a warp needs a sector of its own",
              &kit::Counters::global_load_sectors);
}

TEST(GridStride, ComputesEachElementOnce) {
  RecordProperty("todo", 1);
  const int n = 16384;
  const std::vector<float> values = kit::random_floats(n);
  const auto x = kit::DeviceBuffer<float>::input(values, "x");
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  const kit::Run run = kit::run([&] { launch_relu_on(4, 256, x.get(), y.get(), n); });
  kit::expect_equal(y, relu_on_cpu(values));
  kit::budget("bytes stored per element",
              kit::ratio(static_cast<double>(run.counters().global_store_bytes), n),
              kit::at_most(4),
              "Each element belongs to one thread; with the threads of a block for a step every "
              "block does again what others have done",
              &kit::Counters::global_store_bytes);
}

TEST(GridStride, ChoosesAGridForAnySize) {
  RecordProperty("todo", 2);
  expect_relu(0);
  kit::for_each("n", kit::awkward_sizes(), expect_relu);
  expect_relu(kit::work_scale(20000, (1 << 24) + 5));
}

TEST(GridStride, TakesTheLargestArrays) {
  RecordProperty("todo", 1);
  const auto check_large = [](int blocks, int threads) {
    const int n = 1 << 30;
    const auto x = kit::large_floats(n, "x");
    const auto y = kit::LargeArray<float>::output(n, "y");
    const kit::Run run = kit::run([&] {
      if (blocks > 0) {
        launch_relu_on(blocks, threads, x.get(), y.get(), n);
      } else {
        launch_relu(x.get(), y.get(), n);
      }
    });
    kit::expect_at_ends(y, [&](size_t i) { return std::max(x.at(i), 0.0f); });
    if (blocks > 0) kit::expect_grid_of(run, dim3(blocks));
  };
  kit::at_largest("2^30 elements, a grid of its own", [&] { check_large(0, 0); });
  kit::at_largest("2^30 elements, 1,000,000 threads", [&] { check_large(1000, 1000); });
  kit::at_largest("2^30 elements, 2^30 threads", [&] { check_large(1 << 20, 1024); });
  kit::at_largest("2^30 elements, 2^30 blocks", [&] { check_large(1 << 30, 1); });
}

TEST(GridStride, LaunchesNoIdleBlocks) {
  RecordProperty("todo", 2);
  const kit::Run run = expect_relu(1000);
  kit::budget("threads launched for 1000 elements", run.counters().threads, kit::at_most(1024),
              "1000 elements need 4 blocks of 256 threads; further blocks find nothing to do");
  const kit::Run whole = expect_relu(1024);
  kit::budget("threads launched for 1024 elements", whole.counters().threads, kit::at_most(1024),
              "1024 elements are exactly 4 blocks of 256 threads: none is needed for a rest");
}

TEST(GridStride, LimitsTheGrid) {
  RecordProperty("todo", 2);
  const kit::Run run = expect_relu(100000);
  kit::budget("threads launched for 100000 elements", run.counters().threads, kit::at_most(8192),
              "32 blocks of 256 threads are the limit; the loop does the rest");
}

TEST(GridStride, CoversEveryElementThatTheGridHasRoomFor) {
  RecordProperty("todo", 2);
  const kit::Run run = expect_relu(1000);
  kit::budget("threads at work on 1000 elements", run.counters().threads, kit::at_least(1000),
              "It takes 4 blocks of 256 threads to cover 1000 elements");
}

TEST(GridStride, UsesTheWholeGrid) {
  RecordProperty("todo", 2);
  const kit::Run run = expect_relu(100000);
  kit::budget("threads at work on 100000 elements", run.counters().threads, kit::at_least(8192),
              "32 blocks of 256 threads may be launched; fewer leave a part of the machine idle");
}

}  // namespace

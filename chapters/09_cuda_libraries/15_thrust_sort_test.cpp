// Tests of 09/15 Thrust, sorting.
#include "15_thrust_sort.h"

#include <algorithm>
#include <numeric>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/stream.h"

namespace {

struct Sizes {
  int n, cells;
};
std::ostream& operator<<(std::ostream& out, const Sizes& s) {
  return out << s.n << " particles, " << s.cells << " cells";
}

// References. order: the particles by their cell, equal ones as they stood.
std::vector<int> order_on_cpu(const std::vector<int>& cell) {
  std::vector<int> order(cell.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return cell[a] < cell[b]; });
  return order;
}
template <class T>
std::vector<T> taken(const std::vector<T>& x, const std::vector<int>& order) {
  std::vector<T> y;
  for (const int i : order) y.push_back(x[i]);
  return y;
}
std::vector<int> starts_on_cpu(const std::vector<int>& sorted, int cells) {
  std::vector<int> start;
  for (int c = 0; c <= cells; ++c) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), c);
    start.push_back(static_cast<int>(at - sorted.begin()));
  }
  return start;
}

// The cells arrive in the stream, right before the sort.
void check_sort(const std::vector<int>& cell) {
  const int n = static_cast<int>(cell.size());
  const auto d_from = kit::DeviceBuffer<int>::input(cell, "cells as they were");
  const auto d_cell = kit::DeviceBuffer<int>::output(n, "cell", kit::Placement::kAtEnd);
  const auto d_order = kit::DeviceBuffer<int>::output(n, "order", kit::Placement::kAtEnd);
  const kit::Stream stream;
  kit::run([&] {
    cudaMemcpyAsync(d_cell.get(), d_from.get(), n * sizeof(int), cudaMemcpyDeviceToDevice,
                    stream.get());
    launch_sort_by_cell(d_cell.get(), d_order.get(), n, stream.get());
    cudaStreamSynchronize(stream.get());
  });
  const std::vector<int> order = order_on_cpu(cell);
  kit::expect_equal(d_cell, taken(cell, order));
  kit::expect_equal(d_order, order);
}

void check_starts(const Sizes& s) {
  std::vector<int> cell = kit::random_ints(s.n, 0, s.cells - 1);
  std::sort(cell.begin(), cell.end());
  const auto d_cell = kit::DeviceBuffer<int>::input(cell, "cell", kit::Placement::kAtEnd);
  const auto d_start = kit::DeviceBuffer<int>::output(s.cells + 1, "start", kit::Placement::kAtEnd);
  const kit::Stream stream;
  kit::run([&] {
    launch_cell_starts(d_cell.get(), s.n, s.cells, d_start.get(), stream.get());
    cudaStreamSynchronize(stream.get());
  });
  kit::expect_equal(d_start, starts_on_cpu(cell, s.cells));
}

}  // namespace

TEST(ThrustSort, SortsPairsAndKeepsTheOrderOfEqualOnes) {
  RecordProperty("todo", 1);
  kit::for_each("particles",
                std::vector<Sizes>{{5, 3}, {1, 1}, {33, 4}, {1000, 7}, {1025, 100000}, {0, 1}},
                [](const Sizes& s) { check_sort(kit::random_ints(s.n, 0, s.cells - 1)); });
  check_sort({3, -1, 2, -5, 0});  // numbers with a sign, too
}

TEST(ThrustSort, FindsWhereEachCellBegins) {
  RecordProperty("todo", 2);
  kit::for_each(
      "particles",
      std::vector<Sizes>{{5, 3}, {1, 1}, {33, 100}, {256, 4}, {1000, 1000}, {255, 1}, {0, 5}},
      check_starts);
}

TEST(ThrustSort, TakesParticlesInTheirOrder) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{1, 33, 257, 1000}, [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    const std::vector<int> order = order_on_cpu(kit::random_ints(n, 0, 20));
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_order = kit::DeviceBuffer<int>::input(order, "order");
    const auto d_y = kit::DeviceBuffer<float>::output(n, "y", kit::Placement::kAtEnd);
    kit::run([&] { launch_gather(d_x.get(), d_order.get(), d_y.get(), n, nullptr); });
    kit::expect_equal(d_y, taken(x, order));
  });
}

TEST(ThrustSort, FindsStartsOfManyCellsAndOfManyParticles) {
  RecordProperty("todo", 2);
  kit::for_each("particles", std::vector<Sizes>{{3, 131'077}, {131'077, 3}}, check_starts);
}

TEST(ThrustSort, TakesAsManyParticlesAsAnIntCounts) {
  RecordProperty("todo", 3);
  kit::at_largest((1 << 30) + 77, [](int n) {
    const auto d_x = kit::large_floats(n, "x");
    const auto d_order =
        kit::LargeArray<int>::input(n, "order", kit::random_ints(kit::kPeriod, 0, n - 1));
    const auto d_y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_gather(d_x.get(), d_order.get(), d_y.get(), n, nullptr); });
    kit::expect_at_ends(d_y, [&](size_t i) { return d_x.at(d_order.at(i)); });
  });
}

TEST(ThrustSort, StartsReadEachCellTwiceAtMost) {
  RecordProperty("todo", 2);
  constexpr int kParticles = 4096, kCells = 16;
  std::vector<int> cell = kit::random_ints(kParticles, 0, kCells - 1);
  std::sort(cell.begin(), cell.end());
  const auto d_cell = kit::DeviceBuffer<int>::input(cell, "cell");
  const auto d_start = kit::DeviceBuffer<int>::output(kCells + 1, "start");
  const kit::Run run = kit::run(
      [&] { launch_cell_starts(d_cell.get(), kParticles, kCells, d_start.get(), nullptr); });
  kit::expect_equal(d_start, starts_on_cpu(cell, kCells));
  kit::budget(
      "cells loaded per particle",
      kit::ratio(static_cast<double>(run.counters().global_load_bytes) / 4, kParticles),
      kit::at_most(2.1),
      "Only the two sides of a gap are needed. A search for each cell, or a count for each, "
      "reads more where there are many particles",
      &kit::Counters::global_load_bytes);
}

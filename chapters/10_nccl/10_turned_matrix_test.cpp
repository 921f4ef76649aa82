// Tests of 10/10 turned matrix.
#include "10_turned_matrix.h"

#include <algorithm>
#include <sstream>

#include "02_all_reduce_support.h"
#include "04_ring_all_reduce_support.h"
#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

struct Case {
  int devices, rows, cols;
  size_t of_a(int d) const { return static_cast<size_t>(share_of(rows, devices, d)) * cols; }
  size_t of_t(int d) const { return static_cast<size_t>(share_of(cols, devices, d)) * rows; }
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.rows << " x " << c.cols << ", devices = " << c.devices;
}

// Every number of devices with each size.
std::vector<Case> cases(const std::vector<kit::Shape>& sizes) {
  std::vector<Case> all;
  for (const int devices : device_counts()) {
    for (const kit::Shape& size : sizes) all.push_back({devices, size.rows, size.cols});
  }
  return all;
}

kit::Run check(const Case& c) {
  const Ranks ranks(c.devices);
  const Streams streams(c.devices);
  const std::vector<float> a = kit::random_floats(static_cast<size_t>(c.rows) * c.cols);
  std::vector<std::vector<float>> shares;
  std::vector<size_t> of_t, of_space;
  for (int d = 0; d < c.devices; ++d) {
    const auto begin = a.begin() + static_cast<long>(first_of(c.rows, c.devices, d)) * c.cols;
    shares.emplace_back(begin, begin + static_cast<long>(c.of_a(d)));
    of_t.push_back(c.of_t(d));
    of_space.push_back(c.of_a(d) + c.of_t(d));
  }
  const auto d_a = PerDevice<float>::input(shares, "d_a");
  const auto d_t = PerDevice<float>::output(of_t, "d_t");
  const auto d_space = PerDevice<float>::output(of_space, "d_space");
  const kit::Run run = run_call("turn_matrix", [&] {
    return turn_matrix(d_a.get(), d_t.get(), d_space.get(), c.rows, c.cols, ranks.data(),
                       streams.data(), c.devices);
  });
  for (int d = 0; d < c.devices; ++d) {
    const int first = first_of(c.cols, c.devices, d), share = share_of(c.cols, c.devices, d);
    std::vector<float> expected;
    for (int col = first; col < first + share; ++col) {
      for (int row = 0; row < c.rows; ++row) {
        expected.push_back(a[static_cast<size_t>(row) * c.cols + col]);
      }
    }
    kit::expect_equal(d_t[d], expected, kit::Shape(share, c.rows));
  }
  return run;
}

}  // namespace

TEST(TurnedMatrix, TurnsSquares) {
  RecordProperty("todo", 1);
  kit::for_each("a", cases({{4, 4}, {12, 12}, {96, 96}}), check);
}

TEST(TurnedMatrix, TurnsAnySize) {
  RecordProperty("todo", 1);
  kit::for_each("a", cases({{1, 1}, {2, 9}, {9, 2}, {5, 7}, {33, 65}, {130, 41}, {67, 131}}),
                check);
}

TEST(TurnedMatrix, SharesMayBeEmpty) {
  RecordProperty("todo", 1);
  kit::for_each("a", cases({{0, 5}, {5, 0}, {1, 40}, {40, 1}, {3, 3}}), check);
}

TEST(TurnedMatrix, CoversEveryExtent) {
  RecordProperty("todo", 1);
  // Two devices: a share of more rows than a grid has blocks along y.
  kit::for_each("a", std::vector<Case>{{2, 140'001, 2}, {2, 2, 140'001}}, check);
}

// So many rows that even tiles of 32 are more than a grid has blocks along y; then columns. Blocks
// send what others have made, so no values are compared where few of them run: each launch has to
// be one that there can be.
TEST(TurnedMatrix, TakesMillionsOfRows) {
  RecordProperty("todo", 1);
  for (const Case& c : std::vector<Case>{{2, 5'000'001, 3}, {2, 3, 5'000'001}}) {
    std::ostringstream title;
    title << "a = " << c;
    kit::at_largest(title.str(), [&] {
      const Ranks ranks(c.devices);
      const Streams streams(c.devices);
      const size_t most = std::max(c.of_a(0), c.of_a(1)) + std::max(c.of_t(0), c.of_t(1));
      const LargePerDevice d_a(c.devices, most, "d_a"), d_t(c.devices, most, "d_t");
      const LargePerDevice d_space(c.devices, most, "d_space");
      run_call("turn_matrix", [&] {
        return turn_matrix(d_a.get(), d_t.get(), d_space.get(), c.rows, c.cols, ranks.data(),
                           streams.data(), c.devices);
      });
    });
  }
}

TEST(TurnedMatrix, SendsWhatAnotherIsToHave) {
  RecordProperty("todo", 1);
  kit::for_each("devices", device_counts(), [](int devices) {
    const Case c = {devices, 96, 144};
    check(c);
    for (int d = 0; d < devices; ++d) {
      const double stays =
          static_cast<double>(share_of(c.rows, devices, d)) * share_of(c.cols, devices, d);
      const LinkUse use = link_use(d);
      kit::budget("floats over a link, of those that leave the device",
                  kit::ratio(use.bytes / sizeof(float), c.of_a(d) - stays), kit::at_most(1),
                  "Device d sends to each other device that one's columns of its rows");
      kit::budget("steps", use.calls, kit::at_most(devices - 1),
                  "All sends and receives of a step belong into one group; a step for each other "
                  "device is as good as one for all");
    }
  });
}

TEST(TurnedMatrix, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const Case c = {2, 256, 256};
  const kit::Run run = check(c);
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "Both sides of a transpose can be rows of neighbours (03/05)");
}

TEST(TurnedMatrix, IsFast) {
  RecordProperty("todo", 1);
  const int devices = kit::simulated() ? 4 : kit::device_count();
  const Case c = {devices, kit::work_scale(4096, 1 << 14), kit::work_scale(1536, 1 << 14)};
  const Ranks ranks(devices);
  const Streams streams(devices);
  kit::Speed speed;
  SpeedArrays a(devices, "d_a",
                [&](int d, const char* called) { return speed.input<float>(c.of_a(d), called); });
  SpeedArrays t(devices, "d_t",
                [&](int d, const char* called) { return speed.output<float>(c.of_t(d), called); });
  // Device 0 needs room for two whole matrices in what this is compared with.
  SpeedArrays space(devices, "d_space", [&](int d, const char* called) {
    return speed.output<float>(
        d == 0 ? 2 * static_cast<size_t>(c.rows) * c.cols : c.of_a(d) + c.of_t(d), called);
  });
  speed.whole_call();
  speed.launch([&] {
    turn_matrix(a.pointers().data(), t.pointers().data(), space.pointers().data(), c.rows, c.cols,
                ranks.data(), streams.data(), devices);
  });
  for (int d = 0; d < devices; ++d) {
    speed.expect(
        t[d],
        [&, d](size_t i) {
          const int row = static_cast<int>(i % c.rows);
          const int col = first_of(c.cols, devices, d) + static_cast<int>(i / c.rows);
          int from = 0;
          while (first_of(c.rows, devices, from + 1) <= row) ++from;
          const size_t in_share = row - first_of(c.rows, devices, from);
          return kit::Expected(a[from].at(in_share * c.cols + col));
        },
        kit::Tolerance::absolute(0));
  }
  speed.against(kit::stage("turning it on device 0",
                           [&] {
                             turn_at_device_0(a.pointers().data(), t.pointers().data(),
                                              space[0].get(), c.rows, c.cols, ranks.data(),
                                              streams.data(), devices);
                           }),
                kit::Bars(1.5));
  speed.grade();
}

// Tests of 05/12 cooperative groups.
#include "12_cooperative_groups.h"

#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// References in double.
struct Octets {
  std::vector<double> sum, scale;  // scale: sum of |x|, which rounding errors are proportional to
};
Octets octets_on_cpu(const std::vector<float>& x) {
  const size_t count = (x.size() + kOctet - 1) / kOctet;
  Octets octets{std::vector<double>(count, 0), std::vector<double>(count, 0)};
  for (size_t i = 0; i < x.size(); ++i) {
    octets.sum[i / kOctet] += x[i];
    octets.scale[i / kOctet] += std::fabs(x[i]);
  }
  return octets;
}
std::vector<double> normalise_on_cpu(const std::vector<float>& x) {
  double squares = 0;
  for (const float value : x) squares += static_cast<double>(value) * value;
  std::vector<double> y;
  for (const float value : x) y.push_back(value / std::sqrt(squares));
  return y;
}

kit::Run check_octets(const std::vector<float>& x) {
  const int n = static_cast<int>(x.size());
  const Octets expected = octets_on_cpu(x);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_sums =
      kit::DeviceBuffer<float>::output(expected.sum.size(), "sums", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] { launch_sum_octets(d_x.get(), d_sums.get(), n); });
  kit::expect_near_or_nan(d_sums, expected.sum, kit::Tolerance::units(8, expected.scale));
  return run;
}

kit::Run check_octets(int n) { return check_octets(kit::random_floats(n)); }

// n floats between 0.5 and 2 times `unit`.
kit::Run check_normalise(int n, float unit = 1) {
  const std::vector<float> x = kit::random_floats(n, 0.5f * unit, 2.0f * unit);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", kit::Placement::kAtEnd);
  const auto d_partials = kit::DeviceBuffer<float>::output(kMostBlocks, "partials");
  const kit::Run run =
      kit::run([&] { launch_normalise(d_x.get(), d_y.get(), d_partials.get(), n); });
  kit::expect_near(d_y, normalise_on_cpu(x), kit::Tolerance::units(24));
  return run;
}

}  // namespace

TEST(CooperativeGroups, SumsEightNeighbours) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check_octets(n); });
}

// Special elements: kit::kSpecialSums says what the sum of their octet makes of them.
TEST(CooperativeGroups, AnInfiniteElementReachesItsOctetAlone) {
  RecordProperty("todo", 1);
  kit::for_each_special_sum(1003, [](const std::vector<float>& x) { check_octets(x); });
  // An octet has both infinities.
  check_octets(
      kit::with_specials(kit::random_floats(100), {{41, INFINITY}, {46, -INFINITY}}).values);
}

TEST(CooperativeGroups, NormalisesWhatOneBlockHolds) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1024, 100, 1}, [](int n) { check_normalise(n); });
}

TEST(CooperativeGroups, NormalisesAcrossBlocks) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1025, 4099, 40000}, [](int n) { check_normalise(n); });
}

// The squares of these add up to about 1e-35 and 1e37.
TEST(CooperativeGroups, NormalisesTinyAndHugeNumbers) {
  RecordProperty("todo", 2);
  kit::for_each("unit", std::vector<float>{3e-19f, 3e17f},
                [](float unit) { check_normalise(100, unit); });
}

TEST(CooperativeGroups, LaunchesNoMoreBlocksThanFit) {
  RecordProperty("todo", 3);
  // 132 multiprocessors with at most 2,048 threads each: 270,336 threads fit on an H200, fewer on
  // other cards.
  kit::for_each_card([] { check_normalise(kit::work_scale(275000, 1 << 24)); });
}

// Device 1 is current, and has fewer multiprocessors than device 0: what fits there does not here.
TEST(CooperativeGroups, AsksTheDeviceThatIsCurrent) {
  RecordProperty("todo", 3);
  if (!kit::simulated() || kit::device_count() < 2) return;
  kit::Cases cases;
  cases.run("device 1 is current, a smaller card than device 0", [] {
    const kit::OnDevice scope(1);
    const kit::UnlikeDevice smaller(1);
    int multiprocessors = 0;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    check_normalise(2048 * multiprocessors);  // no card holds more threads
  });
}

TEST(CooperativeGroups, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check_octets(0);
  check_octets(1);  // the same launcher must work when there is something to add
}

TEST(CooperativeGroups, NeedsOneLaunch) {
  RecordProperty("todo", 3);
  const kit::Counters c = check_normalise(10000).counters();
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(1),
              "The grid meets inside the kernel, so the work need not be cut into two");
  kit::budget("blocks that share the work", static_cast<double>(c.blocks), kit::at_least(9),
              "10,000 elements fill 9 blocks of 1,024 threads, and more smaller ones");
}

TEST(CooperativeGroups, OctetsStayInRegisters) {
  RecordProperty("todo", 1);
  const kit::Counters c = check_octets(4096).counters();
  kit::budget("shared-memory requests",
              static_cast<double>(c.shared_load_requests + c.shared_store_requests),
              kit::at_most(0), "A tile exchanges through registers, like the warp it is a part of",
              &kit::Counters::shared_load_requests);
}

TEST(CooperativeGroups, SumsTheOctetsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 3", [] {
    const size_t n = (1 << 30) - 3;
    const auto x = kit::large_integers(n, "x");
    const auto sums = kit::LargeArray<float>::output((n + 7) / 8, "sums");
    kit::run([&] { launch_sum_octets(x.get(), sums.get(), static_cast<int>(n)); });
    kit::expect_at_ends(sums, [&](size_t octet) {
      float sum = 0;
      for (size_t i = 8 * octet; i < std::min(n, 8 * octet + 8); ++i) sum += x.at(i);
      return sum;
    });
  });
}

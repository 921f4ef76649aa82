// Tests of 01/02 global index.
#include "02_global_index.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// out[i] = first + i * step, one after the other.
std::vector<int> arange_on_cpu(int first, int step, int n) {
  std::vector<int> out;
  for (int i = 0; i < n; ++i) out.push_back(first + i * step);
  return out;
}

constexpr int kFirst = -8, kStep = 3;  // never -1, which is what unwritten memory holds

void expect_arange(int n, kit::Placement placement = kit::Placement::kMiddle, int first = kFirst,
                   int step = kStep) {
  const auto out = kit::DeviceBuffer<int>::output(n, "out", placement);
  kit::run([&] { launch_arange(out.get(), first, step, n); });
  kit::expect_equal(out, arange_on_cpu(first, step, n));
}

TEST(GlobalIndex, NumbersTheThreadsOfOneBlock) {
  RecordProperty("todo", 1);
  expect_arange(128);
}

// Each of the next two tests looks at one half, so that the hint belongs to what is missing:
// whether a launched thread behaves, and whether enough threads are launched. A GPU sees both at
// once.
bool launched_enough(const kit::Run& run, int n) {
  return run.counters().threads >= static_cast<uint64_t>(n);
}

TEST(GlobalIndex, LeavesOutTheThreadsPastTheEnd) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1000, 129, 200}, [](int n) {
    const auto out = kit::DeviceBuffer<int>::output(n, "out");
    const kit::Run run = kit::run([&] { launch_arange(out.get(), kFirst, kStep, n); });
    if (kit::simulated() && !launched_enough(run, n)) return;
    kit::expect_equal(out, arange_on_cpu(kFirst, kStep, n));
  });
}

TEST(GlobalIndex, LaunchesAThreadForEveryElement) {
  RecordProperty("todo", 3);
  const int n = 1000;
  const auto out = kit::DeviceBuffer<int>::output(n, "out");
  const kit::Run run = kit::run([&] { launch_arange(out.get(), kFirst, kStep, n); });
  if (kit::simulated() && launched_enough(run, n)) return;
  kit::expect_equal(out, arange_on_cpu(kFirst, kStep, n));
}

TEST(GlobalIndex, NumbersTheThreadsOfManyBlocks) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1024, kit::work_scale(2048, 1 << 24)},
                [](int n) { expect_arange(n); });
}

TEST(GlobalIndex, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { expect_arange(n); });
  kit::for_each("out ends with its memory, n", std::vector<int>{1, 100, 1025},
                [](int n) { expect_arange(n, kit::Placement::kAtEnd); });
}

TEST(GlobalIndex, CountsOnWhereSmallerTypesEnd) {
  RecordProperty("todo", 1);
  expect_arange(1000, kit::Placement::kMiddle, 123'456'789);  // a float would round it
  expect_arange(70'000);                                      // past 16 bits
  expect_arange(10'000, kit::Placement::kMiddle, 1, 12'345);  // so would i * step
}

TEST(GlobalIndex, StepsMayStandStillOrGoDown) {
  RecordProperty("todo", 1);
  kit::for_each("step", std::vector<int>{0, -3, -2'147'483}, [](int step) {
    expect_arange(1000, kit::Placement::kMiddle, 2'147'483'000, step);
  });
}

TEST(GlobalIndex, LaunchesNothingForNoElements) {
  RecordProperty("todo", 3);
  expect_arange(0);
}

TEST(GlobalIndex, CountsUpToTheLargestSize) {
  RecordProperty("todo", 3);
  kit::at_largest(1 << 30, [](int n) {
    const auto out = kit::LargeArray<int>::output(n, "out");
    kit::run([&] { launch_arange(out.get(), kFirst, 1, n); });
    kit::expect_at_ends(out, [](size_t i) { return kFirst + static_cast<int>(i); });
  });
}

TEST(GlobalIndex, LaunchesNoIdleBlocks) {
  RecordProperty("todo", 3);
  const int n = 10000;
  const auto out = kit::DeviceBuffer<int>::output(n, "out");
  const kit::Run run = kit::run([&] { launch_arange(out.get(), kFirst, kStep, n); });
  kit::expect_equal(out, arange_on_cpu(kFirst, kStep, n));
  kit::budget("threads launched per element", kit::ratio(run.counters().threads, n),
              kit::at_most(1.15),
              "One thread does one element, and only the last block may be partly idle");
}

}  // namespace

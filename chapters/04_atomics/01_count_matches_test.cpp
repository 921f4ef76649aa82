// Tests of 04/01 count matches.
#include "01_count_matches.h"

#include <algorithm>
#include <climits>

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

constexpr int kValue = -3;

int count_on_cpu(const std::vector<int>& x, int value) {
  return static_cast<int>(std::count(x.begin(), x.end(), value));
}

kit::Run check(const std::vector<int>& x, kit::Placement placement = kit::Placement::kMiddle,
               int value = kValue) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<int>::input(x, "x", placement);
  const auto d_count = kit::DeviceBuffer<int>::output(1, "count");
  const kit::Run run = kit::run([&] { launch_count_matches(d_x.get(), n, value, d_count.get()); });
  kit::expect_equal(d_count, std::vector<int>{count_on_cpu(x, value)});
  return run;
}

}  // namespace

TEST(CountMatches, CountsEveryMatch) {
  RecordProperty("todo", 1);
  // About one in eight matches, so most warps have several.
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(kit::random_ints(n, -4, 3)); });
}

TEST(CountMatches, CountsWhenEveryElementMatches) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1, 33, 1000},
                [](int n) { check(std::vector<int>(n, kValue)); });
}

TEST(CountMatches, CountsOnlyWhatIsEqual) {
  RecordProperty("todo", 1);
  // The neighbours of 2^24 are one number in float; 0 and the limits of int are values like others.
  const std::vector<int> values = {0, 1, 1 << 24, (1 << 24) + 1, INT_MAX, INT_MIN, -1};
  std::vector<int> x;
  for (const int i : kit::random_ints(700, 0, static_cast<int>(values.size()) - 1)) {
    x.push_back(values[i]);
  }
  kit::for_each("value", values, [&x](int value) { check(x, kit::Placement::kMiddle, value); });
}

TEST(CountMatches, StaysInsideItsArray) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1025, 255, 1},
                [](int n) { check(kit::random_ints(n, -4, 3), kit::Placement::kAtEnd); });
}

TEST(CountMatches, CountsFromZeroInEveryCall) {
  RecordProperty("todo", 2);
  const std::vector<int> x = kit::random_ints(1000, -4, 3);
  const auto d_x = kit::DeviceBuffer<int>::input(x, "x");
  const auto d_count = kit::DeviceBuffer<int>::inout({123456}, "count");
  kit::for_each("call", std::vector<int>{1, 2}, [&](int) {
    kit::run([&] { launch_count_matches(d_x.get(), 1000, kValue, d_count.get()); });
    kit::expect_equal(d_count, std::vector<int>{count_on_cpu(x, kValue)});
  });
}

TEST(CountMatches, FindsNoneAmongNoElements) {
  RecordProperty("todo", 2);
  check({});
}

TEST(CountMatches, OnlyMatchesPayForAnAtomic) {
  RecordProperty("todo", 1);
  // Every 100th element matches: at most one in four warps has anything to add.
  std::vector<int> x(20000, kValue + 1);
  for (size_t i = 50; i < x.size(); i += 100) x[i] = kValue;
  const kit::Run run = check(x);
  kit::budget("atomics per match",
              kit::ratio(static_cast<double>(run.counters().atomics_global),
                         static_cast<double>(count_on_cpu(x, kValue))),
              kit::at_most(1),
              "Atomics on one address are done one after the other: a thread without a match must "
              "not join the queue to add 0",
              &kit::Counters::atomics_global);
}

TEST(CountMatches, NoMatchCostsNoAtomic) {
  RecordProperty("todo", 1);
  const kit::Run run = check(std::vector<int>(10000, kValue + 1));
  kit::budget("atomics without a match", static_cast<double>(run.counters().atomics_global),
              kit::at_most(0),
              "An addition of 0 stands in the queue like any other, also one of a whole block",
              &kit::Counters::atomics_global);
}

// The sum of a few blocks is none; what they read and how many there are is looked at.
TEST(CountMatches, ReachesTheEndsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto x = kit::LargeArray<int>::input(n, "x", kit::random_ints(kit::kPeriod, 0, 3));
    const auto count = kit::DeviceBuffer<int>::output(1, "count");
    kit::run([&] { launch_count_matches(x.get(), n, 2, count.get()); });
  });
}

// Tests of 04/02 histogram, global.
#include "02_histogram_global.h"

#include "kit/kit.h"
#include "kit/largest.h"

namespace {

// Reference: kBins counters.
std::vector<unsigned> histogram_on_cpu(const std::vector<uint8_t>& values) {
  std::vector<unsigned> counts(kBins, 0u);
  for (const uint8_t value : values) ++counts[value];
  return counts;
}

// n random bytes in [low, high].
std::vector<uint8_t> random_bytes(int n, int low, int high) {
  std::vector<uint8_t> bytes;
  for (const int value : kit::random_ints(n, low, high)) {
    bytes.push_back(static_cast<uint8_t>(value));
  }
  return bytes;
}

kit::Run check(const std::vector<uint8_t>& values,
               kit::Placement placement = kit::Placement::kMiddle) {
  const int n = static_cast<int>(values.size());
  const auto d_values = kit::DeviceBuffer<uint8_t>::input(values, "values", placement);
  const auto d_counts = kit::DeviceBuffer<unsigned>::output(kBins, "counts", placement);
  const kit::Run run =
      kit::run([&] { launch_histogram_global(d_values.get(), d_counts.get(), n); });
  kit::expect_equal(d_counts, histogram_on_cpu(values));
  return run;
}

}  // namespace

TEST(HistogramGlobal, CountsEveryByte) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(random_bytes(n, 0, 255)); });
}

TEST(HistogramGlobal, CountsEqualBytes) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1000, 33}, [](int n) {
    check(std::vector<uint8_t>(n, 200));
    check(random_bytes(n, 254, 255));  // the last two counters
  });
}

TEST(HistogramGlobal, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1025, 255, 1},
                [](int n) { check(random_bytes(n, 0, 255), kit::Placement::kAtEnd); });
}

TEST(HistogramGlobal, LoopsWhenThereAreMoreBytesThanThreads) {
  RecordProperty("todo", 1);
  check(random_bytes(kit::work_scale(300000, 1 << 26), 0, 255));
}

TEST(HistogramGlobal, CountsFromZeroInEveryCall) {
  RecordProperty("todo", 2);
  const std::vector<uint8_t> values = random_bytes(2000, 0, 255);
  const auto d_values = kit::DeviceBuffer<uint8_t>::input(values, "values");
  const auto d_counts =
      kit::DeviceBuffer<unsigned>::inout(std::vector<unsigned>(kBins, 77u), "counts");
  kit::for_each("call", std::vector<int>{1, 2}, [&](int) {
    kit::run([&] { launch_histogram_global(d_values.get(), d_counts.get(), 2000); });
    kit::expect_equal(d_counts, histogram_on_cpu(values));
  });
}

TEST(HistogramGlobal, AllCountersOfNoBytesAreZero) {
  RecordProperty("todo", 2);
  check({});
}

TEST(HistogramGlobal, ReadsEachByteOnce) {
  RecordProperty("todo", 1);
  const int n = 1 << 14;
  const kit::Run run = check(random_bytes(n, 0, 255));
  kit::budget("bytes loaded per value",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), n), kit::at_most(1),
              "One byte decides one counter; no thread has to look at it again",
              &kit::Counters::global_load_bytes);
}

// The sum of a few blocks is none; what they read and how many there are is looked at.
TEST(HistogramGlobal, ReachesTheEndsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 3", [] {
    const int n = (1 << 30) - 3;
    const auto values = kit::LargeArray<uint8_t>::input(n, "values", {3, 200, 7});
    const auto counts = kit::DeviceBuffer<unsigned>::output(kBins, "counts");
    kit::run([&] { launch_histogram_global(values.get(), counts.get(), n); });
  });
}

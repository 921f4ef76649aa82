// Tests of 04/03 histogram, shared.
#include "03_histogram_shared.h"

#include <future>
#include <thread>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/libraries/libraries.h"
#include "kit/speed/speed.h"

namespace {

// Reference: kBins counters.
std::vector<unsigned> histogram_on_cpu(const std::vector<uint8_t>& values) {
  std::vector<unsigned> counts(kBins, 0u);
  for (const uint8_t value : values) ++counts[value];
  return counts;
}

// The same of the n bytes that a timed call was given, by all cores of the host.
std::vector<unsigned> histogram_on_cpu(const kit::SpeedBuffer<uint8_t>& values, size_t n) {
  const size_t parts = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<std::vector<unsigned>>> futures;
  for (size_t part = 0; part < parts; ++part) {
    futures.push_back(std::async(std::launch::async, [&values, n, part, parts] {
      std::vector<unsigned> counts(kBins, 0u);
      for (size_t i = n * part / parts; i < n * (part + 1) / parts; ++i) ++counts[values.at(i)];
      return counts;
    }));
  }
  std::vector<unsigned> sum(kBins, 0u);
  for (auto& future : futures) {
    const std::vector<unsigned> counts = future.get();
    for (int bin = 0; bin < kBins; ++bin) sum[bin] += counts[bin];
  }
  return sum;
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
  // At the end of an allocation the bytes would not begin at a multiple of 16.
  const auto d_values = kit::DeviceBuffer<uint8_t>::input(values, "values");
  const auto d_counts = kit::DeviceBuffer<unsigned>::output(kBins, "counts", placement);
  const kit::Run run =
      kit::run([&] { launch_histogram_shared(d_values.get(), d_counts.get(), n); });
  kit::expect_equal(d_counts, histogram_on_cpu(values));
  return run;
}

// A few blocks count n bytes that are all 8. Where there is no time for all of these, two of them
// have loaded bytes and added nothing.
void check_a_few_blocks(int n) {
  constexpr uint8_t kByte = 8;
  const auto values = kit::LargeArray<uint8_t>::input(n, "values", {kByte});
  const auto d_counts = kit::DeviceBuffer<unsigned>::output(kBins, "counts");
  const kit::Run run = kit::run([&] { launch_histogram_shared(values.get(), d_counts.get(), n); });
  const bool all_ended = wsim_cut_launches() == 0;
  const uint64_t ended = wsim_edge_blocks(), loaded = run.counters().global_load_bytes;
  std::vector<uint8_t> written;
  const std::vector<unsigned> counts = d_counts.download(&written);
  const uint64_t least = all_ended ? loaded : loaded / 4;
  if (!run.ok() || ended < 4) return;
  for (int bin = 0; bin < kBins; ++bin) {
    if (written[bin] == 0 || (bin == kByte ? counts[bin] >= least : counts[bin] == 0)) continue;
    kit::fail("All bytes are 8. A few blocks have loaded " + std::to_string(loaded) +
              " of them, and counts[" + std::to_string(bin) + "] is " +
              std::to_string(counts[bin]) +
              ". A block has so many equal bytes that 16 bits do not hold their number.");
    return;
  }
}

struct Content {
  const char* name;
  kit::Values values;
};
std::ostream& operator<<(std::ostream& out, const Content& content) { return out << content.name; }

}  // namespace

TEST(HistogramShared, CountsEveryByte) {
  RecordProperty("todo", 1);
  // One whole group of 16 bytes per thread at most; the counters of the block are its first ones.
  kit::for_each("n", std::vector<int>{16, 512, 1000, 4099},
                [](int n) { check(random_bytes(n, 0, 255)); });
}

TEST(HistogramShared, CountsEqualBytes) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{4099, 512}, [](int n) {
    check(std::vector<uint8_t>(n, 200));
    check(random_bytes(n, 254, 255));  // the last two bins
  });
}

TEST(HistogramShared, StartsEveryBlockAtZero) {
  RecordProperty("todo", 2);
  check(random_bytes(100000, 0, 255));
}

TEST(HistogramShared, AddsTheCountsOfAllBlocks) {
  RecordProperty("todo", 3);
  check(random_bytes(kit::work_scale(150000, 1 << 26), 0, 255));
  check(random_bytes(70001, 100, 101));
}

// A volatile load and a volatile store are no race, and still two steps: what another block adds
// between them is lost.
TEST(HistogramShared, LosesNothingWhenBlocksTakeTurns) {
  RecordProperty("todo", 3);
  kit::in_block_order(kit::BlockOrder::kTurns, [] { check(random_bytes(1200003, 0, 255)); });
}

TEST(HistogramShared, CoversSizesThatAreNotMultiplesOf16) {
  RecordProperty("todo", 3);
  kit::for_each("n", kit::awkward_sizes(),
                [](int n) { check(random_bytes(n, 0, 255), kit::Placement::kAtEnd); });
}

TEST(HistogramShared, AllCountersOfNoBytesAreZero) {
  RecordProperty("todo", 3);
  check({});
}

TEST(HistogramShared, AddsEachBinOfABlockOnce) {
  RecordProperty("todo", 3);
  const kit::Run run = check(random_bytes(150000, 0, 255));
  const kit::Counters& c = run.counters();
  kit::budget(
      "global atomics per bin and block",
      kit::ratio(static_cast<double>(c.atomics_global), static_cast<double>(c.blocks) * kBins),
      kit::at_most(1), "A block counts in shared memory and adds each of its sums once",
      &kit::Counters::atomics_global);
}

TEST(HistogramShared, SpreadsItsWorkOverBlocks) {
  RecordProperty("todo", 1);
  const kit::Run run = check(random_bytes(1 << 19, 0, 255));
  kit::budget("blocks that share 2^19 bytes", static_cast<double>(run.counters().blocks),
              kit::at_least(16),
              "A block runs on one multiprocessor; the others of the card stand idle without one");
}

TEST(HistogramShared, ReadsEachByteOnce) {
  RecordProperty("todo", 1);
  const int n = 1 << 16;
  const kit::Run run = check(random_bytes(n, 0, 255));
  kit::budget("bytes loaded per value",
              kit::ratio(static_cast<double>(run.counters().global_load_bytes), n), kit::at_most(1),
              "One byte decides one counter; no thread has to look at it again",
              &kit::Counters::global_load_bytes);
}

// More equal bytes than 16 bits hold, for each counter of a block: what is too much for one gets
// lost, or becomes a part of its neighbour. Here the card has two multiprocessors, so that few
// blocks have all the bytes: 70,000 for each warp that there is room for.
TEST(HistogramShared, CountsManyEqualBytes) {
  RecordProperty("todo", 1);
  wsim_select_model("t4/20");
  check(std::vector<uint8_t>(kit::work_scale(64 * 70'000, 600'000'000), 200));
  wsim_select_model("");
}

// The same for a number of blocks that does not depend on the card.
TEST(HistogramShared, EveryBlockCountsManyEqualBytes) {
  RecordProperty("todo", 1);
  for (const int n : {75'000'000, 300'000'000}) {
    kit::at_largest("n = " + std::to_string(n), [n] { check_a_few_blocks(n); });
  }
}

// The sum of a few blocks is none; what they read and how many there are is looked at.
TEST(HistogramShared, ReachesTheEndsOfTheLargestArray) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 3", [] {
    const int n = (1 << 30) - 3;
    const auto values = kit::LargeArray<uint8_t>::input(n, "values", {3, 200, 7});
    const auto counts = kit::DeviceBuffer<unsigned>::output(kBins, "counts");
    kit::run([&] { launch_histogram_shared(values.get(), counts.get(), n); });
  });
}

TEST(HistogramShared, IsFastOnRandomAndOnEqualBytes) {
  RecordProperty("todo", 1);
  const std::vector<Content> contents = {{"random", kit::Values::integers(0, 255)},
                                         {"all equal", kit::Values::equal(200)}};
  kit::for_each("bytes", contents, [](const Content& content) {
    const int n = kit::work_scale(1 << 17, 1 << 27);
    kit::Speed speed;
    const auto values = speed.input<uint8_t>(n, "values", content.values);
    const auto counts = speed.output<unsigned>(kBins, "counts");
    speed.bytes(1.0 * n);
    speed.launch([&] { launch_histogram_shared(values.get(), counts.get(), n); });
    std::vector<unsigned> expected;
    speed.expect(
        counts,
        [&](size_t bin) {
          if (bin == 0) expected = histogram_on_cpu(values, n);  // a check begins at bin 0
          return kit::Expected(expected[bin]);
        },
        kit::Tolerance::absolute(0));
    // On an H200 atomics in global memory count 4 bytes per nanosecond if they are random and 1 if
    // they are equal; one counter per bin and block 700, 32 counters 4000 (2026-11-21, 2^28 bytes).
    // The model is too kind to the former, so the simulator judges by the budgets above.
    speed.against(kit::stage("atomics in global memory",
                             [&] { launch_histogram_global(values.get(), counts.get(), n); })
                      .on_gpu_only(),
                  kit::Bars(40));
    speed.against(kit::library("CUB DeviceHistogram", kit::cub(),
                               [&] { kit::cub_histogram(values.get(), counts.get(), n); }),
                  kit::Bars(0.25, 0.80, 1.00));
    speed.grade();
  });
}

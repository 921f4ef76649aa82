// Tests of 05/14 run lengths.
#include "14_run_lengths.h"

#include <climits>

#include "kit/kit.h"
#include "kit/speed/speed.h"

namespace {

struct Runs {
  std::vector<int> values, starts;  // starts has one more: n
};
Runs runs_on_cpu(const std::vector<int>& x) {
  Runs runs;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i > 0 && x[i] == x[i - 1]) continue;
    runs.values.push_back(x[i]);
    runs.starts.push_back(static_cast<int>(i));
  }
  runs.starts.push_back(static_cast<int>(x.size()));
  return runs;
}

// The first expected.size() of the buffer are the expected ones; the others were left alone.
bool expect_beginning(const kit::DeviceBuffer<int>& buffer, const std::vector<int>& expected,
                      const char* name) {
  std::vector<uint8_t> written;
  std::vector<int> found = buffer.download(&written);
  for (size_t r = 0; r < found.size() && kit::simulated(); ++r) {
    if ((written[r] != 0) == (r < expected.size())) continue;
    kit::fail(std::string(name) + "[" + std::to_string(r) + "] was " +
              (written[r] != 0 ? "written: it lies past the end, which is after "
                               : "never written: it is one of ") +
              std::to_string(expected.size()) + ".");
    return false;
  }
  found.resize(expected.size());
  return kit::expect_equal(name, found, expected);
}

kit::Run check(const std::vector<int>& x, kit::Placement placement = kit::Placement::kMiddle) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<int>::input(x, "x", placement);
  const auto d_values = kit::DeviceBuffer<int>::output(n, "values", placement);
  const auto d_starts = kit::DeviceBuffer<int>::output(n + 1, "starts", placement);
  const auto d_count = kit::DeviceBuffer<int>::output(1, "count");
  const auto d_workspace =
      kit::DeviceBuffer<unsigned long long>::output(run_lengths_words(n), "workspace");
  const kit::Run run = kit::run([&] {
    launch_run_lengths(d_x.get(), d_values.get(), d_starts.get(), d_count.get(), d_workspace.get(),
                       n);
  });
  const Runs expected = runs_on_cpu(x);
  const int count = static_cast<int>(expected.values.size());
  if (!kit::expect_equal(d_count, std::vector<int>{count})) return run;
  if (!expect_beginning(d_starts, expected.starts, "starts")) return run;
  expect_beginning(d_values, expected.values, "values");
  return run;
}

// Runs of random lengths from 1 to `longest`, with values that are often equal two runs apart.
std::vector<int> runs_of(int n, int longest) {
  std::vector<int> x;
  const std::vector<int> lengths = kit::random_ints(n, 1, longest),
                         steps = kit::random_ints(n, 1, 3);
  int value = 0;
  for (int r = 0; static_cast<int>(x.size()) < n; ++r) {
    value = (value + steps[r]) % 4;
    for (int k = 0; k < lengths[r] && static_cast<int>(x.size()) < n; ++k) x.push_back(value - 1);
  }
  return x;
}

}  // namespace

TEST(RunLengths, FindsTheRunsOfAWarp) {
  RecordProperty("todo", 1);
  check({7, 7, 7, 2, 2, 9});
  check({0, 0, 3});
  kit::for_each("n", std::vector<int>{32, 1, 2, 31}, [](int n) { check(runs_of(n, 5)); });
}

TEST(RunLengths, FindsTheRunsOfABlock) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{33, 64, 256, 1000, 1024},
                [](int n) { check(runs_of(n, 7)); });
}

TEST(RunLengths, ARunMayCrossEveryBorder) {
  RecordProperty("todo", 1);
  kit::for_each("longest run", std::vector<int>{2, 40, 300, 6000},
                [](int longest) { check(runs_of(30011, longest)); });
}

TEST(RunLengths, AllEqualAndAllDifferent) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{32, 4096, 10007}, [](int n) {
    check(std::vector<int>(n, -5));
    std::vector<int> rising;
    for (int i = 0; i < n; ++i) rising.push_back(i - n / 2);
    check(rising);
  });
}

TEST(RunLengths, ValuesMayBeAnyInt) {
  RecordProperty("todo", 1);
  std::vector<int> x;
  for (int k = 0; k < 3000; ++k) {
    x.push_back(k % 7 < 2 ? INT_MIN : k % 7 < 4 ? 0 : k % 7 < 6 ? INT_MAX : -1);
  }
  check(x);
  // Each is another number, and many of them are one float.
  std::vector<int> large;
  for (int k = 0; k < 3000; ++k) large.push_back((1 << 30) + k / 2);
  check(large);
}

TEST(RunLengths, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1025, 4097, 31, 1},
                [](int n) { check(runs_of(n, 1), kit::Placement::kAtEnd); });
}

TEST(RunLengths, DoesNotDependOnWhichBlockIsEarly) {
  RecordProperty("todo", 1);
  kit::for_each_block_order([] { check(runs_of(200003, 9)); });
}

TEST(RunLengths, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check({});
  check({4});  // the same launcher must work when there is an element
}

// Whoever adds up the counts of many tiles in one block goes round with these.
TEST(RunLengths, FindsTheRunsOfManyTiles) {
  RecordProperty("todo", 1);
  check(runs_of((1 << 21) + 33, 5000));
}

TEST(RunLengths, ReadsTwiceAtMost) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 17, 1 << 24);
  const kit::Run run = check(runs_of(n, 60));
  const kit::Counters& c = run.counters();
  // A word that all lanes of a warp read counts once.
  kit::budget("bytes loaded per element",
              kit::ratio(static_cast<double>(c.global_load_unique_bytes), n), kit::at_most(9),
              "Once to count the runs and once to write them, at most",
              &kit::Counters::global_load_unique_bytes);
  kit::budget("launches", static_cast<double>(c.launches), kit::at_most(4),
              "Count, scan, write; or all of it in one kernel");
  kit::budget("atomics per 1000 elements",
              kit::ratio(1000.0 * (c.atomics_global + c.atomics_shared), n), kit::at_most(2),
              "Places follow from counting, and a warp counts 32 answers in one instruction",
              &kit::Counters::atomics_global);
  kit::budget("shared-memory requests per 32 elements",
              kit::ratio(32.0 * (c.shared_load_requests + c.shared_store_requests), n),
              kit::at_most(20),
              "A warp counts in registers; what leaves it is one number for 32 elements",
              &kit::Counters::shared_load_requests);
}

TEST(RunLengths, IsFast) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 18, 1 << 26);
  kit::Speed speed;
  // Zeros and ones: two elements per run on average, which is short.
  const auto x = speed.input<int>(n, "x", kit::Values::integers(0, 1));
  const auto values = speed.output<int>(n, "values");
  const auto starts = speed.output<int>(n + 1, "starts");
  const auto count = speed.output<int>(1, "count");
  const auto workspace = speed.output<int>(2 * run_lengths_words(n), "workspace");
  const auto words = [&] { return reinterpret_cast<unsigned long long*>(workspace.get()); };
  // Read 4 bytes per element, write 8 per run.
  speed.bytes(8.0 * n).slice(16);
  speed.launch(
      [&] { launch_run_lengths(x.get(), values.get(), starts.get(), count.get(), words(), n); });
  // Positions are asked for in rising order: `at` is where run `run` begins.
  int run = 0, at = 0;
  const auto begin_of = [&](size_t r) {
    if (r == 0) run = at = 0;
    for (; run < static_cast<int>(r) && at < n; ++run) {
      for (++at; at < n && x.at(at) == x.at(at - 1);) ++at;
    }
    return run == static_cast<int>(r);
  };
  // What lies past the end keeps the 0xFF bytes of before, which are -1.
  speed.expect(
      starts, [&](size_t r) { return kit::Expected(begin_of(r) ? at : -1); },
      kit::Tolerance::absolute(0));
  speed.expect(
      values, [&](size_t r) { return kit::Expected(begin_of(r) && at < n ? x.at(at) : -1); },
      kit::Tolerance::absolute(0));
  speed.against(kit::stage("a thread for 1024 elements",
                           [&] {
                             launch_run_lengths_by_stretches(x.get(), values.get(), starts.get(),
                                                             count.get(), words(), n);
                           }),
                kit::Bars(2));
  // The model of time makes look-back wait far longer than a card does: no verdict without one.
  speed.against(kit::copy_rate().on_gpu_only(), kit::Bars(0.25, 0.45, 0.65));
  speed.grade();
}

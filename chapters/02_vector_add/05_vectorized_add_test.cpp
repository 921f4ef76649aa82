// Tests of 02/05 vectorized add.
#include "05_vectorized_add.h"

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/speed/speed.h"

namespace {

// Reference: n elements. One float addition has one correct result: compared bit by bit.
std::vector<float> add_on_cpu(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    c[i] = a[i] + b[i];
  }
  return c;
}

kit::Run check(int n, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> a = kit::random_floats(n);
  const std::vector<float> b = kit::random_floats(n);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", placement);
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b", placement);
  const auto d_c = kit::DeviceBuffer<float>::output(n, "c", placement);
  const kit::Run run = kit::run([&] { launch_vectorized_add(d_a.get(), d_b.get(), d_c.get(), n); });
  kit::expect_equal(d_c, add_on_cpu(a, b));
  return run;
}

}  // namespace

TEST(VectorizedAdd, AddsWholeGroupsOfFour) {
  // contract: c = a + b
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1024, 512, 4}, [](int n) { check(n); });
}

TEST(VectorizedAdd, AddsTheTail) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{1023, 1022, 1021, 7, 3, 2, 1}, [](int n) { check(n); });
}

TEST(VectorizedAdd, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 3);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n); });
  kit::for_each("n", std::vector<int>{4095, 4096, 4097, 4100, kit::work_scale(10001, 1 << 24)},
                [](int n) { check(n); });
}

TEST(VectorizedAdd, StaysInsideItsArrays) {
  // contract: d_a, d_b, d_c n floats each in device memory
  RecordProperty("todo", 2);
  // Multiples of four: at the end of an allocation any other size would move its start off the
  // 16 bytes that are promised.
  kit::for_each("n", std::vector<int>{1020, 4, 1024},
                [](int n) { check(n, kit::Placement::kAtEnd); });
}

TEST(VectorizedAdd, AcceptsNoElements) {
  // contract: n from 0 to 2^30
  RecordProperty("todo", 3);
  check(0);
  check(1);  // the same launcher must work when there is something to add
}

TEST(VectorizedAdd, MovesSixteenBytesPerThread) {
  // contract: aligned to 16 bytes
  RecordProperty("todo", 1);
  const int n = kit::work_scale((1 << 15) + 3, (1 << 24) + 3);
  const kit::Run run = check(n);
  const kit::Counters& c = run.counters();
  uint64_t threads = 0;
  for (const kit::Launch& launch : run.launches()) threads += launch.threads();
  kit::budget("threads", static_cast<double>(threads), kit::at_most(n / 4 + 2048),
              "Each adds four floats: a quarter of n, and what fills up the last blocks");
  kit::budget("16-byte share of requests",
              kit::ratio(c.global_load_requests_16 + c.global_store_requests_16,
                         c.global_load_requests + c.global_store_requests),
              kit::at_least(0.9),
              "A float4 is read or written by one instruction, through a pointer to float4",
              &kit::Counters::global_load_requests);
}

TEST(VectorizedAdd, AddsTheLargestArrays) {
  RecordProperty("todo", 1);
  kit::at_largest("n = 2^30 - 1", [] {
    const int n = (1 << 30) - 1;
    const auto a = kit::large_floats(n, "a");
    const auto b = kit::large_floats(n, "b");
    const auto c = kit::LargeArray<float>::output(n, "c");
    kit::run([&] { launch_vectorized_add(a.get(), b.get(), c.get(), n); });
    kit::expect_at_ends(c, [&](size_t i) { return a.at(i) + b.at(i); });
  });
}

TEST(VectorizedAdd, MovesOnlyWhatItUses) {
  RecordProperty("todo", 1);
  const kit::Run run = check(kit::work_scale((1 << 15) + 3, (1 << 24) + 3));
  kit::budget("useful share of moved bytes", kit::useful_share(run.counters()), kit::at_least(0.9),
              "Neighbouring threads must use neighbouring groups of four",
              &kit::Counters::global_load_sectors);
}

TEST(VectorizedAdd, IsFast) {
  RecordProperty("todo", 1);
  const int n = kit::work_scale(1 << 19, 1 << 28);
  kit::Speed speed;
  const auto a = speed.input<float>(n, "a");
  const auto b = speed.input<float>(n, "b");
  const auto c = speed.output<float>(n, "c");
  speed.bytes(12.0 * n).flops(1.0 * n).slice(33);
  speed.launch([&] { launch_vectorized_add(a.get(), b.get(), c.get(), n); });
  speed.expect(
      c, [&](size_t i) { return a.at(i) + b.at(i); }, kit::Tolerance::absolute(0));
  speed.against(kit::copy_rate(), kit::Bars(0.45, 0.90, 1.02));
  speed.grade();
}

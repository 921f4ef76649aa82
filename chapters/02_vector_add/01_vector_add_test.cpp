// Tests of 02/01 vector add.
#include "01_vector_add.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/special_values.h"

namespace {

// Reference: a, b and the result have n elements. One float addition has one correct result, so the
// kernel must match it bit by bit.
std::vector<float> vector_add_on_cpu(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    c[i] = a[i] + b[i];
  }
  return c;
}

kit::Run check(int n, kit::Placement placement) {
  const std::vector<float> a = kit::random_floats(n);
  const std::vector<float> b = kit::random_floats(n);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a", placement);
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b", placement);
  const auto d_c = kit::DeviceBuffer<float>::output(n, "c", placement);
  const kit::Run run = kit::run([&] { launch_vector_add(d_a.get(), d_b.get(), d_c.get(), n); });
  kit::expect_equal(d_c, vector_add_on_cpu(a, b));
  return run;
}

// The bits of each: the two zeros differ.
std::vector<uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

}  // namespace

TEST(VectorAdd, AddsEveryElementOfFullBlocks) {
  // contract: c[i] = a[i] + b[i] for 0 <= i < n
  bool launched = true;
  kit::for_each("n", std::vector<int>{256, 1024, kit::work_scale(2048, 1 << 24)}, [&](int n) {
    const kit::Run run = check(n, kit::Placement::kMiddle);
    launched = launched && (!kit::simulated() || !run.launches().empty());
  });
  RecordProperty("todo", launched ? 1 : 2);
}

TEST(VectorAdd, CoversSizesThatAreNotBlockMultiples) {
  // contract: n from 0 to 2^30
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n, kit::Placement::kMiddle); });
}

TEST(VectorAdd, AddsZerosInfinitiesAndTheSmallestNumbers) {
  RecordProperty("todo", 1);
  const std::vector<float> a = kit::special_floats(600);
  std::vector<float> b = kit::special_floats(600);
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i] + b[i])) b[i] = 0.0f;  // of opposite infinities
  }
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto d_c = kit::DeviceBuffer<float>::output(a.size(), "c");
  kit::run([&] { launch_vector_add(d_a.get(), d_b.get(), d_c.get(), 600); });
  const std::vector<float> expected = vector_add_on_cpu(a, b);
  kit::expect_equal(d_c, expected);
  kit::expect_equal("bits of c", bits_of(d_c.download()), bits_of(expected));
}

TEST(VectorAdd, StaysInsideItsArrays) {
  // contract: d_a, d_b, d_c n floats each
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1025, 33, 1},
                [](int n) { check(n, kit::Placement::kAtEnd); });
  // Nothing is said of multiples of 16 bytes: an array may begin at any float.
  const int n = 256;
  const std::vector<float> a = kit::random_floats(n + 1), b = kit::random_floats(n + 1);
  const auto d_a = kit::DeviceBuffer<float>::input(a, "a");
  const auto d_b = kit::DeviceBuffer<float>::input(b, "b");
  const auto d_c = kit::DeviceBuffer<float>::inout(std::vector<float>(n + 1, 7.0f), "c");
  kit::run([&] { launch_vector_add(d_a.get() + 1, d_b.get() + 1, d_c.get() + 1, n); });
  std::vector<float> expected = vector_add_on_cpu(a, b);
  expected[0] = 7.0f;  // in front of the array
  kit::expect_equal(d_c, expected);
}

TEST(VectorAdd, AcceptsNoElements) {
  // contract: 0 adds nothing and is not an error
  RecordProperty("todo", 2);
  check(0, kit::Placement::kMiddle);
  // Not empty-handed: the same launcher must work when there is something to add.
  check(1, kit::Placement::kMiddle);
}

TEST(VectorAdd, ReadsAndWritesEachElementOnce) {
  RecordProperty("todo", 1);
  const int n = 2048;
  const kit::Run run = check(n, kit::Placement::kMiddle);
  const kit::Counters& c = run.counters();
  kit::budget("bytes loaded per element", kit::ratio(c.global_load_bytes, n), kit::at_most(8),
              "One float of a and one of b make one element of c",
              &kit::Counters::global_load_bytes);
  kit::budget("bytes stored per element", kit::ratio(c.global_store_bytes, n), kit::at_most(4),
              "Each element of c is written by one thread, once",
              &kit::Counters::global_store_bytes);
  kit::budget("useful share of moved bytes", kit::useful_share(c), kit::at_least(0.9),
              "Neighbouring threads must use neighbouring elements",
              &kit::Counters::global_load_sectors);
}

TEST(VectorAdd, AddsTheLargestArrays) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    const auto a = kit::large_floats(n, "a");
    const auto b = kit::large_floats(n, "b");
    const auto c = kit::LargeArray<float>::output(n, "c");
    kit::run([&] { launch_vector_add(a.get(), b.get(), c.get(), n); });
    kit::expect_at_ends(c, [&](size_t i) { return a.at(i) + b.at(i); });
  });
}

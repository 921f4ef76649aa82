// Tests of 02/01 vector add.
#include "01_vector_add.h"

#include "kit/kit.h"

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

TEST(VectorAdd, StaysInsideItsArrays) {
  // contract: d_a, d_b, d_c n floats each
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{1025, 33, 1},
                [](int n) { check(n, kit::Placement::kAtEnd); });
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

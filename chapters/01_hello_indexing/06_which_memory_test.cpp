// Tests of 01/06 which memory.
#include "06_which_memory.h"

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/passing_input.h"
#include "kit/special_values.h"

namespace {

// One rounding per element, as in the kernel.
std::vector<float> scale_on_cpu(const std::vector<float>& x, float factor) {
  std::vector<float> y;
  for (const float value : x) y.push_back(factor * value);
  return y;
}

constexpr float kFactor = -1.7f;

TEST(WhichMemory, ScalesOnTheDevice) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    const auto y = kit::DeviceBuffer<float>::output(n, "y");
    kit::run([&] { scale_on_device(x.data(), y.get(), kFactor, n); });
    kit::expect_equal(y, scale_on_cpu(x, kFactor));
  });
}

TEST(WhichMemory, AFactorOfZeroIsAFactorToo) {
  RecordProperty("todo", 1);
  const std::vector<float> x = kit::special_floats(200);
  for (const float factor : {0.0f, 2.0f}) {
    const auto y = kit::DeviceBuffer<float>::output(x.size(), "y");
    kit::run([&] { scale_on_device(x.data(), y.get(), factor, 200); });
    kit::expect_equal_or_nan("y", y.download(), scale_on_cpu(x, factor),
                             "Zero times infinity is NaN (not a number).");
  }
}

TEST(WhichMemory, TheCallerMayOverwriteItsArray) {
  RecordProperty("todo", 1);
  const std::vector<float> x = kit::random_floats(1000);
  kit::PassingInput<float> passing(x);
  const auto y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run("h_x in pinned memory, overwritten as soon as the call has returned", [&] {
    passing.lend([&](const float* h_x) { scale_on_device(h_x, y.get(), kFactor, 1000); });
  });
  kit::expect_equal(y, scale_on_cpu(x, kFactor));
}

TEST(WhichMemory, ScalesLongArrays) {
  RecordProperty("todo", 1);
  const int n = 300'001;  // more than a thousand blocks of 256
  const std::vector<float> x = kit::random_floats(n);
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  kit::run([&] { scale_on_device(x.data(), y.get(), kFactor, n); });
  kit::expect_equal(y, scale_on_cpu(x, kFactor));
}

TEST(WhichMemory, ScalesArraysOfAGigabyte) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 28, [](int n) {
    const auto x = kit::LargeHostFloats::input(n, "x", kit::HostPages::kPageable);
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { scale_on_device(x.get(), y.get(), kFactor, n); });
    kit::expect_at_ends(y, [&](size_t i) { return kFactor * x.get()[i]; });
  });
}

TEST(WhichMemory, FreesWhatItAllocates) {
  RecordProperty("todo", 1);
  const int n = 1000;
  const std::vector<float> x = kit::random_floats(n);
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  const kit::Run run = kit::run([&] { scale_on_device(x.data(), y.get(), kFactor, n); });
  kit::expect_equal(y, scale_on_cpu(x, kFactor));
  kit::expect_no_leak(run);
}

TEST(WhichMemory, BringsTheLastElementToTheHost) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::awkward_sizes(), [](int n) {
    const std::vector<float> values = kit::random_floats(n);
    const auto y = kit::DeviceBuffer<float>::input(values, "y");
    float last = 0.0f;
    kit::run([&] { last = last_element(y.get(), n); });
    kit::expect_equal("last element", std::vector<float>{last}, {values.back()});
  });
}

TEST(WhichMemory, BringsTheLastElementOfAGigabyte) {
  RecordProperty("todo", 2);
  kit::at_largest(1 << 28, [](int n) {
    const auto y = kit::large_floats(n, "y");
    float last = 0.0f;
    kit::run([&] { last = last_element(y.get(), n); });
    kit::expect_equal("last element", std::vector<float>{last}, {y.at(n - 1)});
  });
}

TEST(WhichMemory, LooksAtTheArrayInEachCall) {
  RecordProperty("todo", 2);
  const int n = 100;
  const std::vector<float> x = kit::random_floats(n);
  const auto y = kit::DeviceBuffer<float>::output(n, "y");
  std::vector<float> got, expected;
  for (const float factor : {2.0f, -3.0f}) {
    scale_on_device(x.data(), y.get(), factor, n);
    got.push_back(last_element(y.get(), n));
    expected.push_back(factor * x.back());
  }
  kit::expect_equal("last element, before and after the array has changed,", got, expected);
}

}  // namespace

// Tests of 02/08 CPU first.
#include "08_cpu_first.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "kit/host_code.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

constexpr double kTolerance = 1e-6;

// Reference of the reference: n - 1 midpoints, in double.
std::vector<double> midpoints_of(const std::vector<float>& x) {
  std::vector<double> midpoints;
  for (size_t i = 1; i < x.size(); ++i) {
    midpoints.push_back(0.5 * x[i - 1] + 0.5 * x[i]);
  }
  return midpoints;
}

const std::vector<int>& sizes() {  // n >= 2; n - 1 is what gets launched
  static const std::vector<int> all = {1025, 1024, 1026, 2, 3, 32, 33, 34, 256, 257, 258, 1031};
  return all;
}

int first_difference(const std::vector<float>& got, const std::vector<double>& expected) {
  return ::first_difference(got.data(), static_cast<int>(got.size()), expected.data(),
                            static_cast<int>(expected.size()), kTolerance);
}

// A right answer of 100 elements to plant mistakes in.
struct Answer {
  std::vector<double> expected = kit::random_doubles(100);
  std::vector<float> got = std::vector<float>(expected.begin(), expected.end());
};

void expect_position(const std::string& planted, const Answer& answer, int position) {
  const int found = first_difference(answer.got, answer.expected);
  if (found == position) return;
  kit::fail(planted + ": first_difference must return " + std::to_string(position) +
            ", it returned " + std::to_string(found) + ".");
}

}  // namespace

TEST(CpuFirst, TheReferenceIsRight) {
  // contract: Reference on the host. x: n floats; midpoints: n - 1 doubles; n from 2 to 2^30
  RecordProperty("todo", 1);
  kit::for_each("n", sizes(), [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    // One element of room behind the n - 1, to see whether it is touched.
    std::vector<double> midpoints(n);
    std::memset(midpoints.data(), 0xFF, n * sizeof(double));  // NaN: never written
    kit::expect_host_code("midpoints_cpu", [&] { midpoints_cpu(x.data(), midpoints.data(), n); });
    const double behind = midpoints.back();
    midpoints.pop_back();
    // Halving is exact, so halving before or after the sum gives the same double.
    kit::expect_equal("midpoints", midpoints, midpoints_of(x));
    if (!std::isnan(behind)) {
      kit::fail("midpoints_cpu wrote midpoints[" + std::to_string(n - 1) +
                "], but n = " + std::to_string(n) + " points have only " + std::to_string(n - 1) +
                " midpoints, numbered from 0.");
    }
  });
}

TEST(CpuFirst, TheComparisonAcceptsRightAnswers) {
  // contract: -1 if there is none. expected holds finite values
  RecordProperty("todo", 2);
  Answer answer;
  expect_position("got and expected are equal", answer, -1);
  answer.got[40] += 0.5f * static_cast<float>(kTolerance);
  expect_position("got[40] is off by half of the tolerance", answer, -1);
  Answer exact;
  exact.expected[7] = 0.0;
  exact.got[7] = 0.25f;
  const int found = ::first_difference(exact.got.data(), 100, exact.expected.data(), 100, 0.25);
  if (found != -1) {
    kit::fail(
        "got[7] is 0.25, expected[7] is 0 and the tolerance 0.25: an error that equals the "
        "tolerance is allowed (<=), but first_difference returned " +
        std::to_string(found) + ".");
  }
  if (::first_difference(exact.got.data(), 0, exact.expected.data(), 0, 0.25) != -1) {
    kit::fail("Two arrays of 0 elements do not differ: first_difference must return -1.");
  }
}

TEST(CpuFirst, TheComparisonFindsAWrongElement) {
  // contract: The first position where got and expected differ
  RecordProperty("todo", 2);
  for (const int position : {0, 1, 50, 99}) {
    Answer high, low;
    high.got[position] += 0.5f;
    expect_position("got[" + std::to_string(position) + "] is 0.5 too large", high, position);
    low.got[position] -= 0.5f;
    expect_position("got[" + std::to_string(position) + "] is 0.5 too small", low, position);
  }
}

TEST(CpuFirst, TheComparisonIsMadeInDouble) {
  RecordProperty("todo", 2);
  Answer fine;
  fine.expected[50] = 1 + 3e-8;  // becomes 1 if it is rounded to float
  fine.got[50] = 1;
  for (size_t i = 0; i < fine.got.size(); ++i) {
    if (i != 50) fine.expected[i] = fine.got[i];
  }
  const int found = ::first_difference(fine.got.data(), 100, fine.expected.data(), 100, 1e-8);
  if (found != 50) {
    kit::fail(
        "expected[50] is 1.00000003, got[50] is 1 and the tolerance is 1e-8: "
        "first_difference must return 50, it returned " +
        std::to_string(found) + ". A float cannot hold the difference; a double can.");
  }
  const float tenth = 0.1f;  // 0.1000000015
  const double zero = 0.0;
  const int near_tenth = ::first_difference(&tenth, 1, &zero, 1, 0.1);
  if (near_tenth != 0) {
    kit::fail(
        "expected[0] is 0, got[0] is the float next to 0.1, which is 0.1000000015, and the "
        "tolerance is 0.1: first_difference must return 0, it returned " +
        std::to_string(near_tenth) + ". The tolerance is a double, too.");
  }
}

TEST(CpuFirst, TheToleranceIsTheSameForEverySize) {
  RecordProperty("todo", 2);
  // What is added is exact, also in float.
  for (const float size : {1000.0f, 0.0f}) {
    for (const float error : {0.75f, 0.125f}) {
      const float got[] = {2.0f, size + error};
      const double expected[] = {2.0, size};
      const int found = ::first_difference(got, 2, expected, 2, 0.25);
      if (found == (error > 0.25f ? 1 : -1)) continue;
      std::ostringstream text;
      text << "expected[1] is " << size << ", got[1] is off by " << error
           << " and the tolerance is 0.25, whatever the size of the numbers: first_difference "
              "returned "
           << found << ".";
      kit::fail(text.str());
    }
  }
}

TEST(CpuFirst, TheComparisonFindsANaN) {
  // contract: a NaN in got and a tolerance that is NaN included
  RecordProperty("todo", 2);
  for (const int position : {99, 0, 31}) {
    Answer answer;
    answer.got[position] = std::numeric_limits<float>::quiet_NaN();
    expect_position("got[" + std::to_string(position) + "] is NaN", answer, position);
  }
  Answer infinite;
  infinite.got[5] = std::numeric_limits<float>::infinity();
  expect_position("got[5] is infinite", infinite, 5);
  const Answer right;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const int found = ::first_difference(right.got.data(), 100, right.expected.data(), 100, nan);
  if (found != 0) {
    kit::fail(
        "The tolerance is NaN, so |got[0] - expected[0]| <= tolerance does not hold: "
        "first_difference must return 0, it returned " +
        std::to_string(found) + ".");
  }
}

TEST(CpuFirst, TheComparisonFindsAShiftByOne) {
  RecordProperty("todo", 2);
  Answer answer;
  for (size_t i = 0; i + 1 < answer.got.size(); ++i) {
    answer.got[i] = static_cast<float>(answer.expected[i + 1]);
  }
  expect_position("got[i] holds expected[i + 1]", answer, 0);
}

TEST(CpuFirst, TheComparisonFindsDifferentSizes) {
  // contract: With different sizes, and no difference before, the end of the shorter one
  // contract: the sizes are >= 0
  RecordProperty("todo", 2);
  Answer shorter;
  shorter.got.pop_back();
  expect_position("got has 99 elements, expected 100", shorter, 99);
  Answer longer;
  longer.got.push_back(0.0f);
  expect_position("got has 101 elements, expected 100", longer, 100);
  Answer empty;
  empty.got.clear();
  expect_position("got has no elements, expected 100", empty, 0);
  Answer wrong_and_shorter;
  wrong_and_shorter.got.pop_back();
  wrong_and_shorter.got[3] += 1.0f;
  expect_position("got[3] is wrong and the last element is missing", wrong_and_shorter, 3);
}

TEST(CpuFirst, TheKernelAgreesWithTheReference) {
  // contract: The same midpoints on the device
  // contract: d_x: n floats, of which no two neighbours add up to infinity
  // contract: d_midpoints: n - 1 floats
  RecordProperty("todo", 3);
  kit::for_each("n", sizes(), [](int n) {
    const std::vector<float> x = kit::random_floats(n);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
    const auto d_midpoints =
        kit::DeviceBuffer<float>::output(n - 1, "midpoints", kit::Placement::kAtEnd);
    kit::run([&] { launch_midpoints(d_x.get(), d_midpoints.get(), n); });
    std::vector<double> scale;
    for (int i = 0; i + 1 < n; ++i) scale.push_back((std::fabs(x[i]) + std::fabs(x[i + 1])) / 2);
    kit::expect_near(d_midpoints, midpoints_of(x), kit::Tolerance::units(2, scale));
  });
}

TEST(CpuFirst, TheKernelTakesNumbersOfEverySize) {
  // contract: d_x: n floats, of which no two neighbours add up to infinity
  // contract: off by at most one unit in the last place of the larger one of its two neighbours
  RecordProperty("todo", 3);
  using Limits = std::numeric_limits<float>;
  const std::vector<float> some = {Limits::max(),
                                   Limits::lowest(),
                                   Limits::max(),
                                   1.0f,
                                   Limits::max(),
                                   -1e30f,
                                   0.0f,
                                   -0.0f,
                                   Limits::min(),
                                   Limits::denorm_min(),
                                   -Limits::denorm_min(),
                                   1e-40f,
                                   Limits::lowest(),
                                   1e38f,
                                   -1e-38f,
                                   3e38f,
                                   -3e38f,
                                   2.0f};
  const int n = static_cast<int>(some.size());
  const auto d_x = kit::DeviceBuffer<float>::input(some, "x");
  const auto d_midpoints = kit::DeviceBuffer<float>::output(n - 1, "midpoints");
  kit::run([&] { launch_midpoints(d_x.get(), d_midpoints.get(), n); });
  const std::vector<float> got = d_midpoints.download();
  const std::vector<double> expected = midpoints_of(some);
  for (int i = 0; i + 1 < n; ++i) {
    const float larger = std::max(std::fabs(some[i]), std::fabs(some[i + 1]));
    // Below the largest float, so that there is a next one.
    const double unit = static_cast<double>(larger) - std::nextafter(larger, 0.0f);
    if (std::fabs(got[i] - expected[i]) <= unit) continue;
    std::ostringstream text;
    text << "x[" << i << "] is " << some[i] << ", x[" << i + 1 << "] is " << some[i + 1]
         << ", and midpoints[" << i << "] is " << got[i] << ", expected " << expected[i]
         << ": their sum is finite, and so must all be that is computed on the way.";
    kit::fail(text.str());
    return;
  }
}

TEST(CpuFirst, YourComparisonAcceptsYourKernel) {
  RecordProperty("todo", 3);
  const int n = kit::work_scale(5000, 1 << 24);
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_midpoints = kit::DeviceBuffer<float>::output(n - 1, "midpoints");
  kit::run([&] { launch_midpoints(d_x.get(), d_midpoints.get(), n); });
  std::vector<double> expected(n - 1);
  midpoints_cpu(x.data(), expected.data(), n);
  const std::vector<float> got = d_midpoints.download();
  const int found = first_difference(got, expected);
  if (found >= 0) {
    kit::fail(
        "Your comparison finds a difference between your kernel and your reference: "
        "midpoints[" +
        std::to_string(found) + "].");
  }
}

TEST(CpuFirst, TheDeviceTakesTheLargestArrays) {
  RecordProperty("todo", 3);
  kit::at_largest(1 << 30, [](int n) {
    const auto x = kit::large_floats(n, "x");
    const auto midpoints = kit::LargeArray<float>::output(n - 1, "midpoints");
    kit::run([&] { launch_midpoints(x.get(), midpoints.get(), n); });
    kit::expect_at_ends(
        midpoints, [&](size_t i) { return 0.5 * x.at(i) + 0.5 * x.at(i + 1); },
        kit::Tolerance::absolute(kTolerance));
  });
}

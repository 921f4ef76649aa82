// Tests of 03/04 stencil 1-D.
#include "04_stencil_1d.h"

#include <algorithm>
#include <cmath>

#include "kit/kit.h"
#include "kit/largest.h"
#include "kit/mistake.h"
#include "kit/special_values.h"

namespace {

constexpr int kTaps = 2 * kRadius + 1;

// Reference in double, n elements, and what the rounding errors are proportional to: sum |w| |x|.
struct Stencil {
  std::vector<double> result, scale;
};
Stencil stencil_on_cpu(const std::vector<float>& x, const Weights& weight) {
  const int n = static_cast<int>(x.size());
  Stencil stencil;
  for (int i = 0; i < n; ++i) {
    double sum = 0, scale = 0;
    for (int k = -kRadius; k <= kRadius; ++k) {
      if (i + k < 0 || i + k >= n) continue;
      const double product = static_cast<double>(weight.at[k + kRadius]) * x[i + k];
      sum += product;
      scale += std::fabs(product);
    }
    stencil.result.push_back(sum);
    stencil.scale.push_back(scale);
  }
  return stencil;
}

// Nine different weights, so that no neighbour can stand in for another.
Weights random_weights() {
  Weights weight;
  const std::vector<float> values = kit::random_floats(kTaps, 0.25f, 1.0f);
  for (int k = 0; k < kTaps; ++k) weight.at[k] = (k % 2 == 0 ? 1.0f : -1.0f) * values[k];
  return weight;
}

kit::Run check(int n, const Weights& weight, kit::Placement placement = kit::Placement::kMiddle) {
  const std::vector<float> x = kit::random_floats(n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", placement);
  const auto d_y = kit::DeviceBuffer<float>::output(n, "y", placement);
  const kit::Run run = kit::run([&] { launch_stencil(d_x.get(), d_y.get(), weight, n); });
  const Stencil expected = stencil_on_cpu(x, weight);
  const kit::Mistake turned("they are what the weights give from right to left", [&] {
    Weights backwards = weight;
    std::reverse(std::begin(backwards.at), std::end(backwards.at));
    return stencil_on_cpu(x, backwards).result;
  });
  // Nine products and eight sums, one rounding each.
  kit::expect_near(d_y, expected.result, kit::Tolerance::units(10, expected.scale));
  return run;
}

kit::Run check(int n, kit::Placement placement = kit::Placement::kMiddle) {
  return check(n, random_weights(), placement);
}

}  // namespace

TEST(Stencil1d, CopiesWithASingleWeight) {
  RecordProperty("todo", 1);
  // Only x[i] itself, then only the left end, then only the right end of the neighbourhood.
  kit::for_each("weight that is not 0", std::vector<int>{kRadius, 0, 2 * kRadius}, [](int k) {
    Weights weight = {};
    weight.at[k] = 1.0f;
    check(600, weight);
  });
}

TEST(Stencil1d, AWeightOfZeroIsMultiplied) {
  RecordProperty("todo", 3);
  Weights weight = {};
  weight.at[kRadius] = 1.0f;
  std::vector<float> x = kit::random_floats(300);
  x[100] = INFINITY;
  x[0] = x[299] = INFINITY;  // and outside there are zeros, not the last element times 0
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  kit::run([&] { launch_stencil(d_x.get(), d_y.get(), weight, 300); });
  kit::expect_nans("y", d_y.download(), stencil_on_cpu(x, weight).result);
}

TEST(Stencil1d, WaitsForTheWholeTile) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{256, 1024}, [](int n) { check(n); });
}

TEST(Stencil1d, AddsNineNeighbours) {
  RecordProperty("todo", 3);
  kit::for_each("n", std::vector<int>{512, 2048}, [](int n) { check(n); });
}

TEST(Stencil1d, CoversSizesThatAreNotBlockMultiples) {
  RecordProperty("todo", 1);
  kit::for_each("n", kit::awkward_sizes(), [](int n) { check(n); });
  kit::for_each("n", std::vector<int>{2, 3, 4, 5, 8, 9, 257, 260, 263, 4099},
                [](int n) { check(n); });
}

TEST(Stencil1d, StaysInsideItsArrays) {
  RecordProperty("todo", 1);
  kit::for_each("n", std::vector<int>{256, 1000, 3},
                [](int n) { check(n, kit::Placement::kAtEnd); });
}

TEST(Stencil1d, AcceptsNoElements) {
  RecordProperty("todo", 1);
  check(0);
  check(1);  // the same launcher must work when there is something to add up
}

TEST(Stencil1d, LoadsEachElementOnce) {
  RecordProperty("todo", 3);
  const int n = 1 << 14;
  const kit::Run run = check(n);
  const kit::Counters& c = run.counters();
  kit::budget("bytes loaded per element", kit::ratio(static_cast<double>(c.global_load_bytes), n),
              kit::at_most(4.5),
              "A block loads its 256 elements and 8 of its neighbours once; the other uses are in "
              "shared memory",
              &kit::Counters::global_load_bytes);
}

TEST(Stencil1d, WaitsOnce) {
  RecordProperty("todo", 2);
  const kit::Run run = check(1 << 14);
  const kit::Counters& c = run.counters();
  kit::budget("barriers per warp", kit::ratio(c.barriers, static_cast<double>(c.threads) / 32),
              kit::at_most(1),
              "The tile is written once and then only read, so one barrier orders everything",
              &kit::Counters::barriers);
}

TEST(Stencil1d, FiltersLongArrays) {
  RecordProperty("todo", 1);
  kit::at_largest(1 << 30, [](int n) {
    Weights weights;
    for (int k = 0; k <= 2 * kRadius; ++k) weights.at[k] = static_cast<float>(k - 3);
    const auto x = kit::large_integers(n, "x");
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] { launch_stencil(x.get(), y.get(), weights, n); });
    kit::expect_at_ends(y, [&](size_t i) {
      float sum = 0;
      for (int k = 0; k <= 2 * kRadius; ++k) {
        const long long at = static_cast<long long>(i) + k - kRadius;
        if (at >= 0 && at < n) sum += weights.at[k] * x.at(at);
      }
      return sum;
    });
  });
}

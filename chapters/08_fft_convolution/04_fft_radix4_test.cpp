// Tests of 08/04 FFT, radix 4. The reference of whole transforms, in double, is in test/fft.h.
#include "04_fft_radix4.h"

#include <cmath>
#include <ostream>
#include <vector>

#include "03_fft_radix2.h"
#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

struct PassSizes {
  int n, done, batch;
};
std::ostream& operator<<(std::ostream& out, const PassSizes& s) {
  return out << s.n << ", done = " << s.done << ", batch = " << s.batch;
}

// A pass as the header defines it: point k of transform q from point k % done of four transforms.
std::vector<kit::Complex> pass_on_cpu(const std::vector<float2>& x, const PassSizes& s) {
  const double pi = std::acos(-1.0);
  const int transforms = s.n / (4 * s.done);  // behind the pass, in each array
  std::vector<kit::Complex> y(x.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const int place = static_cast<int>(i % s.n);
    const int q = place / (4 * s.done), k = place % (4 * s.done);
    for (int r = 0; r < 4; ++r) {
      const float2 point = x[i - place + (q + r * transforms) * s.done + k % s.done];
      y[i] += kit::Complex(point.x, point.y) * std::polar(1.0, -2 * pi * r * k / (4 * s.done));
    }
  }
  return y;
}

kit::Run check_pass(const std::vector<float2>& x, const PassSizes& s) {
  const auto d_x = kit::DeviceBuffer<float2>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y", kit::Placement::kAtEnd);
  const kit::Run run =
      kit::run([&] { launch_fft_pass4(d_x.get(), d_y.get(), s.n, s.done, s.batch); });
  kit::expect_transforms_near(d_y, pass_on_cpu(x, s), s.n);
  return run;
}

void check_passes(const std::vector<PassSizes>& all) {
  kit::for_each("n", all, [](const PassSizes& s) {
    check_pass(kit::random_complex(static_cast<size_t>(s.n) * s.batch), s);
  });
}

kit::Run check(const std::vector<float2>& x, int n) {
  const auto d_x = kit::DeviceBuffer<float2>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y", kit::Placement::kAtEnd);
  const auto d_between = kit::DeviceBuffer<float2>::output(x.size(), "between");
  const int batch = static_cast<int>(x.size() / n);
  const kit::Run run =
      kit::run([&] { launch_fft_radix4(d_x.get(), d_y.get(), d_between.get(), n, batch); });
  kit::expect_transforms_near(d_y, kit::dft_on_cpu(x, n), n);
  return run;
}

}  // namespace

TEST(FftRadix4, TransformsFourPoints) {
  RecordProperty("todo", 1);
  // One butterfly, which turns nothing by less than a quarter.
  check_passes({{4, 1, 1}});
}

TEST(FftRadix4, TheFirstPassJoinsPointsThatLieApart) {
  RecordProperty("todo", 1);
  check_passes({{16, 1, 1}, {64, 1, 1}, {4096, 1, 1}});
}

TEST(FftRadix4, LaterPassesTurnAndInterleave) {
  RecordProperty("todo", 1);
  check_passes({{16, 4, 1}, {64, 4, 1}, {64, 16, 1}, {1024, 16, 1}, {4096, 1024, 1}});
}

TEST(FftRadix4, PassesGoThroughEveryArray) {
  RecordProperty("todo", 1);
  // Butterflies that fill no block, and more arrays than a grid has blocks in y.
  check_passes({{4, 1, 3}, {16, 4, 70}, {64, 4, 5}, {256, 64, 3}, {4, 1, 65'537}});
}

TEST(FftRadix4, TransformsRandomValues) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{4, 16, 64, 256, 1024, 4096},
                [](int n) { check(kit::random_complex(n), n); });
}

TEST(FftRadix4, TransformsEachOfABatch) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{4, 16, 64},
                [](int n) { check(kit::random_complex(7 * n), n); });
}

TEST(FftRadix4, AcceptsNoTransforms) {
  RecordProperty("todo", 1);
  check({}, 16);
  check_pass({}, {16, 4, 0});
  check_pass(kit::random_complex(16), {16, 4, 1});  // the same launcher must work when there is one
}

TEST(FftRadix4, ReadsAndWritesEachPointOncePerPass) {
  RecordProperty("todo", 1);
  const PassSizes s = {1024, 16, 2};
  const kit::Counters c = check_pass(kit::random_complex(2048), s).counters();
  kit::budget("global reads of each point in a pass",
              kit::ratio(static_cast<double>(c.global_load_bytes), 8.0 * 2048), kit::at_most(1),
              "Each point belongs to one butterfly", &kit::Counters::global_load_bytes);
  kit::budget("global writes of each point in a pass",
              kit::ratio(static_cast<double>(c.global_store_bytes), 8.0 * 2048), kit::at_most(1),
              "Each result belongs to one butterfly", &kit::Counters::global_store_bytes);
  kit::budget("sectors per load request",
              kit::ratio(static_cast<double>(c.global_load_sectors),
                         static_cast<double>(c.global_load_requests)),
              kit::at_most(9), "32 neighbouring points of 8 bytes are 8 sectors",
              &kit::Counters::global_load_sectors);
}

TEST(FftRadix4, TakesHalfAsManyPassesAsStages) {
  RecordProperty("todo", 2);
  const kit::Counters c = check(kit::random_complex(1024), 1024).counters();
  kit::budget("global reads of each point",
              kit::ratio(static_cast<double>(c.global_load_bytes), 8.0 * 1024), kit::at_most(5),
              "1024 is four to the power 5: five passes, where stages of radix 2 are ten",
              &kit::Counters::global_load_bytes);
}

TEST(FftRadix4, PassesGoThroughTheLongestBatches) {
  RecordProperty("todo", 1);
  kit::at_largest("2^20 arrays of 4096 points", [] {
    const size_t batch = 1 << 20, points = 4096, n = 2 * batch * points;
    const auto x = kit::LargeArray<float>::input(n, "x", {1.0f, 0.0f});
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] {
      launch_fft_pass4(reinterpret_cast<const float2*>(x.get()), reinterpret_cast<float2*>(y.get()),
                       static_cast<int>(points), 1, static_cast<int>(batch));
    });
    // Four ones have one frequency, the first.
    kit::expect_at_ends(
        y, [](size_t i) { return i % 8 == 0 ? 4.0 : 0.0; }, kit::Tolerance::absolute(1e-5));
  });
}

TEST(FftRadix4, IsFast) {
  RecordProperty("todo", 2);
  constexpr int kPoints = 1024;
  const int batch = kit::work_scale(1 << 16, 1 << 25) / kPoints;
  kit::FftSpeed work(kPoints, batch, 66);
  const auto between =
      work.speed.output<float>(2 * static_cast<size_t>(kPoints) * batch, "between");
  const auto with = [&](auto launch) {
    return work.call([&between, launch](const float2* x, float2* y, int n, int transforms) {
      launch(x, y, reinterpret_cast<float2*>(between.get()), n, transforms);
    });
  };
  work.speed.launch(with(launch_fft_radix4));
  work.speed.against(kit::stage("a pass per stage in global memory", with(launch_fft_global)),
                     kit::Bars(1.5, 1.8).gold_on_gpu_only());
  work.speed.grade();
}

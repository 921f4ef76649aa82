// Tests of 08/05 Stockham FFT. The reference, in double, is in test/fft.h.
#include "05_fft_stockham.h"

#include <vector>

#include "03_fft_radix2.h"
#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

const std::vector<int>& sizes() {
  static const std::vector<int> all = {256, 512, 1024, 2048, 4096};
  return all;
}

kit::Run check(const std::vector<float2>& x, int n) {
  const auto d_x = kit::DeviceBuffer<float2>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y", kit::Placement::kAtEnd);
  const int batch = static_cast<int>(x.size() / n);
  const kit::Run run = kit::run([&] { launch_fft_stockham(d_x.get(), d_y.get(), n, batch); });
  kit::expect_transforms_near(d_y, kit::dft_on_cpu(x, n), n);
  return run;
}

}  // namespace

TEST(FftStockham, AnImpulseBecomesOnes) {
  RecordProperty("todo", 2);
  // Whatever the points are turned by: all but point 0 are zero.
  kit::for_each("n", sizes(), [](int n) {
    std::vector<float2> x(n, float2{0, 0});
    x[0] = {1, 0};
    check(x, n);
  });
}

TEST(FftStockham, AnImpulseFurtherOnBecomesAWave) {
  RecordProperty("todo", 2);
  // y[k] = turn(k / 8). Point n / 8 is in the first butterfly of its pass, where nothing is turned;
  // later passes only copy, to places that are wrong if the order is.
  kit::for_each("n", sizes(), [](int n) {
    std::vector<float2> x(n, float2{0, 0});
    x[n / 8] = {1, 0};
    check(x, n);
  });
}

TEST(FftStockham, TransformsRandomValues) {
  RecordProperty("todo", 1);
  kit::for_each("n", sizes(), [](int n) { check(kit::random_complex(n), n); });
}

TEST(FftStockham, TransformsEachOfABatch) {
  RecordProperty("todo", 1);
  kit::for_each("batch", std::vector<int>{2, 5, 9},
                [](int batch) { check(kit::random_complex(256 * batch), 256); });
  kit::for_each("batch", std::vector<int>{3, 4},
                [](int batch) { check(kit::random_complex(512 * batch), 512); });
  kit::for_each("n", std::vector<int>{1024, 2048, 4096},
                [](int n) { check(kit::random_complex(3 * n), n); });
}

TEST(FftStockham, WorksInPlace) {
  RecordProperty("todo", 2);
  kit::for_each("n", sizes(), [](int n) {
    const std::vector<float2> x = kit::random_complex(2 * n);
    const auto points = kit::DeviceBuffer<float2>::inout(x, "y");
    kit::run([&] { launch_fft_stockham(points.get(), points.get(), n, 2); });
    kit::expect_transforms_near(points, kit::dft_on_cpu(x, n), n);
  });
}

TEST(FftStockham, AcceptsNoTransforms) {
  RecordProperty("todo", 2);
  check({}, 256);
  check(kit::random_complex(256), 256);  // the same launcher must work when there is one
}

TEST(FftStockham, ReadsAndWritesEachPointOnce) {
  RecordProperty("todo", 2);
  kit::for_each("n", std::vector<int>{512, 4096}, [](int n) {
    const kit::Counters c = check(kit::random_complex(n), n).counters();
    const double bytes =
        static_cast<double>(c.global_load_bytes) + static_cast<double>(c.global_store_bytes);
    kit::budget("passes through global memory", bytes / (16.0 * n), kit::at_most(2),
                "A pass reads 8 bytes and writes 8 bytes of each point. Between the passes of a "
                "transform its points stay in registers and shared memory",
                &kit::Counters::global_load_bytes);
  });
}

TEST(FftStockham, TransformsTheLongestBatches) {
  RecordProperty("todo", 1);
  kit::at_largest("2^20 transforms of 4096 points", [] {
    const size_t batch = 1 << 20, points = 4096, n = 2 * batch * points;
    const auto x = kit::LargeArray<float>::input(n, "x", {1.0f, 0.0f});
    const auto y = kit::LargeArray<float>::output(n, "y");
    kit::run([&] {
      launch_fft_stockham(reinterpret_cast<const float2*>(x.get()),
                          reinterpret_cast<float2*>(y.get()), static_cast<int>(points),
                          static_cast<int>(batch));
    });
    // Ones have one frequency, the first.
    kit::expect_at_ends(
        y, [&](size_t i) { return i % (2 * points) == 0 ? 1.0 * points : 0.0; },
        kit::Tolerance::absolute(1e-2));
  });
}

TEST(FftStockham, IsFast) {
  RecordProperty("todo", 2);
  kit::for_each("n", kit::simulated() ? std::vector<int>{1024} : sizes(), [](int n) {
    const int batch = kit::work_scale(1 << 16, 1 << 25) / n;
    kit::FftSpeed work(n, batch, 66);
    const auto between = work.speed.output<float>(2 * static_cast<size_t>(n) * batch, "between");
    work.speed.launch(work.call(launch_fft_stockham));
    work.speed.against(work.against_cufft(), kit::Bars(0.25, 0.65, 0.95));
    const auto passes = [&](const float2* x, float2* y, int points, int transforms) {
      launch_fft_global(x, y, reinterpret_cast<float2*>(between.get()), points, transforms);
    };
    work.speed.against(kit::stage("a pass per stage in global memory", work.call(passes)),
                       kit::Bars(3));
    work.speed.grade();
  });
}

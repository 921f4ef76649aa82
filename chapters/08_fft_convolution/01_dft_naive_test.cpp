// Tests of 08/01 DFT, naive. The reference, in double, is in test/fft.h.
#include "01_dft_naive.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "08_fft_convolution/test/fft.h"
#include "kit/host_code.h"
#include "kit/kit.h"
#include "kit/largest.h"

namespace {

const std::vector<float2> kAlternating = {{1, 0}, {-1, 0}, {1, 0}, {-1, 0}};
const std::vector<float2> kOddOnly = {{0, 0}, {1, 0}, {0, 0}, {-1, 0}};

const std::vector<int>& sizes() {
  static const std::vector<int> all = {4, 8, 1, 2, 3, 31, 32, 33, 127, 128, 129, 257};
  return all;
}

// Runs the transform on the host; y is NaN before.
void check_host(const std::vector<float2>& x) {
  const int n = static_cast<int>(x.size());
  std::vector<float2> y(x.size());
  std::memset(y.data(), 0xFF, y.size() * sizeof(float2));
  kit::expect_host_code("dft_on_host", [&] { dft_on_host(x.data(), y.data(), n); });
  kit::expect_transforms_near("y", y, kit::dft_on_cpu(x, n), n);
}

kit::Run check_kernel(const std::vector<float2>& x) {
  const int n = static_cast<int>(x.size());
  const auto d_x = kit::DeviceBuffer<float2>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float2>::output(x.size(), "y", kit::Placement::kAtEnd);
  const kit::Run run = kit::run([&] { launch_dft_naive(d_x.get(), d_y.get(), n); });
  kit::expect_transforms_near(d_y, kit::dft_on_cpu(x, n), n);
  return run;
}

}  // namespace

TEST(DftNaive, PaperIsRight) {
  RecordProperty("todo", 1);
  std::vector<float2> y;
  for (int k = 0; k < 4; ++k) y.push_back(dft_on_paper(k));
  kit::expect_transforms_near("y on paper", y, kit::dft_on_cpu(kOddOnly, 4), 4);
}

TEST(DftNaive, TheHostFollowsThePaper) {
  RecordProperty("todo", 2);
  check_host(kAlternating);
  check_host(kOddOnly);
}

TEST(DftNaive, TheHostIsRight) {
  RecordProperty("todo", 2);
  kit::for_each("n", sizes(), [](int n) { check_host(kit::random_complex(n)); });
}

// Then a value is rounded once, when it becomes a float.
TEST(DftNaive, TheHostAddsInDouble) {
  RecordProperty("todo", 2);
  const int n = 1000;
  const std::vector<float2> x = kit::random_complex(n);
  std::vector<float2> y(n);
  dft_on_host(x.data(), y.data(), n);
  std::vector<float> got;
  std::vector<double> expected;
  const std::vector<kit::Complex> reference = kit::dft_on_cpu(x, n);
  for (int k = 0; k < n; ++k) {
    got.push_back(y[k].x), got.push_back(y[k].y);
    expected.push_back(reference[k].real()), expected.push_back(reference[k].imag());
  }
  kit::expect_norm_near("y", got, expected, 0x1p-24);
}

TEST(DftNaive, TheKernelFollowsThePaper) {
  RecordProperty("todo", 3);
  check_kernel(kAlternating);
  check_kernel(kOddOnly);
}

TEST(DftNaive, TheKernelIsRight) {
  RecordProperty("todo", 3);
  kit::for_each("n", sizes(), [](int n) { check_kernel(kit::random_complex(n)); });
}

TEST(DftNaive, KeepsTheDigitsOfTheAngles) {
  RecordProperty("todo", 3);
  // Here i k reaches 358,801, and a float holds i k / n to 2^-15 only.
  check_kernel(kit::random_complex(600));
}

// From here on i k is more than a float can count, and a table of all turns takes more than 32 KiB.
// The first and the last values are made; each is as near as expect_transforms_near asks.
TEST(DftNaive, KeepsTheDigitsOfManyTurns) {
  RecordProperty("todo", 3);
  constexpr int kN = 4101;
  const auto check_ends = [] {
    const std::vector<float2> x = kit::random_complex(kN);
    const auto d_x = kit::DeviceBuffer<float2>::input(x, "x");
    const auto d_y = kit::LargeArray<float>::output(2 * kN, "y");  // both parts, in turn
    kit::run([&] { launch_dft_naive(d_x.get(), reinterpret_cast<float2*>(d_y.get()), kN); });
    const double units = 16 * 0x1p-24 * std::log2(kN);
    kit::expect_at_ends(
        d_y,
        [&](size_t e) {
          kit::Complex sum = 0;
          for (size_t i = 0; i < kN; ++i) {
            const double turns = static_cast<double>(i * (e / 2) % kN) / kN;
            sum += kit::Complex(x[i].x, x[i].y) * std::polar(1.0, -2 * std::acos(-1.0) * turns);
          }
          return e % 2 == 0 ? sum.real() : sum.imag();
        },
        kit::Tolerance::absolute(units * std::sqrt(2.0 / 3 * kN)));
  };
  kit::at_largest("n = 4101", check_ends, kit::LongBlocks::kToTheEnd);
}

TEST(DftNaive, LaunchesForTheMostValues) {
  RecordProperty("todo", 3);
  // 256 KiB, more than the shared memory of a block and than constant memory. All products of them
  // take too long in the simulator, so what comes out is not asked.
  kit::at_largest("n = 32,768", [] {
    constexpr int kMost = 32768;
    const auto d_x = kit::DeviceBuffer<float2>::input(kit::random_complex(kMost), "x");
    const auto d_y = kit::DeviceBuffer<float2>::output(kMost, "y");
    kit::run([&] { launch_dft_naive(d_x.get(), d_y.get(), kMost); });
  });
}

TEST(DftNaive, ReadsEachValueForAWholeWarp) {
  RecordProperty("todo", 3);
  const kit::Counters c = check_kernel(kit::random_complex(256)).counters();
  kit::budget("global load sectors per request",
              kit::ratio(static_cast<double>(c.global_load_sectors),
                         static_cast<double>(c.global_load_requests)),
              kit::at_most(1),
              "Threads of a warp differ in k and are at the same i: one value serves all of them",
              &kit::Counters::global_load_sectors);
}

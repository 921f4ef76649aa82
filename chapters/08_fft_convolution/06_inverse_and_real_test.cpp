// Tests of 08/06 inverse and real. The references, in double, are in test/fft.h.
#include "06_inverse_and_real.h"

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "08_fft_convolution/test/fft.h"
#include "kit/kit.h"

namespace {

struct Shape {
  int n, batch;
};
std::ostream& operator<<(std::ostream& out, const Shape& s) {
  return out << s.n << ", batch = " << s.batch;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{4, 1},   {8, 1},   {16, 1},   {4, 5},   {64, 3},
                                         {256, 2}, {512, 3}, {1024, 1}, {2048, 1}};
  return all;
}

// The header's longest real signals, and the one before.
const std::vector<Shape>& longest() {
  static const std::vector<Shape> all = {{4096, 1}, {8192, 1}};
  return all;
}

void check_inverse(const Shape& s) {
  const std::vector<float2> y = kit::random_complex(static_cast<size_t>(s.n) * s.batch);
  const auto d_y = kit::DeviceBuffer<float2>::input(y, "y", kit::Placement::kAtEnd);
  const auto d_x = kit::DeviceBuffer<float2>::output(y.size(), "x", kit::Placement::kAtEnd);
  kit::run([&] { launch_ifft(d_y.get(), d_x.get(), s.n, s.batch); });
  kit::expect_transforms_near(d_x, kit::dft_on_cpu(y, s.n, kit::Direction::kInverse), s.n);
}

// Values 0 to n / 2 of the transforms of batch times n real values, in double.
std::vector<kit::Complex> real_dft_on_cpu(const std::vector<float>& x, int n) {
  std::vector<kit::Complex> halves;
  const std::vector<kit::Complex> y =
      kit::dft_on_cpu(std::vector<kit::Complex>(x.begin(), x.end()), n);
  for (size_t i = 0; i < y.size(); ++i) {
    if (i % n <= static_cast<size_t>(n) / 2) halves.push_back(y[i]);
  }
  return halves;
}

kit::Run check_real(const Shape& s) {
  const std::vector<float> x = kit::random_floats(static_cast<size_t>(s.n) * s.batch);
  const std::vector<kit::Complex> expected = real_dft_on_cpu(x, s.n);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float2>::output(expected.size(), "y", kit::Placement::kAtEnd);
  const auto d_half = kit::DeviceBuffer<float2>::output(x.size() / 2, "half");
  const kit::Run run =
      kit::run([&] { launch_rfft(d_x.get(), d_y.get(), d_half.get(), s.n, s.batch); });
  kit::expect_transforms_near(d_y, expected, s.n / 2 + 1);
  return run;
}

// The spectrum is exact up to its rounding to float; what comes back must be x.
void check_way_back(const Shape& s) {
  const std::vector<float> x = kit::random_floats(static_cast<size_t>(s.n) * s.batch);
  std::vector<float2> y;
  for (const kit::Complex z : real_dft_on_cpu(x, s.n)) {
    y.push_back({static_cast<float>(z.real()), static_cast<float>(z.imag())});
  }
  const auto d_y = kit::DeviceBuffer<float2>::input(y, "y", kit::Placement::kAtEnd);
  const auto d_x = kit::DeviceBuffer<float>::output(x.size(), "x", kit::Placement::kAtEnd);
  kit::run([&] { launch_irfft(d_y.get(), d_x.get(), s.n, s.batch); });
  for (const char* call : {"cudaMalloc", "cudaMallocAsync", "cudaMallocManaged"}) {
    if (kit::api_calls(call) == 0) continue;
    kit::fail(std::string("launch_irfft calls ") + call +
              ". It needs no memory but d_x: n / 2 complex values take as much room as the n real "
              "ones that come out of them.");
    return;
  }
  kit::expect_near(d_x, std::vector<double>(x.begin(), x.end()),
                   kit::Tolerance::absolute(16 * std::log2(s.n) * 0x1p-24));
}

}  // namespace

TEST(InverseAndReal, TheInverseIsRight) {
  RecordProperty("todo", 1);
  kit::for_each("n", shapes(), check_inverse);
  kit::for_each("n", std::vector<Shape>{{2, 1}, {2, 7}, {4096, 1}}, check_inverse);
}

TEST(InverseAndReal, TheInverseWorksInPlace) {
  RecordProperty("todo", 1);
  const std::vector<float2> y = kit::random_complex(3 * 128);
  const auto values = kit::DeviceBuffer<float2>::inout(y, "x");
  kit::run([&] { launch_ifft(values.get(), values.get(), 128, 3); });
  kit::expect_transforms_near(values, kit::dft_on_cpu(y, 128, kit::Direction::kInverse), 128);
}

TEST(InverseAndReal, RealValuesAreTransformed) {
  RecordProperty("todo", 2);
  kit::for_each("n", shapes(), [](const Shape& s) { check_real(s); });
  kit::for_each("n", longest(), [](const Shape& s) { check_real(s); });
}

TEST(InverseAndReal, RealValuesComeBack) {
  RecordProperty("todo", 3);
  kit::for_each("n", shapes(), check_way_back);
  kit::for_each("n", longest(), check_way_back);
}

TEST(InverseAndReal, TakesMoreTransformsThanAGridHasBlocksInY) {
  RecordProperty("todo", 2);
  const Shape many = {4, 65'537};
  check_inverse(many);
  check_real(many);
  check_way_back(many);
}

TEST(InverseAndReal, RealValuesTakeHalfTheWork) {
  RecordProperty("todo", 2);
  constexpr int kPoints = 1024;
  const kit::Counters c = check_real({kPoints, 2}).counters();
  kit::budget("bytes stored for each real value",
              kit::ratio(static_cast<double>(c.global_store_bytes), 2.0 * kPoints),
              kit::at_most(8.1),
              "The transform of n / 2 pairs is 4 bytes for each real value, and so is the result",
              &kit::Counters::global_store_bytes);
}

#include "08_fft_convolution/test/fft.h"

#include <cmath>
#include <complex>

#include "failure_of.h"

using kit::Complex;
using kit_tests::failure_of;

namespace {

constexpr int kPoints = 16;

struct Transforms {
  std::vector<float2> x = kit::random_complex(2 * kPoints);
  std::vector<Complex> y = kit::dft_on_cpu(x, kPoints);
};

std::vector<float2> rounded(const std::vector<Complex>& values) {
  std::vector<float2> floats;
  for (const Complex z : values) {
    floats.push_back({static_cast<float>(z.real()), static_cast<float>(z.imag())});
  }
  return floats;
}

std::string failure_for(const std::vector<float2>& got, const std::vector<Complex>& expected) {
  return failure_of([&] { kit::expect_transforms_near("y", got, expected, kPoints); });
}

void expect_words(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

}  // namespace

TEST(KitFft, TheReferenceFollowsThePaper) {
  const std::vector<Complex> y = kit::dft_on_cpu(std::vector<Complex>{1, -1, 1, -1}, 4);
  for (int k = 0; k < 4; ++k) EXPECT_NEAR(std::abs(y[k] - Complex(k == 2 ? 4 : 0)), 0, 1e-14);
  // One turn of a clockwise pointer would be k = 3; this one turns the other way.
  const Complex i(0, 1);
  const std::vector<Complex> once = kit::dft_on_cpu(std::vector<Complex>{1, i, -1, -i}, 4);
  EXPECT_NEAR(std::abs(once[1] - Complex(4)), 0, 1e-14);
}

TEST(KitFft, TheInverseBringsEachTransformBack) {
  const Transforms t;
  const std::vector<Complex> x = kit::dft_on_cpu(t.y, kPoints, kit::Direction::kInverse);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(std::abs(x[i] - Complex(t.x[i].x, t.x[i].y)), 0, 1e-13);
  }
}

TEST(KitFft, AcceptsWhatIsRoundedToFloat) {
  const Transforms t;
  kit::expect_transforms_near("y", rounded(t.y), t.y, kPoints);
}

TEST(KitFft, RejectsTheNextLowerPrecision) {
  const Transforms t;
  std::vector<float2> y = rounded(t.y);
  for (float2& z : y) z = {std::round(z.x * 1024) / 1024, std::round(z.y * 1024) / 1024};
  const std::string message = failure_for(y, t.y);
  expect_words(message, "elements of y are wrong");
  expect_words(message, " is allowed.");
}

TEST(KitFft, RejectsAnErrorThatIsSmallEverywhere) {
  const Transforms t;
  std::vector<float2> y = rounded(t.y);
  for (float2& z : y) z = {z.x * 1.0000012f, z.y * 1.0000012f};  // more than 4 log2(16) 2^-24
  expect_words(failure_for(y, t.y), "as a whole");
}

TEST(KitFft, RejectsOneWrongElementAndNaN) {
  const Transforms t;
  std::vector<float2> y = rounded(t.y);
  y[kPoints + 3].y += 0.01f;
  expect_words(failure_for(y, t.y), "y[transform 1, point 3] is ");
  y = rounded(t.y);
  y[5].x = NAN;
  expect_words(failure_for(y, t.y), "y[transform 0, point 5] is NaN, expected ");
}

TEST(KitFft, GuessesWhatIsWrong) {
  const Transforms t;
  std::vector<Complex> reversed, conjugated, scaled, permuted;
  const int order[] = {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15};
  for (int i = 0; i < 2 * kPoints; ++i) {
    const int first = i / kPoints * kPoints, k = i % kPoints;
    reversed.push_back(t.y[first + (kPoints - k) % kPoints]);
    conjugated.push_back(std::conj(t.y[i]));
    scaled.push_back(t.y[i] / static_cast<double>(kPoints));
    permuted.push_back(t.y[first + order[k]]);
  }
  expect_words(failure_for(rounded(reversed), t.y), "as if the angle had the other sign");
  expect_words(failure_for(rounded(conjugated), t.y), "complex conjugates");
  expect_words(failure_for(rounded(scaled), t.y), "they are 1/n of what is expected");
  expect_words(failure_for(rounded(permuted), t.y), "bit-reversed order");
  expect_words(failure_for(std::vector<float2>(2 * kPoints, float2{0, 0}), t.y), "they are zero");
}

TEST(KitFft, NamesWhatWasNeverWritten) {
  const Transforms t;
  const auto y = kit::DeviceBuffer<float2>::output(t.y.size(), "y");
  expect_words(failure_of([&] { kit::expect_transforms_near(y, t.y, kPoints); }),
               "the last 32 were never written");
}

#include <limits>

#include "failure_of.h"
#include "kit/kit.h"

using kit_tests::failure_of;

namespace {
using kit_tests::contains;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

}  // namespace

TEST(KitCompare, AcceptsEqualValues) {
  EXPECT_TRUE(kit::expect_equal("x", std::vector<int>{1, 2, 3}, std::vector<int>{1, 2, 3}));
  EXPECT_TRUE(kit::expect_equal("x", std::vector<float>{0.0f}, std::vector<float>{-0.0f}));
  EXPECT_TRUE(kit::expect_equal("x", std::vector<float>{}, std::vector<float>{}));
}

TEST(KitCompare, NeverAcceptsNan) {
  const std::vector<float> nan = {kNan};
  const kit::Tolerance huge = kit::Tolerance::absolute(1e300);
  EXPECT_NE(failure_of([&] { kit::expect_equal("x", nan, nan); }), "");
  EXPECT_NE(failure_of([&] { kit::expect_near("x", nan, {1.0}, huge); }), "");
  EXPECT_NE(failure_of([&] { kit::expect_near("x", nan, {kNan}, huge); }), "");
  EXPECT_NE(failure_of([&] { kit::expect_near("x", {1.0f}, {kNan}, huge); }), "");
  const std::string norm = failure_of([&] { kit::expect_norm_near("x", nan, {1.0}, 1e300); });
  EXPECT_NE(norm.find("x: 1 of 1 values are NaN"), std::string::npos) << norm;
}

TEST(KitCompare, AcceptsAnInfinityOnlyWhereItIsExpected) {
  const kit::Tolerance huge = kit::Tolerance::relative(1e300);
  EXPECT_TRUE(kit::expect_near("x", {kInf}, {kInf}, huge));
  EXPECT_NE(failure_of([&] { kit::expect_near("x", {kInf}, {-kInf}, huge); }), "");
  EXPECT_NE(failure_of([&] { kit::expect_near("x", {kInf}, {1.0}, huge); }), "");
  EXPECT_NE(failure_of([&] { kit::expect_near("x", {1.0f}, {kInf}, huge); }), "");
}

TEST(KitCompare, AppliesEachKindOfTolerance) {
  EXPECT_TRUE(kit::expect_near("x", {1.5f}, {1.0}, kit::Tolerance::absolute(0.5)));
  EXPECT_NE(failure_of([] { kit::expect_near("x", {1.5f}, {1.0}, kit::Tolerance::absolute(0.4)); }),
            "");
  EXPECT_TRUE(kit::expect_near("x", {-110.0f}, {-100.0}, kit::Tolerance::relative(0.1)));
  EXPECT_NE(
      failure_of([] { kit::expect_near("x", {-112.0f}, {-100.0}, kit::Tolerance::relative(0.1)); }),
      "");
  // Two units of 2^-24 around a sum whose terms add up to 2^24.
  const kit::Tolerance two_units = kit::Tolerance::units(2, {0x1p24});
  EXPECT_TRUE(kit::expect_near("x", {2.0f}, {0.0}, two_units));
  EXPECT_NE(failure_of([&] { kit::expect_near("x", {2.5f}, {0.0}, two_units); }), "");
}

TEST(KitCompare, SaysHowFarOffARoundingErrorIs) {
  const std::string message =
      failure_of([] { kit::expect_near("x", {1.01f}, {1.0}, kit::Tolerance::absolute(1e-3)); });
  EXPECT_TRUE(contains(message, "The error of x[0] is 0.01; 0.001 is allowed.")) << message;
}

TEST(KitCompare, ShowsAtMostFivePositionsWithBothValues) {
  std::vector<int> got(100, 7), expected(100, 7);
  for (const int i : {3, 10, 11, 40, 62, 63, 90}) got[static_cast<size_t>(i)] = i;
  const std::string message = failure_of([&] { kit::expect_equal("x", got, expected); });
  EXPECT_TRUE(contains(message, "7 of 100 elements of x are wrong")) << message;
  EXPECT_TRUE(contains(message, "x[3] is 3, expected 7.")) << message;
  EXPECT_TRUE(contains(message, "x[62] is 62")) << message;
  EXPECT_FALSE(contains(message, "x[63]")) << message;
  EXPECT_TRUE(contains(message, "and 2 more")) << message;
}

TEST(KitCompare, NamesRowAndColumn) {
  std::vector<int> got(24, 0), expected(24, 0);
  got[2 * 6 + 4] = 1;
  std::string message = failure_of([&] { kit::expect_equal("x", got, expected, {4, 6}); });
  EXPECT_TRUE(contains(message, "x[row 2, col 4] is 1, expected 0.")) << message;
  message = failure_of([&] { kit::expect_equal("x", got, expected, {2, 4, 3}); });
  EXPECT_TRUE(contains(message, "x[depth 1, row 1, col 1]")) << message;
}

TEST(KitCompare, PrintsEnoughDigitsToTellValuesApart) {
  const std::string message = failure_of(
      [] { kit::expect_equal("x", std::vector<float>{1.0f}, std::vector<float>{1.0000001f}); });
  EXPECT_TRUE(contains(message, "x[0] is 1, expected 1.00000012.")) << message;
}

TEST(KitCompare, RefusesDifferentSizes) {
  const std::string message = failure_of([] {
    kit::expect_equal("x", std::vector<int>{1}, std::vector<int>{1, 2});
  });
  EXPECT_TRUE(contains(message, "x has 1 elements, expected 2.")) << message;
}

TEST(KitCompare, NormSeesTheWholeArray) {
  EXPECT_TRUE(kit::expect_norm_near("x", {3.0f, 4.0f}, {3.0, 4.0}, 0));
  EXPECT_NE(failure_of([] { kit::expect_norm_near("x", {3.0f, 4.1f}, {3.0, 4.0}, 0.01); }), "");
  EXPECT_TRUE(kit::expect_norm_near("x", {3.0f, 4.1f}, {3.0, 4.0}, 0.021));
}

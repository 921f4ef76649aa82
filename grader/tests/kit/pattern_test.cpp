#include "kit/pattern.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kit/kit.h"
#include "kit/mistake.h"

namespace {

using kit::internal::Comparison;

// 1, 2, 3, ...: every element differs, so a guess about values cannot fit by accident.
Comparison make(std::vector<double> got, kit::Shape shape = {}) {
  Comparison c;
  c.name = "c";
  c.expected.resize(got.size());
  std::iota(c.expected.begin(), c.expected.end(), 1.0);
  for (size_t i = 0; i < got.size(); ++i) c.wrong.push_back(got[i] != c.expected[i]);
  c.poisoned.assign(got.size(), 0);
  c.written.assign(got.size(), 1);
  c.got = std::move(got);
  c.shape = shape;
  return c;
}

std::vector<double> right(size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  return values;
}

Comparison unwritten(size_t n, const std::vector<size_t>& positions, kit::Shape shape = {}) {
  Comparison c = make(right(n), shape);
  for (const size_t i : positions) {
    c.wrong[i] = 1;
    c.written[i] = 0;
  }
  return c;
}

std::vector<size_t> every(size_t first, size_t step, size_t end) {
  std::vector<size_t> positions;
  for (size_t i = first; i < end; i += step) positions.push_back(i);
  return positions;
}

}  // namespace

TEST(KitPattern, SeesWhatWasNeverWritten) {
  EXPECT_EQ(kit::guess_pattern(unwritten(100, every(76, 1, 100))),
            "the last 24 were never written");
  EXPECT_EQ(kit::guess_pattern(unwritten(100, every(0, 1, 3))), "the first 3 were never written");
  EXPECT_EQ(kit::guess_pattern(unwritten(100, every(40, 1, 50))),
            "elements 40 to 49 were never written");
}

TEST(KitPattern, SeesARegularStep) {
  EXPECT_EQ(kit::guess_pattern(unwritten(256, every(31, 32, 256))),
            "every 32nd element, from element 31 on, was never written");
  std::vector<double> got = right(99);
  for (size_t i = 0; i < got.size(); i += 3) got[i] = 1000.0 + static_cast<double>(i * i);
  EXPECT_EQ(kit::guess_pattern(make(got)), "every 3rd element, from element 0 on, is wrong");
}

TEST(KitPattern, DoesNotCallPartOfAnArrayRegular) {
  std::vector<double> got = right(200);
  for (size_t i = 20; i < 100; i += 10) got[i] = 1000.0 + static_cast<double>(i * i);
  EXPECT_EQ(kit::guess_pattern(make(got)), "");
}

TEST(KitPattern, SeesATransposedMatrix) {
  std::vector<double> got(6 * 4);
  for (size_t row = 0; row < 4; ++row) {
    for (size_t col = 0; col < 6; ++col)
      got[col * 4 + row] = static_cast<double>(row * 6 + col + 1);
  }
  EXPECT_EQ(kit::guess_pattern(make(got, {4, 6})),
            "they hold the transposed result (rows and columns are swapped)");
}

TEST(KitPattern, SeesAShift) {
  std::vector<double> got(50);
  std::iota(got.begin(), got.end(), 2.0);
  EXPECT_EQ(kit::guess_pattern(make(got)),
            "they are shifted by 1: element i holds what belongs to i + 1");
  std::iota(got.begin(), got.end(), -31.0);
  EXPECT_EQ(kit::guess_pattern(make(got)),
            "they are shifted by 32: element i holds what belongs to i - 32");
}

TEST(KitPattern, SeesWholeValues) {
  EXPECT_EQ(kit::guess_pattern(make(std::vector<double>(40, 0.0))), "all are zero");
  EXPECT_EQ(kit::guess_pattern(make(std::vector<double>(40, 77.0))), "each of them is 77");
  EXPECT_EQ(kit::guess_pattern(make(std::vector<double>(40, std::nan("")))), "each of them is NaN");
  std::vector<double> got = right(40);
  for (double& value : got) value *= 2;
  EXPECT_EQ(kit::guess_pattern(make(got)), "they are 2 times what is expected");
  for (double& value : got) value /= -2;
  EXPECT_EQ(kit::guess_pattern(make(got)), "they have the wrong sign");
}

TEST(KitPattern, SeesReversedOrder) {
  std::vector<double> got = right(40);
  std::reverse(got.begin(), got.end());
  EXPECT_EQ(kit::guess_pattern(make(got)), "they are in reversed order");
}

TEST(KitPattern, SeesTheEdgeOfAMatrix) {
  std::vector<size_t> last_row = every(4 * 8, 1, 5 * 8);
  EXPECT_EQ(kit::guess_pattern(unwritten(40, last_row, {5, 8})), "the last row was never written");
  std::vector<size_t> last_columns;
  for (size_t row = 0; row < 5; ++row) {
    last_columns.push_back(row * 8 + 6);
    last_columns.push_back(row * 8 + 7);
  }
  EXPECT_EQ(kit::guess_pattern(unwritten(40, last_columns, {5, 8})),
            "the last 2 columns were never written");
}

TEST(KitPattern, StaysSilentWhereNothingIsClear) {
  std::vector<double> got = right(40);
  for (const size_t i : {3, 4, 9, 17, 30}) got[i] = static_cast<double>(i * i) + 0.5;
  EXPECT_EQ(kit::guess_pattern(make(got)), "");
  // A forgotten mask: no value is near an infinite one.
  Comparison mask = make({0.5, -0.75, 3.5, 1.25});
  mask.expected.assign(4, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(kit::guess_pattern(mask), "");
}

TEST(KitPattern, SeesAnyFactorAndAnySummand) {
  std::vector<double> got = right(40);
  for (double& value : got) value *= 7;
  EXPECT_EQ(kit::guess_pattern(make(got)), "they are 7 times what is expected");
  got = right(40);
  for (double& value : got) value -= 0.25;
  EXPECT_EQ(kit::guess_pattern(make(got)), "each of them is 0.25 too small");
}

TEST(KitPattern, SeesLostDigits) {
  std::vector<double> got = right(40);
  for (size_t i = 3; i < 40; i += 2) got[i] += 1e-5 * got[i] / static_cast<double>(i);
  const std::string text = kit::guess_pattern(make(got));
  EXPECT_EQ(text.rfind("nearly right, to 6 digits at least: digits get lost", 0), 0u) << text;
  got[5] = 100;
  EXPECT_EQ(kit::guess_pattern(make(got)), "");
}

TEST(KitPattern, SeesValuesInEachOthersPlaces) {
  std::vector<double> got = right(12);
  std::swap(got[1], got[7]);
  std::swap(got[2], got[7]);
  EXPECT_EQ(kit::guess_pattern(make(got)), "the values are right, but in each other's places");
}

TEST(KitPattern, SeesEdgesAndPlanes) {
  const kit::Shape plane = {5, 6};
  std::vector<double> got = right(30);
  for (const size_t i : {0u, 3u, 6u, 11u, 27u}) got[i] = 1000.0 + 17.0 * static_cast<double>(i * i);
  EXPECT_EQ(kit::guess_pattern(make(got, plane)),
            "they lie at the edges, in the first or last row or column; all inside are right");
  kit::Shape planes = {2, 3};
  planes.depth = 5;
  got = right(30);
  for (const size_t i : {13u, 16u, 19u}) got[i] = 1000.0 + 17.0 * static_cast<double>(i * i);
  EXPECT_EQ(kit::guess_pattern(make(got, planes)), "they are all in depth 2 to 3");
}

TEST(KitPattern, SeesWhatMustBeASpecialValue) {
  std::vector<double> got = right(40);
  Comparison c = make(got);
  for (const size_t i : {3u, 14u, 15u, 29u}) {
    c.expected[i] = std::nan("");
    c.wrong[i] = 1;
  }
  EXPECT_EQ(kit::guess_pattern(c), "each of them must be NaN");
}

TEST(KitMistake, IsNamedWhereItExplainsAllAndNowhereElse) {
  std::vector<double> got = right(20);
  std::reverse(got.begin(), got.begin() + 7);
  const std::vector<double> turned = got;
  const kit::Mistake mistake("they are turned round", [&] { return turned; });
  EXPECT_EQ(kit::guess_pattern(make(got)), "they are turned round");
  got[19] = 5;
  EXPECT_NE(kit::guess_pattern(make(got)), "they are turned round");
}

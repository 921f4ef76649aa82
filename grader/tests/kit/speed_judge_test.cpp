// From times to verdicts, without a GPU.
#include <gtest/gtest.h>

#include <cmath>

#include "kit/speed/judge.h"

namespace kit::internal {
namespace {

std::vector<double> around(double middle, double spread, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const double place = n == 1 ? 0 : 2.0 * i / (n - 1) - 1;  // -1 to 1
    values.push_back(middle * (1 + spread * place));
  }
  return values;
}

SpeedRatio ratio(double value, const Bars& bars, double spread = 0.01, int n = 41) {
  SpeedRatio result;
  result.name = "the stage";
  result.estimate = estimate(around(value, spread, n));
  result.bars = bars;
  return result;
}

TEST(Estimate, OfNothingIsNothing) {
  EXPECT_EQ(estimate({}).count, 0u);
  EXPECT_EQ(median({}), 0);
}

TEST(Estimate, MedianIsTheMiddleOrBetweenTheTwoMiddleOnes) {
  EXPECT_DOUBLE_EQ(median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(median({4, 1, 2, 3}), 2.5);
}

// Of 15 values the 98 % interval is the 3rd to the 13th: P(at most 2 of 15 below the median) =
// (1 + 15 + 105) / 2^15 = 0.37 %, with 3 it would be 1.76 %, more than 1 %.
TEST(Estimate, IntervalOfFifteenIsTheThirdToTheThirteenth) {
  std::vector<double> values;
  for (int i = 1; i <= 15; ++i) values.push_back(i);
  const Estimate e = estimate(values);
  EXPECT_DOUBLE_EQ(e.low, 3);
  EXPECT_DOUBLE_EQ(e.high, 13);
  EXPECT_DOUBLE_EQ(e.median, 8);
}

TEST(Estimate, SixValuesAreNoInterval) {
  EXPECT_GE(estimate({1, 1, 1, 1, 1, 1}).half_width(), 1);
  EXPECT_LT(estimate({1, 1, 1, 1, 1, 1, 1}).half_width(), 0.01);
}

TEST(Estimate, OutliersDoNotMoveTheMedian) {
  std::vector<double> values(41, 2.0);
  for (int i = 0; i < 8; ++i) values[i] = 50;
  EXPECT_DOUBLE_EQ(estimate(values).median, 2);
  EXPECT_LT(estimate(values).half_width(), 0.01);
}

TEST(Judge, ReachesTheHighestLevelWhoseBarIsMet) {
  const Bars bars(1.0, 2.0, 3.0);
  EXPECT_EQ(level_of(ratio(0.9, bars)), Level::kNone);
  EXPECT_EQ(level_of(ratio(1.1, bars)), Level::kPass);
  EXPECT_EQ(level_of(ratio(2.1, bars)), Level::kGold);
  EXPECT_EQ(level_of(ratio(3.1, bars)), Level::kReference);
}

TEST(Judge, AMissOfThreePercentIsNoiseAndOfTenIsNot) {
  EXPECT_EQ(judge({ratio(0.98, Bars(1.0))}).verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judge({ratio(0.90, Bars(1.0))}).verdict, SpeedVerdict::kFail);
}

TEST(Judge, OneOfSeveralBarsIsEnough) {
  const std::vector<SpeedRatio> ratios = {ratio(0.2, Bars(0.5)), ratio(3.0, Bars(2.5, 4))};
  const Judgement judgement = judge(ratios);
  EXPECT_EQ(judgement.verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judgement.level, Level::kPass);
  EXPECT_EQ(judgement.by, &ratios[1]);
}

TEST(Judge, NamesTheNearestMissAfterAFailure) {
  const std::vector<SpeedRatio> ratios = {ratio(0.2, Bars(0.5)), ratio(2.0, Bars(2.5, 4))};
  EXPECT_EQ(judge(ratios).verdict, SpeedVerdict::kFail);
  EXPECT_EQ(judge(ratios).by, &ratios[1]);
}

TEST(Judge, JumpingTimesAroundTheBarAreInconclusive) {
  EXPECT_EQ(judge({ratio(1.0, Bars(1.0), 0.4, 15)}).verdict, SpeedVerdict::kInconclusive);
  // The same jumps far from the bar decide.
  EXPECT_EQ(judge({ratio(3.0, Bars(1.0), 0.4, 15)}).verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judge({ratio(0.3, Bars(1.0), 0.4, 15)}).verdict, SpeedVerdict::kFail);
}

TEST(Judge, OnABusyCardOnlyAClearDistanceCounts) {
  EXPECT_EQ(judge({ratio(1.2, Bars(1.0))}, true).verdict, SpeedVerdict::kInconclusive);
  EXPECT_EQ(judge({ratio(0.8, Bars(1.0))}, true).verdict, SpeedVerdict::kInconclusive);
  EXPECT_EQ(judge({ratio(1.8, Bars(1.0))}, true).verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judge({ratio(0.5, Bars(1.0))}, true).verdict, SpeedVerdict::kFail);
}

// In the simulator: from 2 on a pass, below 1 a fail, and between them a GPU is asked for.
TEST(Judge, WhereTheModelIsUnsureItSaysSo) {
  const Bars bars = Bars(3, 4).modelled(2, 1).in_simulator();
  EXPECT_EQ(judge({ratio(2.0, bars)}).verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judge({ratio(5.0, bars)}).level, Level::kPass);  // gold is for a card to say
  EXPECT_EQ(judge({ratio(1.9, bars)}).verdict, SpeedVerdict::kInconclusive);
  EXPECT_EQ(judge({ratio(1.0, bars)}).verdict, SpeedVerdict::kInconclusive);
  EXPECT_EQ(judge({ratio(0.99, bars)}).verdict, SpeedVerdict::kFail);
  // Another bar that is passed decides; on a card there is no doubt.
  EXPECT_EQ(judge({ratio(1.5, bars), ratio(0.6, Bars(0.5))}).verdict, SpeedVerdict::kPass);
  EXPECT_EQ(judge({ratio(2.5, Bars(3, 4).modelled(2, 1))}).verdict, SpeedVerdict::kFail);
}

TEST(Judge, BarsWithoutDoubtAreTheSameInTheSimulator) {
  const Bars bars = Bars(1, 2, 3).in_simulator();
  EXPECT_EQ(bars.pass, 1);
  EXPECT_EQ(bars.reference, 3);
  EXPECT_EQ(Bars(1, 2, 3).gold_on_gpu_only().in_simulator().gold, 0);
  EXPECT_EQ(judge({ratio(0.9, bars)}).verdict, SpeedVerdict::kFail);
}

TEST(Judge, NotANumberReachesNothing) {
  SpeedRatio broken = ratio(1, Bars(1.0));
  broken.estimate.median = std::nan("");
  EXPECT_EQ(level_of(broken), Level::kNone);
}

TEST(Judge, TimesThatJumpLookBusy) {
  EXPECT_FALSE(looks_busy(around(1.0, 0.05, 31)));
  std::vector<double> shared = around(1.0, 0.02, 31);
  for (size_t i = 0; i < 16; ++i) shared[2 * i] *= 2;
  EXPECT_TRUE(looks_busy(shared));
}

TEST(LeastSeconds, IsTheLongerOfMovingAndComputing) {
  const Limits limits{100.0, 10.0};
  EXPECT_DOUBLE_EQ(least_seconds(limits, 200, 5), 2);
  EXPECT_DOUBLE_EQ(least_seconds(limits, 10, 50), 5);
  EXPECT_DOUBLE_EQ(least_seconds(Limits{}, 10, 50), 0);  // nothing is known of the card
}

}  // namespace
}  // namespace kit::internal

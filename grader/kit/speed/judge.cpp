#include "kit/speed/judge.h"

#include <algorithm>
#include <cstdio>

namespace kit::internal {
namespace {

bool reaches(const SpeedRatio& ratio, double bar) {
  return bar > 0 && ratio.estimate.median >= bar * (1 - kGuardBand);
}

// How near to its pass bar a ratio came: 1 at the bar.
double nearness(const SpeedRatio& ratio) {
  return ratio.bars.pass > 0 ? ratio.estimate.median / ratio.bars.pass : 0;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

constexpr double kFarFromBar = 1.5;

// The times jump about so much that the pass bar lies inside the interval.
bool undecided(const SpeedRatio& ratio, bool busy) {
  const double bar = ratio.bars.pass * (1 - kGuardBand);
  if (bar <= 0) return false;
  if (busy) {
    return ratio.estimate.low < bar * kFarFromBar && ratio.estimate.high > bar / kFarFromBar;
  }
  const bool contains = ratio.estimate.low < bar && bar < ratio.estimate.high;
  return contains && (ratio.estimate.spread > kMostSpread || ratio.estimate.half_width() > 0.05);
}

// The model cannot tell on which side of its bar such a ratio is on a card.
bool in_doubt(const SpeedRatio& ratio) {
  return ratio.bars.doubt_from > 0 && ratio.estimate.median >= ratio.bars.doubt_from;
}

}  // namespace

const char* name_of(Level level) {
  switch (level) {
    case Level::kPass:
      return "pass";
    case Level::kGold:
      return "gold";
    case Level::kReference:
      return "reference";
    default:
      return "none";
  }
}

const char* name_of(SpeedVerdict verdict) {
  switch (verdict) {
    case SpeedVerdict::kPass:
      return "pass";
    case SpeedVerdict::kInconclusive:
      return "inconclusive";
    case SpeedVerdict::kImpossible:
      return "impossible";
    default:
      return "fail";
  }
}

Level level_of(const SpeedRatio& ratio) {
  if (reaches(ratio, ratio.bars.reference)) return Level::kReference;
  if (reaches(ratio, ratio.bars.gold)) return Level::kGold;
  return reaches(ratio, ratio.bars.pass) ? Level::kPass : Level::kNone;
}

bool looks_busy(const std::vector<double>& seconds) {
  if (seconds.size() < 7) return false;
  std::vector<double> sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return quantile(sorted, 0.5) > 1.25 * quantile(sorted, 0.1) ||
         quantile(sorted, 0.75) > 1.5 * quantile(sorted, 0.1);
}

Judgement judge(const std::vector<SpeedRatio>& ratios, bool busy) {
  Judgement result;
  for (const SpeedRatio& ratio : ratios) {
    const Level level = level_of(ratio);
    const bool better = result.by == nullptr || level > result.level ||
                        (level == result.level && nearness(ratio) > nearness(*result.by));
    if (!better) continue;
    result.level = level;
    result.by = &ratio;
  }
  if (result.by == nullptr) return result;
  result.verdict = result.level == Level::kNone ? SpeedVerdict::kFail : SpeedVerdict::kPass;
  if (result.level == Level::kNone && in_doubt(*result.by)) {
    result.verdict = SpeedVerdict::kInconclusive;
    return result;
  }
  // A ratio that is clear decides; one that is not may have decided by chance.
  const bool clear_pass = std::any_of(ratios.begin(), ratios.end(), [busy](const SpeedRatio& c) {
    return level_of(c) != Level::kNone && !undecided(c, busy);
  });
  const bool any_undecided = std::any_of(
      ratios.begin(), ratios.end(), [busy](const SpeedRatio& c) { return undecided(c, busy); });
  if (!clear_pass && any_undecided) {
    result.verdict = SpeedVerdict::kInconclusive;
    result.reason =
        "The times jump about (the quartiles of the ratio are " +
        percent(result.by->estimate.spread) +
        " apart), too much for this bar. Is something else using the card? Run it again when "
        "nothing else does.";
  }
  return result;
}

double least_seconds(const Limits& limits, double bytes, double flops) {
  double least = 0;
  if (limits.bytes_per_second > 0) least = std::max(least, bytes / limits.bytes_per_second);
  if (limits.flops_per_second > 0) least = std::max(least, flops / limits.flops_per_second);
  return least;
}

}  // namespace kit::internal

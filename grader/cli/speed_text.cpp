#include "cli/speed_text.h"

#include <cstdio>

namespace grade {
namespace {

std::string format(const char* pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}

// A share of what the card can do, else a speed-up.
bool is_share(const SpeedRatio& ratio) { return ratio.kind == "ceiling" || ratio.kind == "limit"; }

std::string value_text(const SpeedRatio& ratio, double value) {
  return is_share(ratio) ? format("%.0f %%", 100 * value) : format("%.2fx", value);
}

int rank(const std::string& level) {
  if (level == "reference") return 3;
  if (level == "gold") return 2;
  return level == "pass" ? 1 : 0;
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 1e-3) return format("%.4g us", seconds * 1e6);
  return seconds < 1 ? format("%.4g ms", seconds * 1e3) : format("%.4g s", seconds);
}

std::string rate_text(double amount, double seconds, const char* unit) {
  const double rate = seconds > 0 ? amount / seconds : 0;
  if (rate >= 1e12) return format("%.3g T", rate * 1e-12) + unit;
  if (rate >= 1e9) return format("%.4g G", rate * 1e-9) + unit;
  return format("%.4g M", rate * 1e-6) + unit;
}

std::string ratio_text(const SpeedRatio& ratio) {
  if (is_share(ratio)) return value_text(ratio, ratio.ratio) + " of the " + ratio.name;
  return format("%.2f", ratio.ratio) + " times the speed of " + ratio.name;
}

std::string bars_text(const SpeedRatio& ratio) {
  std::string text;
  const auto add = [&](const char* level, double bar) {
    if (bar > 0) text += (text.empty() ? "" : ", ") + (level + (" " + value_text(ratio, bar)));
  };
  add("pass", ratio.pass);
  add("gold", ratio.gold);
  add("reference", ratio.reference);
  return text;
}

const SpeedRatio* best_ratio(const SpeedReport& speed) {
  const SpeedRatio* best = nullptr;
  const auto margin = [](const SpeedRatio& r) { return r.pass > 0 ? r.ratio / r.pass : 0; };
  for (const SpeedRatio& ratio : speed.ratios) {
    const bool better = best == nullptr || rank(ratio.level) > rank(best->level) ||
                        (ratio.level == best->level && margin(ratio) > margin(*best));
    if (better) best = &ratio;
  }
  return best;
}

}  // namespace grade

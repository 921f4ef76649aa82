#include "kit/speed/measurement.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "kit/context.h"
#include "kit/speed/device.h"

namespace kit::internal {
namespace {

constexpr size_t kPositions = 512;  // that a check looks at

// Both ends and random positions in between; all of a short array.
std::vector<size_t> positions_of(size_t n, uint64_t salt) {
  std::set<size_t> chosen;
  if (n <= kPositions) {
    for (size_t i = 0; i < n; ++i) chosen.insert(i);
  } else {
    for (size_t i = 0; i < 8; ++i) {
      chosen.insert(i);
      chosen.insert(n - 1 - i);
    }
    for (uint64_t draw = 0; chosen.size() < kPositions; ++draw) {
      chosen.insert(mix64(salt + draw * 0x9E3779B97F4A7C15u) % n);
    }
  }
  return {chosen.begin(), chosen.end()};
}

bool is_poison(Element element, double value) {
  if (element == Element::kFloat || element == Element::kDouble || element == Element::kBfloat16) {
    return std::isnan(value);
  }
  if (element == Element::kInt32) return value == -1;
  return value == (element == Element::kUint8 ? 255.0 : 4294967295.0);
}

// Not written as err > allowed: a NaN must fail.
bool is_close(double got, const Expected& expected, const Tolerance& tolerance) {
  if (got == expected.value) return true;
  const double allowed = tolerance.absolute_error +
                         tolerance.relative_error * std::fabs(expected.value) +
                         tolerance.unit_count * 0x1p-24 * std::fabs(expected.scale);
  return std::fabs(got - expected.value) <= allowed;
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

std::string check_expectation(const Expectation& expectation, uint64_t salt) {
  const SpeedArray& array = *expectation.array;
  const std::vector<size_t> positions = positions_of(array.size(), salt);
  const std::vector<double> got = array.read(positions);
  for (size_t k = 0; k < positions.size(); ++k) {
    const Expected expected = expectation.expected(positions[k]);
    if (is_close(got[k], expected, expectation.tolerance)) continue;
    const std::string where = array.name() + "[" + std::to_string(positions[k]) + "]";
    if (is_poison(array.element(), got[k])) {
      return "Of a timed call, " + where + " was never written (expected " +
             number(expected.value) + ").";
    }
    return "Of a timed call, " + where + " is " + number(got[k]) + ", expected " +
           number(expected.value) + ".";
  }
  return "";
}

std::string time_text(double seconds) {
  char text[48];
  const char* unit = seconds < 1e-3 ? "us" : "ms";
  std::snprintf(text, sizeof text, "%.4g %s", seconds * (seconds < 1e-3 ? 1e6 : 1e3), unit);
  return text;
}

std::string ratio_text(const SpeedRatio& ratio, double value) {
  char text[64];
  if (ratio.is_share) {
    std::snprintf(text, sizeof text, "%.0f %% of the %s", 100 * value, ratio.name.c_str());
  } else {
    std::snprintf(text, sizeof text, "%.2f times the speed of %s", value, ratio.name.c_str());
  }
  return text;
}

bool is_rate(const Baseline& baseline) {
  return baseline.kind == Baseline::Kind::kCopyRate || baseline.kind == Baseline::Kind::kReadRate ||
         baseline.kind == Baseline::Kind::kFmaRate;
}

const char* kind_name(const Baseline& baseline) {
  if (is_rate(baseline)) return "ceiling";
  if (baseline.kind == Baseline::Kind::kLimit) return "limit";
  return baseline.kind == Baseline::Kind::kStage ? "stage" : "library";
}

std::string too_slow(const std::vector<SpeedRatio>& ratios, const std::string& device) {
  std::string text = "Right, but too slow on " + device + ": ";
  for (size_t i = 0; i < ratios.size(); ++i) {
    if (i > 0) text += "; ";
    text += ratio_text(ratios[i], ratios[i].estimate.median);
    if (ratios[i].bars.pass > 0) text += " (a pass needs " + number(ratios[i].bars.pass) + ")";
  }
  return text + (ratios.size() > 1 ? ". One of them is enough." : ".");
}

// Why the model does not decide, and what would.
std::string in_doubt_text(const SpeedRatio& ratio, const std::string& device) {
  return "It is " + ratio_text(ratio, ratio.estimate.median) + ", " + device + ". From " +
         number(ratio.bars.pass) + " on it would pass, below " + number(ratio.bars.doubt_from) +
         " it would fail; for what lies between, the model of such kernels is not exact enough. "
         "A GPU decides: ./grade run --device gpu. Without one, try what brings it to " +
         number(ratio.bars.pass) + ".";
}

std::string ratio_json(const SpeedRatio& ratio, const Bar& bar, const Contender& other) {
  return JsonObject()
      .text("kind", kind_name(bar.baseline))
      .text("name", ratio.name)
      .number("ratio", ratio.estimate.median)
      .number("low", ratio.estimate.low)
      .number("high", ratio.estimate.high)
      .number("pass", ratio.bars.pass)
      .number("pass_on_card", bar.bars.pass)
      .number("gold", ratio.bars.gold)
      .number("reference", ratio.bars.reference)
      .number("seconds", median(other.seconds))
      .number("amount", other.amount)
      .text("level", name_of(level_of(ratio)))
      .str();
}

}  // namespace

size_t Measurement::bytes_per_set() const {
  size_t sum = 0;
  for (const auto& array : arrays) sum += array->bytes();
  return sum;
}

std::string Measurement::allocate(size_t sets) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays[i]->allocate(sets, mix64(seed() + i + 1))) {
      return "There is not enough device memory for " + std::to_string(sets) + " times " +
             std::to_string(bytes_per_set() >> 20) + " MiB.";
    }
  }
  return "";
}

void Measurement::prepare(size_t set, uint64_t key) const {
  for (const auto& array : arrays) array->prepare(set, key);
}

std::string Measurement::check_results(uint64_t salt) const {
  for (const Expectation& expectation : expectations) {
    const std::string problem = check_expectation(expectation, salt);
    if (!problem.empty()) return problem;
  }
  for (const auto& array : arrays) {
    const std::string problem = array->check();
    if (!problem.empty()) return problem;
  }
  return "";
}

std::vector<const Bar*> Measurement::counted_bars() const {
  std::vector<const Bar*> counted;
  for (const Bar& bar : bars) {
    const bool elsewhere = simulated() && bar.baseline.gpu_only;
    if (!elsewhere && bar.baseline.missing.empty()) counted.push_back(&bar);
  }
  return counted;
}

std::string Measurement::left_out() const {
  std::string text;
  for (const Bar& bar : bars) {
    if (bar.baseline.missing.empty()) continue;
    text += (text.empty() ? "" : "; ") + bar.baseline.name + " (" + bar.baseline.missing + ")";
  }
  return text;
}

double Measurement::amount_for(const Baseline& baseline) const {
  if (!is_rate(baseline)) return 1;
  return baseline.kind == Baseline::Kind::kFmaRate ? flops : bytes;
}

bool Measurement::grade() {
  if (case_failed()) return false;
  send_properties();
  return report(measure(*this));
}

SpeedRatio Measurement::ratio_to(const Bar& bar, const std::vector<double>& yours,
                                 const Contender& other) const {
  const double amount = amount_for(bar.baseline) / other.amount;
  std::vector<double> paired;
  for (size_t i = 0; i < std::min(yours.size(), other.seconds.size()); ++i) {
    paired.push_back(amount * other.seconds[i] / yours[i]);
  }
  SpeedRatio ratio;
  ratio.name = bar.baseline.name;
  ratio.is_share = is_rate(bar.baseline) || bar.baseline.kind == Baseline::Kind::kLimit;
  ratio.bars = bar.bars;
  if (simulated()) ratio.bars = ratio.bars.in_simulator();
  ratio.estimate = estimate(paired);
  if (simulated()) ratio.estimate.low = ratio.estimate.high = ratio.estimate.median;
  return ratio;
}

Judgement Measurement::judgement_of(const Timings& timings, const std::vector<SpeedRatio>& ratios,
                                    const std::vector<double>& yours) const {
  Judgement judgement = judge(ratios, !simulated() && looks_busy(yours));
  if (!timings.inconclusive.empty()) {
    judgement.verdict = SpeedVerdict::kInconclusive;
    judgement.reason = timings.inconclusive;
  } else if (simulated() && judgement.verdict == SpeedVerdict::kInconclusive) {
    judgement.reason = in_doubt_text(*judgement.by, timings.device);
  } else if (timings.impossible) {
    judgement.verdict = SpeedVerdict::kImpossible;
    judgement.level = Level::kNone;
    judgement.reason = "Impossible: a call takes " + time_text(median(yours)) + " on " +
                       timings.device + ", but by its data sheet the card needs " +
                       time_text(timings.least_seconds) +
                       " for this work. Part of the work is left out or done at another time.";
  }
  return judgement;
}

bool Measurement::report(const Timings& timings) {
  Context& now = context();
  if (!timings.problem.empty()) return fail(timings.problem, site);
  if (case_failed()) return false;
  const std::vector<const Bar*> counted = counted_bars();
  std::vector<SpeedRatio> ratios;
  std::vector<std::string> fields;
  const std::vector<double> yours =
      timings.contenders.empty() ? std::vector<double>() : timings.contenders[0].seconds;
  for (size_t k = 0; k < counted.size() && timings.inconclusive.empty(); ++k) {
    const Contender& other = timings.contenders[k + 1];
    ratios.push_back(ratio_to(*counted[k], yours, other));
    fields.push_back(ratio_json(ratios.back(), *counted[k], other));
  }
  if (ratios.empty() && timings.inconclusive.empty()) return true;  // nothing is judged here
  const Judgement judgement = judgement_of(timings, ratios, yours);
  now.channel.send("speed", JsonObject()
                                .text("test", now.test)
                                .text("case", case_name())
                                .text("device", timings.device)
                                .boolean("modelled", simulated())
                                .number("seconds", median(yours))
                                .number("bytes", bytes)
                                .number("flops", flops)
                                .number("slice", simulated() ? slice : 1)
                                .integer("rounds", yours.size())
                                .text("verdict", name_of(judgement.verdict))
                                .text("level", name_of(judgement.level))
                                .text("reason", judgement.reason)
                                .text("left_out", left_out())
                                .raw("ratios", json_array(fields)));
  if (judgement.verdict == SpeedVerdict::kFail) return fail(too_slow(ratios, timings.device), site);
  if (judgement.verdict == SpeedVerdict::kImpossible) return fail(judgement.reason, site);
  return judgement.verdict == SpeedVerdict::kPass;
}

}  // namespace kit::internal

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "kit/context.h"
#include "kit/kit.h"
#include "kit/pattern.h"

namespace kit {

double Tolerance::allowed(size_t i, double expected) const {
  const double size = std::fabs(expected);
  const double rounding = i < scale.size() ? scale[i] : size;
  return absolute_error + relative_error * size + unit_count * 0x1p-24 * rounding;
}

namespace internal {
namespace {

constexpr size_t kPositionsShown = 5;

std::string number(double value, bool integral, int digits = 6) {
  if (std::isnan(value)) return "NaN";
  char text[40];
  if (integral) {
    std::snprintf(text, sizeof text, "%.0f", value);
  } else {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
  }
  return text;
}

// "[7]", "[row 2, col 3]" or "[depth 1, row 2, col 3]".
std::string position(const Shape& shape, size_t i) {
  const size_t rows = static_cast<size_t>(shape.rows), cols = static_cast<size_t>(shape.cols);
  if (shape.size() == 0) return "[" + std::to_string(i) + "]";
  std::string text = "row " + std::to_string(i / cols % rows) + ", col " + std::to_string(i % cols);
  if (shape.depth > 1) text = "depth " + std::to_string(i / cols / rows) + ", " + text;
  return "[" + text + "]";
}

// Enough digits that two different values never look alike.
void values(const Comparison& c, size_t i, std::string* got, std::string* expected) {
  for (const int digits : {6, 9, 17}) {
    *got = number(c.got[i], c.integral, digits);
    *expected = number(c.expected[i], c.integral, digits);
    if (*got != *expected) return;
  }
}

std::string describe_one(const Comparison& c, size_t i) {
  std::string got, expected;
  values(c, i, &got, &expected);
  const std::string element = c.name + position(c.shape, i);
  if (never_written(c, i)) return element + " was never written (expected " + expected + ").";
  return element + " is " + got + ", expected " + expected + ".";
}

std::string describe_many(const Comparison& c, const std::vector<size_t>& wrong) {
  const bool unwritten =
      std::all_of(wrong.begin(), wrong.end(), [&](size_t i) { return never_written(c, i); });
  if (unwritten && wrong.size() == c.got.size())
    return "No element of " + c.name + " was ever written.";
  const std::string pattern = guess_pattern(c);
  const bool says_it = pattern.find("never written") != std::string::npos;
  const char* fault = unwritten && !says_it ? " were never written" : " are wrong";
  std::string text = std::to_string(wrong.size()) + " of " + std::to_string(c.got.size()) +
                     " elements of " + c.name;
  if (wrong.size() == c.got.size()) {
    text = "All " + std::to_string(wrong.size()) + " elements of " + c.name;
  }
  text += fault;
  context().explained = !pattern.empty();
  text += (pattern.empty() ? "" : ": " + pattern) + ".";
  for (size_t k = 0; k < wrong.size() && k < kPositionsShown; ++k) {
    text += "\n  " + describe_one(c, wrong[k]);
  }
  if (wrong.size() > kPositionsShown) {
    text += "\n  and " + std::to_string(wrong.size() - kPositionsShown) + " more";
  }
  return text;
}

}  // namespace

bool report(const Comparison& c, Site site) {
  std::vector<size_t> wrong;
  for (size_t i = 0; i < c.wrong.size(); ++i) {
    if (c.wrong[i]) wrong.push_back(i);
  }
  std::string text;
  context().compared = true;
  if (wrong.size() == 1) {
    text = describe_one(c, wrong[0]);
    const bool is_last = wrong[0] > 0 && wrong[0] + 1 == c.got.size();
    if (is_last) text += " All elements before it are right.";
    std::string pattern = guess_pattern(c);
    context().explained = is_last || !pattern.empty();
    if (!pattern.empty()) {
      pattern[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(pattern[0])));
      text += " " + pattern + ".";
    }
  } else {
    text = describe_many(c, wrong);
  }
  if (!c.tolerance.empty()) text += "\n" + c.tolerance;
  return fail_results(text, site);
}

bool report_sizes(const std::string& name, size_t got, size_t expected, Site site) {
  return fail(name + " has " + std::to_string(got) + " elements, expected " +
                  std::to_string(expected) + ".",
              site);
}

bool close(float got, double expected, size_t i, const Tolerance& tolerance) {
  const double value = got;
  if (!std::isfinite(value) || !std::isfinite(expected)) return value == expected;  // NaN: never
  return std::fabs(value - expected) <= tolerance.allowed(i, expected);
}

namespace {

// How far off the worst written element is, for the message.
std::string worst_error(const Comparison& c, const Tolerance& tolerance) {
  size_t worst = c.got.size();
  double worst_ratio = 0;
  for (size_t i = 0; i < c.got.size(); ++i) {
    if (!c.wrong[i] || never_written(c, i) || !std::isfinite(c.got[i])) continue;
    const double error = std::fabs(c.got[i] - c.expected[i]);
    const double excess = error / (tolerance.allowed(i, c.expected[i]) + 1e-300);
    if (worst == c.got.size() || excess > worst_ratio) {
      worst = i;
      worst_ratio = excess;
    }
  }
  if (worst == c.got.size() || worst_ratio > 1e5) return "";  // not a matter of rounding
  return "The error of " + c.name + position(c.shape, worst) + " is " +
         number(std::fabs(c.got[worst] - c.expected[worst]), false, 3) + "; " +
         number(tolerance.allowed(worst, c.expected[worst]), false, 3) + " is allowed.";
}

}  // namespace

bool compare_near(const std::string& name, const std::vector<float>& got,
                  const std::vector<uint8_t>& written, const std::vector<double>& expected,
                  const Tolerance& tolerance, Shape shape, Site site) {
  if (case_failed()) return false;
  if (got.size() != expected.size()) return report_sizes(name, got.size(), expected.size(), site);
  Comparison c;
  c.name = name;
  c.shape = shape;
  c.written = written;
  bool all_close = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool right = close(got[i], expected[i], i, tolerance) && (written.empty() || written[i]);
    all_close = all_close && right;
    c.got.push_back(got[i]);
    c.expected.push_back(expected[i]);
    c.wrong.push_back(!right);
    c.poisoned.push_back(is_poison(got[i]));
  }
  if (all_close) return true;
  c.tolerance = worst_error(c, tolerance);
  return report(c, site);
}

}  // namespace internal

bool expect_near(const DeviceBuffer<float>& got, const std::vector<double>& expected,
                 const Tolerance& tolerance, Shape shape, Site site) {
  if (internal::case_failed()) return false;
  std::vector<uint8_t> written;
  const std::vector<float> values = got.download(&written);
  return internal::compare_near(got.name(), values, written, expected, tolerance, shape, site);
}

bool expect_near(const std::string& what, const std::vector<float>& got,
                 const std::vector<double>& expected, const Tolerance& tolerance, Shape shape,
                 Site site) {
  return internal::compare_near(what, got, {}, expected, tolerance, shape, site);
}

bool expect_norm_near(const std::string& what, const std::vector<float>& got,
                      const std::vector<double>& expected, double limit, Site site) {
  if (internal::case_failed()) return false;
  if (got.size() != expected.size()) {
    return internal::report_sizes(what, got.size(), expected.size(), site);
  }
  double error = 0, size = 0;
  size_t not_numbers = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i])) ++not_numbers;
    error += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  const double relative = std::sqrt(error) / std::sqrt(size == 0 ? 1 : size);
  if (relative <= limit) return true;  // a NaN is not
  char text[160];
  if (not_numbers > 0) {
    std::snprintf(text, sizeof text,
                  ": %zu of %zu values are NaN. Outputs hold NaN until something is written there.",
                  not_numbers, got.size());
    return fail_results(what + text, site);
  }
  std::snprintf(text, sizeof text,
                " as a whole is %.3g away from the reference (relative L2 norm); %.3g is allowed.",
                relative, limit);
  return fail_results(what + text, site);
}

}  // namespace kit

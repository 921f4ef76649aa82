// Values that comparisons get wrong: `>=` for `>`, fmaxf for a choice, a product with infinity.
#ifndef WARPLINGS_KIT_SPECIAL_VALUES_H_
#define WARPLINGS_KIT_SPECIAL_VALUES_H_

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kit/kit.h"

namespace kit {

// n values in random order: `tie` itself and its two neighbours, both infinities, both zeros, the
// largest and the smallest numbers of both signs, and some that are smaller: denormals.
inline std::vector<float> special_floats(size_t n, float tie = 0) {
  using Limits = std::numeric_limits<float>;
  const float all[] = {tie,
                       std::nextafter(tie, Limits::infinity()),
                       std::nextafter(tie, -Limits::infinity()),
                       Limits::infinity(),
                       -Limits::infinity(),
                       0.0f,
                       -0.0f,
                       Limits::max(),
                       Limits::lowest(),
                       Limits::min(),
                       -Limits::min(),
                       Limits::denorm_min(),
                       -1e-40f,
                       1.5f};
  std::vector<float> values;
  for (const int i : random_ints(n, 0, static_cast<int>(std::size(all)) - 1)) {
    values.push_back(all[i]);
  }
  return values;
}

// The same, and every seventh is NaN, with either sign bit. Where a NaN may not reach the result:
// comparisons of the kit let none pass.
inline std::vector<float> special_floats_and_nans(size_t n, float tie = 0) {
  std::vector<float> values = special_floats(n, tie);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t i = 3; i < n; i += 7) values[i] = i % 2 == 0 ? nan : -nan;
  return values;
}

// Fails unless `got` is NaN where `expected` is, and nowhere else: NaN does not compare. `reason`
// says how a NaN comes about.
template <class Number>
bool expect_nans(const char* name, const std::vector<float>& got,
                 const std::vector<Number>& expected,
                 const char* reason =
                     "Zero times infinity is NaN (not a number), also where a "
                     "factor of 0 makes the product look superfluous.",
                 Site site = Site::here()) {
  if (internal::case_failed()) return false;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(got[i]) == std::isnan(expected[i])) continue;
    return fail(std::string(name) + "[" + std::to_string(i) + "] is " + std::to_string(got[i]) +
                    ", expected " + std::to_string(static_cast<double>(expected[i])) + ". " +
                    reason,
                site);
  }
  return true;
}

// The same, and all that is no NaN is exactly as expected.
inline bool expect_equal_or_nan(const char* name, std::vector<float> got,
                                std::vector<float> expected, const char* reason,
                                Site site = Site::here()) {
  if (!expect_nans(name, got, expected, reason, site)) return false;
  const auto is_nan = [](float value) { return std::isnan(value); };
  std::replace_if(got.begin(), got.end(), is_nan, 0.0f);
  std::replace_if(expected.begin(), expected.end(), is_nan, 0.0f);
  return expect_equal(name, got, expected, {}, site);
}

// ---- sums --------------------------------------------------------------------------------------

// Whatever the order of the additions: a sum with one infinity is that infinity, one with both or
// with a NaN is NaN, and what is not part of it does not count. A compensation, a prefix that is a
// difference, a product with 0 and a comparison that skips what it does not know all break that.
inline const char* const kSpecialSums =
    "A sum with an infinite element is that infinity; with infinities of both signs, or with a "
    "NaN, it is NaN. An element counts in the sums that it is part of, and in no others: nothing "
    "may be taken from itself again, multiplied by 0 or left out.";

// An array with special elements, and what it is called in messages.
struct SpecialArray {
  std::string name;
  std::vector<float> values;
};
inline std::ostream& operator<<(std::ostream& out, const SpecialArray& array) {
  return out << "floats with " << array.name;
}

// Puts special values at these places of a copy of `values`.
inline SpecialArray with_specials(std::vector<float> values,
                                  const std::vector<std::pair<size_t, float>>& specials) {
  std::string name;
  for (const auto& [at, value] : specials) {
    values[at] = value;
    const char* const words = std::isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity";
    name += (name.empty() ? "" : " and ") + std::string(words) + " at " + std::to_string(at);
  }
  return {name, values};
}

// `values`, of which there are several, with what sums have to hand on: infinities at both ends and
// between them, infinities of both signs, and a NaN.
inline std::vector<SpecialArray> special_summands(const std::vector<float>& values) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const size_t n = values.size(), last = n - 1;
  return {with_specials(values, {{0, -infinity}}),
          with_specials(values, {{std::min<size_t>(100, last / 2), infinity}}),
          with_specials(values, {{n / 2, infinity}}),
          with_specials(values, {{last, infinity}}),
          with_specials(values, {{n / 3, infinity}, {last, -infinity}}),
          with_specials(values, {{n / 2, nan}})};
}

// One case for each of these arrays of n random floats.
inline void for_each_special_sum(size_t n,
                                 const std::function<void(const std::vector<float>&)>& body) {
  for_each("x", special_summands(random_floats(n)),
           [&](const SpecialArray& array) { body(array.values); });
}

// expect_near, and NaN exactly where NaN is expected. `reason` is what decides it.
inline bool expect_near_or_nan(const DeviceBuffer<float>& got, std::vector<double> expected,
                               Tolerance tolerance, Shape shape = {},
                               const char* reason = kSpecialSums, Site site = Site::here()) {
  if (internal::case_failed()) return false;
  std::vector<uint8_t> written;
  std::vector<float> values = got.download(&written);
  bool all_written = true, special = false;
  for (size_t i = 0; i < values.size() && i < expected.size(); ++i) {
    special = special || !std::isfinite(expected[i]);
    all_written = all_written && (written.empty() ? !internal::is_poison(values[i]) : written[i]);
  }
  const bool asks = special && all_written;  // others are better described by positions
  if (asks && !expect_nans(got.name().c_str(), values, expected, reason, site)) return false;
  for (size_t i = 0; i < values.size() && i < expected.size(); ++i) {
    if (!std::isnan(expected[i])) continue;
    expected[i] = values[i] = 0;
    if (i < tolerance.scale.size()) tolerance.scale[i] = 0;
  }
  return internal::compare_near(got.name(), values, written, expected, tolerance, shape, site);
}

}  // namespace kit

#endif  // WARPLINGS_KIT_SPECIAL_VALUES_H_

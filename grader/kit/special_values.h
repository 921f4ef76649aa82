// Values that comparisons get wrong: `>=` for `>`, fmaxf for a choice, a product with infinity.
#ifndef WARPLINGS_KIT_SPECIAL_VALUES_H_
#define WARPLINGS_KIT_SPECIAL_VALUES_H_

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
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

}  // namespace kit

#endif  // WARPLINGS_KIT_SPECIAL_VALUES_H_

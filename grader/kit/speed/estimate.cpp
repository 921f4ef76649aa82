#include "kit/speed/estimate.h"

#include <algorithm>
#include <cmath>

namespace kit::internal {
namespace {

// The largest k for which at most 1 % of all samples of n have k or fewer values below the median.
// -1: n is too small for any.
long lower_rank(size_t n) {
  double term = std::exp2(-static_cast<double>(n)), sum = 0;  // n choose 0 over 2^n
  long rank = -1;
  for (size_t k = 0; k < n / 2; ++k) {
    sum += term;
    if (sum > 0.01) break;
    rank = static_cast<long>(k);
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
  }
  return rank;
}

}  // namespace

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

Estimate estimate(std::vector<double> values) {
  Estimate result;
  result.count = values.size();
  if (values.empty()) return result;
  std::sort(values.begin(), values.end());
  result.median = quantile(values, 0.5);
  result.spread = (quantile(values, 0.75) - quantile(values, 0.25)) / result.median;
  const long rank = std::max(lower_rank(values.size()), 0L);
  result.low = values[static_cast<size_t>(rank)];
  result.high = values[values.size() - 1 - static_cast<size_t>(rank)];
  if (values.size() < 7) {  // 2^-6 > 1 %: not even the extremes are an interval of 98 %
    result.low = 0;
    result.high = 2 * result.median;
  }
  return result;
}

}  // namespace kit::internal

// Medians of paired ratios, and how sure they are.
#ifndef WARPLINGS_KIT_SPEED_ESTIMATE_H_
#define WARPLINGS_KIT_SPEED_ESTIMATE_H_

#include <cstddef>
#include <vector>

namespace kit::internal {

double median(std::vector<double> values);  // 0 of none
// Linear between the neighbours; `sorted` must not be empty.
double quantile(const std::vector<double>& sorted, double q);

// A median with an interval that holds the true one with 98 % probability, whatever the
// distribution: order statistics of a binomial (Conover, Practical Nonparametric Statistics, 3.2).
struct Estimate {
  double median = 0, low = 0, high = 0;
  double spread = 0;  // distance of the quartiles over the median
  size_t count = 0;
  // Half of the interval, relative to the median; large while there are too few values for one.
  double half_width() const { return median > 0 ? 0.5 * (high - low) / median : 1; }
};
Estimate estimate(std::vector<double> values);

}  // namespace kit::internal

#endif  // WARPLINGS_KIT_SPEED_ESTIMATE_H_

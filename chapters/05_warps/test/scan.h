// What the tests of scans share.
#ifndef CHAPTERS_05_WARPS_TEST_SCAN_H_
#define CHAPTERS_05_WARPS_TEST_SCAN_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "kit/kit.h"

namespace kit {

// References in double: the scan of each row. A scale is the sum of |x| so far, which rounding
// errors are proportional to.
struct Scan {
  std::vector<double> inclusive, exclusive, scale, exclusive_scale;
};

inline Scan scan_on_cpu(const std::vector<float>& x, Shape shape) {
  Scan scan;
  double sum = 0, scale = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % shape.cols == 0) sum = scale = 0;
    scan.exclusive.push_back(sum);
    scan.inclusive.push_back(sum += x[i]);
    scan.exclusive_scale.push_back(scale);
    scan.scale.push_back(scale += std::fabs(x[i]));
  }
  return scan;
}

// Of the whole array, which may be empty.
inline Scan scan_on_cpu(const std::vector<float>& x) {
  return scan_on_cpu(x, Shape(1, std::max(1, static_cast<int>(x.size()))));
}

}  // namespace kit

#endif  // CHAPTERS_05_WARPS_TEST_SCAN_H_

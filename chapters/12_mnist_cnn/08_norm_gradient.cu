// 12/08 Batch norm's gradient by hand: derived and checked on the CPU, before a kernel has it.
//   mean = sum of x / count     variance = sum of (x - mean)^2 / count
//   xhat = (x - mean) inv_std   inv_std = 1 / sqrt(variance + epsilon)   y = gamma xhat + beta
//   Every x moves three things: its own xhat, the mean and the variance. Through the last two it
//   moves every y of the channel.
//   TODOs  4
#include "08_norm_gradient.h"

#include <algorithm>
#include <cmath>

NormForward norm_forward(const Values& x, double gamma, double beta) {
  NormForward forward = {};
  const double count = static_cast<double>(x.size());
  for (const double value : x) forward.mean += value / count;
  for (const double value : x) {
    forward.variance += (value - forward.mean) * (value - forward.mean) / count;
  }
  forward.inv_std = 1 / std::sqrt(forward.variance + kNormEpsilon);
  for (const double value : x) {
    forward.xhat.push_back((value - forward.mean) * forward.inv_std);
    forward.y.push_back(gamma * forward.xhat.back() + beta);
  }
  return forward;
}

double measured_derivative(const Function& f, const Values& x, size_t i) {
  // TODO(1): The result has at least seven right digits, for x[i] = 0 and for x[i] = 1,000,000.
  static_cast<void>(i);
  return f(x);
}

NormBackward norm_backward(const Values& x, double gamma, const NormForward& forward,
                           const Values& dy) {
  NormBackward back;
  // TODO(2): All members of NormBackward, from y back to x. Each is the sum over everything that
  // the quantity moves directly: how fast it moves that, times the derivative by that.
  static_cast<void>(gamma), static_cast<void>(forward);
  back.dxhat = back.dx = Values(std::min(x.size(), dy.size()));
  return back;
}

double gradient_error(const Values& x, double gamma, double beta, const Values& dy,
                      const Values& dx) {
  // TODO(3): The loss as a function of x alone, measured at every x[i]. One wrong dx[i] shows,
  // whichever way it is wrong, and a NaN among the dx[i] gives an error that is NaN.
  return (x.size() + dy.size() + dx.size()) * gamma * beta;
}

double norm_backward_of_one(double dy, double xhat, double gamma, double inv_std,
                            const NormSums& sums) {
  // TODO(4): What norm_backward leaves in dx for this value. Put your formulas of dvariance and
  // dmean into that of dx, and see what is left of the sums.
  return dy * xhat * gamma * inv_std * sums.count;
}

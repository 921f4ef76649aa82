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
  //~ // TODO(1): The result has at least seven right digits, for x[i] = 0 and for x[i] = 1,000,000.
  //~ static_cast<void>(i);
  //~ return f(x);
  //~begin 1
  Values moved = x;
  const double step = 1e-5 * std::max(1.0, std::fabs(x[i]));
  moved[i] = x[i] + step;
  const double above = f(moved);
  moved[i] = x[i] - step;
  return (above - f(moved)) / (2 * step);
  //~end
}

NormBackward norm_backward(const Values& x, double gamma, const NormForward& forward,
                           const Values& dy) {
  NormBackward back;
  //~ // TODO(2): All members of NormBackward, from y back to x. Each is the sum over everything that
  //~ // the quantity moves directly: how fast it moves that, times the derivative by that.
  //~ static_cast<void>(gamma), static_cast<void>(forward);
  //~ back.dxhat = back.dx = Values(std::min(x.size(), dy.size()));
  //~begin 2
  const double count = static_cast<double>(x.size()), inv_std = forward.inv_std;
  for (size_t i = 0; i < x.size(); ++i) {
    back.dbeta += dy[i];
    back.dgamma += dy[i] * forward.xhat[i];
    back.dxhat.push_back(gamma * dy[i]);
    // xhat = (x - mean) (variance + epsilon)^(-1/2)
    const double by_variance = -0.5 * (x[i] - forward.mean) * inv_std * inv_std * inv_std;
    back.dvariance += by_variance * back.dxhat[i];
    back.dmean -= inv_std * back.dxhat[i];
  }
  // The mean moves the variance by -2 / count times the sum of (x - mean), and that sum is 0.
  for (size_t i = 0; i < x.size(); ++i) {
    const double by_variance = 2 * (x[i] - forward.mean) / count;
    back.dx.push_back(inv_std * back.dxhat[i] + by_variance * back.dvariance + back.dmean / count);
  }
  //~end
  return back;
}

double gradient_error(const Values& x, double gamma, double beta, const Values& dy,
                      const Values& dx) {
  //~ // TODO(3): The loss as a function of x alone, measured at every x[i]. One wrong dx[i] shows,
  //~ // whichever way it is wrong, and a NaN among the dx[i] gives an error that is NaN.
  //~ return (x.size() + dy.size() + dx.size()) * gamma * beta;
  //~begin 3
  const auto loss = [&](const Values& at) {
    const NormForward forward = norm_forward(at, gamma, beta);
    double sum = 0;
    for (size_t i = 0; i < at.size(); ++i) sum += dy[i] * forward.y[i];
    return sum;
  };
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = std::fabs(dx[i] - measured_derivative(loss, x, i));
    if (!(error <= worst)) worst = error;  // also if it is no number
    if (std::isnan(worst)) break;
  }
  return worst;
  //~end
}

double norm_backward_of_one(double dy, double xhat, double gamma, double inv_std,
                            const NormSums& sums) {
  //~ // TODO(4): What norm_backward leaves in dx for this value. Put your formulas of dvariance and
  //~ // dmean into that of dx, and see what is left of the sums.
  //~ return dy * xhat * gamma * inv_std * sums.count;
  //~begin 4
  return gamma * inv_std * (dy - (sums.dy + xhat * sums.dy_xhat) / sums.count);
  //~end
}

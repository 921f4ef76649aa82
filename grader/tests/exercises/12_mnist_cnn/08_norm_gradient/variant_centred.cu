// Another right answer: values are centred first, and the derivative by x is that by the centred
// values without its mean. The measured derivative takes the places it really stepped to.
#include "08_norm_gradient.h"

#include <cmath>
#include <numeric>

namespace {

double mean_of(const Values& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

double loss_of(const Values& at, const Values& dy, double gamma, double beta) {
  const Values y = norm_forward(at, gamma, beta).y;
  return std::inner_product(y.begin(), y.end(), dy.begin(), 0.0);
}

}  // namespace

NormForward norm_forward(const Values& x, double gamma, double beta) {
  NormForward forward = {};
  forward.mean = mean_of(x);
  Values squares;
  for (const double value : x) squares.push_back(std::pow(value - forward.mean, 2));
  forward.variance = mean_of(squares);
  forward.inv_std = 1 / std::sqrt(forward.variance + kNormEpsilon);
  for (const double value : x) {
    forward.xhat.push_back((value - forward.mean) * forward.inv_std);
    forward.y.push_back(gamma * forward.xhat.back() + beta);
  }
  return forward;
}

double measured_derivative(const Function& f, const Values& x, size_t i) {
  const double step = 6e-6 * (1 + std::fabs(x[i]));
  Values left = x, right = x;
  left[i] -= step;
  right[i] += step;
  return (f(right) - f(left)) / (right[i] - left[i]);
}

NormBackward norm_backward(const Values& x, double gamma, const NormForward& forward,
                           const Values& dy) {
  NormBackward back;
  const double count = static_cast<double>(x.size());
  back.dbeta = std::accumulate(dy.begin(), dy.end(), 0.0);
  back.dgamma = std::inner_product(dy.begin(), dy.end(), forward.xhat.begin(), 0.0);
  for (const double value : dy) back.dxhat.push_back(gamma * value);
  back.dmean = -forward.inv_std * gamma * back.dbeta;
  back.dvariance = -0.5 * gamma * back.dgamma / (forward.variance + kNormEpsilon);
  Values centred;
  for (size_t i = 0; i < x.size(); ++i) {
    centred.push_back(back.dxhat[i] * forward.inv_std +
                      2 / count * back.dvariance * (x[i] - forward.mean));
  }
  const double mean = mean_of(centred);
  for (const double value : centred) back.dx.push_back(value - mean);
  return back;
}

double gradient_error(const Values& x, double gamma, double beta, const Values& dy,
                      const Values& dx) {
  double worst = 0;
  const auto loss = [&](const Values& at) { return loss_of(at, dy, gamma, beta); };
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = std::fabs(measured_derivative(loss, x, i) - dx[i]);
    if (std::isnan(error)) return error;
    worst = std::fmax(worst, error);
  }
  return worst;
}

double norm_backward_of_one(double dy, double xhat, double gamma, double inv_std,
                            const NormSums& sums) {
  const double mean_dy = sums.dy / sums.count, mean_dy_xhat = sums.dy_xhat / sums.count;
  return (dy - mean_dy - xhat * mean_dy_xhat) * gamma * inv_std;
}

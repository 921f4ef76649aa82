// 12/08 Batch norm's gradient by hand: what the test calls. All of it is host code, in double.
#ifndef CHAPTERS_12_MNIST_CNN_08_NORM_GRADIENT_H_
#define CHAPTERS_12_MNIST_CNN_08_NORM_GRADIENT_H_

#include <cstddef>
#include <functional>
#include <vector>

using Values = std::vector<double>;

constexpr double kNormEpsilon = 1e-5;  // added to the variance

// What the forward pass of one channel leaves, for at least one value.
struct NormForward {
  double mean, variance, inv_std;  // inv_std = 1 / sqrt(variance + kNormEpsilon)
  Values xhat, y;                  // one of each for every x
};
NormForward norm_forward(const Values& x, double gamma, double beta);

// Derivatives of a loss by everything that lies between x and y.
struct NormBackward {
  double dgamma = 0, dbeta = 0;
  double dvariance = 0;  // as if the variance could be moved alone
  double dmean = 0;      // as if the mean could; the variance is moved by it as well
  Values dxhat, dx;
};

// The derivative of f by x[i], from values of f alone, wherever x[i] lies. Over a distance that is
// small beside |x[i]|, or beside 1 where |x[i]| is less, f hardly bends. It costs too much to be
// called more than twice.
using Function = std::function<double(const Values&)>;
double measured_derivative(const Function& f, const Values& x, size_t i);

// From dy, the derivative of the loss by each y, back to x, one link of the chain after the other.
NormBackward norm_backward(const Values& x, double gamma, const NormForward& forward,
                           const Values& dy);

// How far dx is from the truth: the greatest distance |dx[i] - measured derivative by x[i]| of the
// loss that has these dy, the sum of dy[i] y[i].
double gradient_error(const Values& x, double gamma, double beta, const Values& dy,
                      const Values& dx);

// The same derivative for one value alone, from what a kernel has at hand: its own dy and xhat, and
// two sums over the channel. No other value of the channel is looked at.
struct NormSums {
  double dy, dy_xhat;  // sums of dy[i], of dy[i] xhat[i]
  double count;        // values in the channel
};
double norm_backward_of_one(double dy, double xhat, double gamma, double inv_std,
                            const NormSums& sums);

#endif  // CHAPTERS_12_MNIST_CNN_08_NORM_GRADIENT_H_

// Tests of 12/08 Batch norm's gradient by hand. The reference measures: it has no formula of the
// gradient that could be wrong in the same way.
#include "08_norm_gradient.h"

#include <cmath>
#include <string>

#include "kit/host_code.h"
#include "kit/kit.h"

namespace {

// A channel with its upstream derivatives.
struct Channel {
  Values x, dy;
  double gamma, beta;
};

Channel channel_of(int count, double center = 0, double gamma = 1.5) {
  return {kit::random_doubles(count, center - 2, center + 2), kit::random_doubles(count), gamma,
          -0.25};
}

// sum of dy y, with each link moved apart from what it depends on.
double loss_of(const Channel& c, double mean, double variance, const Values& x) {
  double loss = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double xhat = (x[i] - mean) / std::sqrt(variance + kNormEpsilon);
    loss += c.dy[i] * (c.gamma * xhat + c.beta);
  }
  return loss;
}
double mean_of(const Values& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}
double variance_around(const Values& x, double mean) {
  double sum = 0;
  for (const double value : x) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(x.size());
}
double whole_loss(const Channel& c, const Values& x) {
  const double mean = mean_of(x);
  return loss_of(c, mean, variance_around(x, mean), x);
}

// The derivative of f at `at`: two central differences, of which the error of the first order
// cancels (Richardson). h is small where f bends.
template <class F>
double slope(const F& f, double at, double h) {
  const auto difference = [&](double s) { return (f(at + s) - f(at - s)) / (2 * s); };
  return (4 * difference(h / 2) - difference(h)) / 3;
}
double deviation_of(const Channel& c) {
  return std::sqrt(variance_around(c.x, mean_of(c.x)) + kNormEpsilon);
}
double slope_by_x(const Channel& c, size_t i) {
  return slope(
      [&](double value) {
        Values x = c.x;
        x[i] = value;
        return whole_loss(c, x);
      },
      c.x[i], 1e-3 * deviation_of(c));
}

void expect_close(const std::string& what, double got, double expected, double allowed) {
  if (std::fabs(got - expected) <= allowed) return;
  kit::fail(what + " is " + std::to_string(got) + ", expected " + std::to_string(expected) + ".");
}

NormBackward backward_of(const Channel& c) {
  return norm_backward(c.x, c.gamma, norm_forward(c.x, c.gamma, c.beta), c.dy);
}

bool has_all(const NormBackward& back, size_t count) {
  if (back.dx.size() == count && back.dxhat.size() == count) return true;
  return kit::fail("dxhat and dx have " + std::to_string(back.dxhat.size()) + " and " +
                   std::to_string(back.dx.size()) + " values, expected " + std::to_string(count) +
                   ".");
}

}  // namespace

TEST(NormGradient, MeasuresADerivativeToSevenDigits) {
  RecordProperty("todo", 1);
  const Function cube = [](const Values& x) { return x[0] * x[0] * x[0] * x[1]; };
  kit::for_each("x", std::vector<double>{0.5, -3.0, 40.0}, [&](double x) {
    expect_close("The derivative of x^3 z by x, for z = 2,", measured_derivative(cube, {x, 2}, 0),
                 6 * x * x, 6e-7 * x * x);
    expect_close("The derivative of x^3 z by z", measured_derivative(cube, {x, 2}, 1), x * x * x,
                 1e-7 * std::fabs(x * x * x));
  });
}

TEST(NormGradient, MeasuresFarFromZeroAndAtZero) {
  RecordProperty("todo", 1);
  const Function square = [](const Values& x) { return x[0] * x[0]; };
  kit::for_each("x", std::vector<double>{1e6, -1e6}, [&](double x) {
    expect_close("The derivative of x^2", measured_derivative(square, {x}, 0), 2 * x,
                 std::fabs(2e-7 * x));
  });
  const Function wave = [](const Values& x) { return std::sin(x[0]); };
  expect_close("The derivative of sin x at 0", measured_derivative(wave, {0}, 0), 1, 1e-7);
}

TEST(NormGradient, MeasuresBesideZero) {
  RecordProperty("todo", 1);
  const Function growth = [](const Values& x) { return std::exp(x[0]); };
  kit::for_each("x", std::vector<double>{1e-3, 1e-6, -1e-9, 1e-30}, [&](double x) {
    expect_close("The derivative of exp x", measured_derivative(growth, {x}, 0), std::exp(x), 1e-7);
  });
}

TEST(NormGradient, CallsTheFunctionTwice) {
  RecordProperty("todo", 1);
  int calls = 0;
  const Values before = {1, 2, 3};
  Values x = before;
  measured_derivative(
      [&](const Values& at) {
        ++calls;
        return at[1];
      },
      x, 1);
  if (calls > 2) kit::fail("f was called " + std::to_string(calls) + " times, expected 2.");
}

TEST(NormGradient, FindsTheParametersGradients) {
  RecordProperty("todo", 2);
  kit::for_each("values", std::vector<int>{1, 2, 7, 100}, [](int count) {
    const Channel c = channel_of(count, 1.0);
    const NormBackward back = backward_of(c);
    const double mean = mean_of(c.x), variance = variance_around(c.x, mean);
    const auto with = [&](double gamma, double beta) {
      return loss_of({c.x, c.dy, gamma, beta}, mean, variance, c.x);
    };
    expect_close("dbeta", back.dbeta, with(c.gamma, 1) - with(c.gamma, 0), 1e-9);
    expect_close("dgamma", back.dgamma, with(1, c.beta) - with(0, c.beta), 1e-9);
  });
}

TEST(NormGradient, FindsTheLinksBetween) {
  RecordProperty("todo", 2);
  kit::for_each("values", std::vector<int>{2, 7, 100}, [](int count) {
    const Channel c = channel_of(count, 1.0);
    const NormBackward back = backward_of(c);
    if (!has_all(back, c.x.size())) return;
    const double mean = mean_of(c.x), variance = variance_around(c.x, mean);
    for (size_t i = 0; i < c.x.size(); ++i) {
      expect_close("dxhat[" + std::to_string(i) + "]", back.dxhat[i], c.gamma * c.dy[i], 1e-12);
    }
    const auto by_variance = [&](double v) { return loss_of(c, mean, v, c.x); };
    expect_close("dvariance", back.dvariance, slope(by_variance, variance, 1e-3 * variance), 1e-6);
    // Whoever moves the mean moves the variance, too.
    const auto by_mean = [&](double m) { return loss_of(c, m, variance_around(c.x, m), c.x); };
    expect_close("dmean", back.dmean, slope(by_mean, mean, 1e-3 * deviation_of(c)), 1e-6);
  });
}

TEST(NormGradient, FindsTheGradientByX) {
  RecordProperty("todo", 2);
  kit::for_each("values", std::vector<int>{1, 2, 7, 100}, [](int count) {
    for (const double gamma : {1.5, -0.75, 0.0}) {
      const Channel c = channel_of(count, -3.0, gamma);
      const NormBackward back = backward_of(c);
      if (!has_all(back, c.x.size())) return;
      for (size_t i = 0; i < c.x.size(); ++i) {
        expect_close("dx[" + std::to_string(i) + "]", back.dx[i], slope_by_x(c, i), 1e-6);
      }
    }
  });
}

TEST(NormGradient, TellsHowFarAGradientIsOff) {
  RecordProperty("todo", 3);
  const Channel c = channel_of(9, 1.0);
  Values dx;
  for (size_t i = 0; i < c.x.size(); ++i) dx.push_back(slope_by_x(c, i));
  const auto error_of = [&] { return gradient_error(c.x, c.gamma, c.beta, c.dy, dx); };
  expect_close("The error of a right gradient", error_of(), 0, 1e-6);
  for (const double off : {0.25, -0.5}) {
    for (const size_t at : {size_t{0}, size_t{8}}) {
      const double right = dx[at];
      dx[at] += off;
      expect_close("The error of a gradient that is off by " + std::to_string(off) + " at " +
                       std::to_string(at),
                   error_of(), std::fabs(off), 1e-6);
      dx[at] = right;
    }
  }
  // The greatest of several, wherever it stands.
  const double first = dx[0], last = dx[8];
  for (const double at_begin : {0.25, -0.5}) {
    dx[0] = first + at_begin;
    dx[8] = last + 0.75 - std::fabs(at_begin);
    expect_close("The error of a gradient that is off by 0.5 at one end and 0.25 at the other",
                 error_of(), 0.5, 1e-6);
  }
  dx[0] = first, dx[8] = last;
  dx[3] = std::nan("");
  if (!std::isnan(error_of())) kit::fail("A gradient with a NaN has an error that is a number.");
}

TEST(NormGradient, IsHostCode) {
  RecordProperty("todo", 4);
  const Channel c = channel_of(40);
  kit::expect_host_code("measured_derivative", [&] {
    measured_derivative([](const Values& x) { return x[0] * x[1]; }, c.x, 0);
  });
  const NormForward forward = norm_forward(c.x, c.gamma, c.beta);
  NormBackward back;
  kit::expect_host_code("norm_backward",
                        [&] { back = norm_backward(c.x, c.gamma, forward, c.dy); });
  if (!has_all(back, c.x.size())) return;
  kit::expect_host_code("gradient_error",
                        [&] { gradient_error(c.x, c.gamma, c.beta, c.dy, back.dx); });
  kit::expect_host_code("norm_backward_of_one", [&] {
    norm_backward_of_one(c.dy[0], forward.xhat[0], c.gamma, forward.inv_std, {1, 2, 40});
  });
}

TEST(NormGradient, NeedsTwoSumsAlone) {
  RecordProperty("todo", 4);
  kit::for_each("values", std::vector<int>{1, 3, 50}, [](int count) {
    const Channel c = channel_of(count, 2.0, -0.75);
    const NormForward forward = norm_forward(c.x, c.gamma, c.beta);
    NormSums sums = {0, 0, static_cast<double>(count)};
    for (size_t i = 0; i < c.x.size(); ++i) {
      sums.dy += c.dy[i];
      sums.dy_xhat += c.dy[i] * forward.xhat[i];
    }
    for (size_t i = 0; i < c.x.size(); ++i) {
      expect_close("The derivative by x[" + std::to_string(i) + "]",
                   norm_backward_of_one(c.dy[i], forward.xhat[i], c.gamma, forward.inv_std, sums),
                   slope_by_x(c, i), 1e-6);
    }
  });
}

// The gradient of a small layer by the chain rule, without a Jacobian, checked by differences.
#include <cmath>
#include <cstdio>

constexpr int kIn = 3, kOut = 2;

// x: [kIn], w: [kOut][kIn], target: [kOut]; the loss is half the squared distance of y from it.
template <typename T>
struct Layer {
  T w[kOut][kIn] = {{T(0.5), T(-1.0), T(2.0)}, {T(1.5), T(0.25), T(-0.75)}};
  T target[kOut] = {T(0.1), T(0.9)};

  void forward(const T* x, T* y) const {
    for (int row = 0; row < kOut; ++row) {
      y[row] = 0;
      for (int col = 0; col < kIn; ++col) y[row] += w[row][col] * x[col];
      y[row] /= 1 + std::fabs(y[row]);  // f(s) = s / (1 + |s|): bends like tanh
    }
  }

  T loss(const T* x) const {
    T y[kOut], sum = 0;
    forward(x, y);
    for (int row = 0; row < kOut; ++row) sum += (y[row] - target[row]) * (y[row] - target[row]) / 2;
    return sum;
  }

  // dx = v * J, where v is the gradient that comes from behind: J, [kOut][kIn], is never stored.
  void backward(const T* x, T* dx) const {
    T y[kOut];
    forward(x, y);
    for (int col = 0; col < kIn; ++col) dx[col] = 0;
    for (int row = 0; row < kOut; ++row) {
      const T dy = y[row] - target[row];      // of the loss by y
      const T slope = 1 - std::fabs(y[row]);  // f'(s) = (1 - |f(s)|)^2
      const T ds = dy * slope * slope;
      for (int col = 0; col < kIn; ++col) dx[col] += ds * w[row][col];
    }
  }
};

template <typename T>
double error_of_difference(T h) {
  const Layer<T> layer;
  T x[kIn] = {T(0.3), T(-0.2), T(0.4)}, dx[kIn];
  layer.backward(x, dx);
  T right[kIn] = {x[0] + h, x[1], x[2]}, left[kIn] = {x[0] - h, x[1], x[2]};
  const T difference = (layer.loss(right) - layer.loss(left)) / (2 * h);
  return std::fabs(double(difference) - double(dx[0])) / std::fabs(double(dx[0]));
}

int main() {
  const Layer<double> layer;
  const double x[kIn] = {0.3, -0.2, 0.4};
  double dx[kIn];
  layer.backward(x, dx);
  std::printf("gradient  %.6f %.6f %.6f\n", dx[0], dx[1], dx[2]);
  std::printf("h       error in float  in double\n");
  for (int power = 1; power <= 7; ++power) {
    const double h = std::pow(10.0, -power);
    std::printf("1e-%d    %8.0e        %8.0e\n", power, error_of_difference<float>(float(h)),
                error_of_difference<double>(h));
  }
}

// Activation functions of one value.
#ifndef WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_ACTIVATION_H_
#define WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_ACTIVATION_H_

#include <cmath>

#include "cudnn/tensor.h"

namespace warplings::libraries {

template <class T>
T activate(const cudnnActivationStruct& f, T x) {
  const T coefficient = static_cast<T>(f.coefficient);
  if (std::isnan(x) && f.nan == CUDNN_PROPAGATE_NAN) return x;
  switch (f.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return 1 / (1 + std::exp(-x));
    case CUDNN_ACTIVATION_RELU:
      return x > 0 ? x : 0;
    case CUDNN_ACTIVATION_TANH:
      return std::tanh(x);
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return x > 0 ? std::fmin(x, coefficient) : 0;
    case CUDNN_ACTIVATION_ELU:
      return x > 0 ? x : coefficient * std::expm1(x);
    case CUDNN_ACTIVATION_IDENTITY:
      return x;
    case CUDNN_ACTIVATION_SWISH:
      return x / (1 + std::exp(-coefficient * x));
  }
  return x;
}

// The derivative at x, where the value is y.
template <class T>
T activation_slope(const cudnnActivationStruct& f, T x, T y) {
  const T coefficient = static_cast<T>(f.coefficient);
  switch (f.mode) {
    case CUDNN_ACTIVATION_SIGMOID:
      return y * (1 - y);
    case CUDNN_ACTIVATION_RELU:
      return x > 0 ? 1 : 0;
    case CUDNN_ACTIVATION_TANH:
      return 1 - y * y;
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return x > 0 && x < coefficient ? 1 : 0;
    case CUDNN_ACTIVATION_ELU:
      return x > 0 ? 1 : y + coefficient;
    case CUDNN_ACTIVATION_IDENTITY:
      return 1;
    case CUDNN_ACTIVATION_SWISH: {
      const T gate = 1 / (1 + std::exp(-coefficient * x));
      return gate + coefficient * y * (1 - gate);
    }
  }
  return 1;
}

}  // namespace warplings::libraries

#endif  // WARPLINGS_SIMULATOR_LIBRARIES_CUDNN_ACTIVATION_H_

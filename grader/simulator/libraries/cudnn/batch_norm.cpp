// cuDNN's batch normalisation: training, inference and gradients.
#include <cmath>
#include <vector>

#include "cudnn/tensor.h"

using namespace warplings::libraries;

namespace {

// Which parameter belongs to which element, and how many elements share one.
struct Grouping {
  bool each;
  size_t channels, plane, groups;
  double members;

  Grouping(const Layout& x, cudnnBatchNormMode_t mode)
      : each(mode == CUDNN_BATCHNORM_PER_ACTIVATION),
        channels(static_cast<size_t>(x.size[1])),
        plane(static_cast<size_t>(x.count() / x.size[0] / x.size[1])),
        groups(each ? channels * plane : channels),
        members(static_cast<double>(x.count()) / static_cast<double>(groups)) {}
  size_t of(size_t element) const { return each ? element % groups : element / plane % channels; }
};

using Values = std::vector<double>;

struct Statistics {
  Values mean, variance;  // biased
};

template <class T>
Statistics statistics_of(const Grouping& group, const std::vector<T>& x) {
  Statistics s{Values(group.groups), Values(group.groups)};
  for (size_t i = 0; i < x.size(); ++i) {
    s.mean[group.of(i)] += static_cast<double>(x[i]) / group.members;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = static_cast<double>(x[i]) - s.mean[group.of(i)];
    s.variance[group.of(i)] += d * d / group.members;
  }
  return s;
}

Values parameters(const Layout& layout, const void* data) {
  return load_dense<double>(layout, view(data));
}

Values inverse_deviation(const Values& variance, double epsilon) {
  Values inverse;
  for (const double value : variance) inverse.push_back(1 / std::sqrt(value + epsilon));
  return inverse;
}

template <class T>
std::vector<T> normalised(const Grouping& group, const std::vector<T>& x, const Values& mean,
                          const Values& inverse, const Values& scale, const Values& bias) {
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t g = group.of(i);
    y[i] = static_cast<T>((static_cast<double>(x[i]) - mean[g]) * inverse[g] * scale[g] + bias[g]);
  }
  return y;
}

void check(LayerCall* call, cudnnBatchNormMode_t mode, double epsilon, const cudnnTensorStruct* x,
           const cudnnTensorStruct* y, const cudnnTensorStruct* parameter) {
  for (const cudnnTensorStruct* tensor : {x, y, parameter}) {
    call->require(tensor != nullptr && tensor->layout.is_set(), CUDNN_STATUS_BAD_PARAM,
                  "a descriptor is missing or not set");
  }
  call->require(
      mode >= CUDNN_BATCHNORM_PER_ACTIVATION && mode <= CUDNN_BATCHNORM_SPATIAL_PERSISTENT,
      CUDNN_STATUS_BAD_PARAM, "there is no such mode");
  call->require(epsilon >= CUDNN_BN_MIN_EPSILON, CUDNN_STATUS_BAD_PARAM, "epsilon is too small");
  if (!call->ok()) return;
  const Grouping group(x->layout, mode);
  call->require(x->layout.same_size(y->layout) && x->layout.type == y->layout.type,
                CUDNN_STATUS_BAD_PARAM, "input and output have the same size and type");
  call->require(parameter->layout.count() == static_cast<int64_t>(group.groups),
                CUDNN_STATUS_BAD_PARAM,
                "the parameters have another size than cudnnDeriveBNTensorDescriptor makes");
}

// Where training leaves its statistics.
struct Kept {
  double factor;
  void *running_mean, *running_variance, *saved_mean, *saved_inverse;
};

// running = (1 - factor) * running + factor * new, with the unbiased variance.
void keep(const Layout& layout, const Grouping& group, const Statistics& s, const Values& inverse,
          const Kept& to) {
  if (to.running_mean != nullptr) {
    Values unbiased = s.variance;
    if (group.members > 1) {
      for (double& value : unbiased) value *= group.members / (group.members - 1);
    }
    store_dense(layout, view(to.running_mean), s.mean, to.factor, 1 - to.factor);
    store_dense(layout, view(to.running_variance), unbiased, to.factor, 1 - to.factor);
  }
  if (to.saved_mean != nullptr) {
    store_dense(layout, view(to.saved_mean), s.mean, 1, 0);
    store_dense(layout, view(to.saved_inverse), inverse, 1, 0);
  }
}

// Gradients of x, of the scale and of the bias.
template <class T>
struct Gradients {
  std::vector<T> x;
  Values scale, bias;
};

template <class T>
Gradients<T> gradients_of(const Grouping& group, const std::vector<T>& x, const std::vector<T>& dy,
                          const Values& mean, const Values& inverse, const Values& scale) {
  Gradients<T> g{std::vector<T>(x.size()), Values(group.groups), Values(group.groups)};
  const auto normal = [&](size_t i) {
    return (static_cast<double>(x[i]) - mean[group.of(i)]) * inverse[group.of(i)];
  };
  for (size_t i = 0; i < x.size(); ++i) {
    g.bias[group.of(i)] += static_cast<double>(dy[i]);
    g.scale[group.of(i)] += static_cast<double>(dy[i]) * normal(i);
  }
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t at = group.of(i);
    const double rest = static_cast<double>(dy[i]) - g.bias[at] / group.members -
                        normal(i) * g.scale[at] / group.members;
    g.x[i] = static_cast<T>(scale[at] * inverse[at] * rest);
  }
  return g;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBatchNormalizationForwardTraining(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t yDesc,
    void* y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void* bnScale,
    const void* bnBias, double exponentialAverageFactor, void* resultRunningMean,
    void* resultRunningVariance, double epsilon, void* resultSaveMean,
    void* resultSaveInvVariance) {
  WARPLINGS_LIBRARY_CALL(cudnnBatchNormalizationForwardTraining);
  LayerCall layer(call, handle);
  check(&layer, mode, epsilon, xDesc, yDesc, bnScaleBiasMeanVarDesc);
  layer.require((resultRunningMean == nullptr) == (resultRunningVariance == nullptr) &&
                    (resultSaveMean == nullptr) == (resultSaveInvVariance == nullptr),
                CUDNN_STATUS_BAD_PARAM, "a mean and its variance are both null or both not");
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout, &lp = bnScaleBiasMeanVarDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.reads("scale", lp, bnScale);
  layer.reads("bias", lp, bnBias);
  layer.writes("output y", ly, y, b);
  const Kept kept = {exponentialAverageFactor, resultRunningMean, resultRunningVariance,
                     resultSaveMean, resultSaveInvVariance};
  if (kept.running_mean != nullptr) {
    layer.writes("running mean", lp, kept.running_mean, 1 - kept.factor);
    layer.writes("running variance", lp, kept.running_variance, 1 - kept.factor);
  }
  if (kept.saved_mean != nullptr) {
    layer.writes("saved mean", lp, kept.saved_mean, 0);
    layer.writes("saved inverse deviation", lp, kept.saved_inverse, 0);
  }
  return layer.run(8.0 * static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      const Grouping group(lx, mode);
      const std::vector<T> in = load_dense<T>(lx, view(x));
      const Statistics s = statistics_of(group, in);
      const Values inverse = inverse_deviation(s.variance, epsilon);
      const std::vector<T> out =
          normalised(group, in, s.mean, inverse, parameters(lp, bnScale), parameters(lp, bnBias));
      store_dense(ly, view(y), out, a, b);
      keep(lp, group, s, inverse, kept);
    });
  });
}

cudnnStatus_t cudnnBatchNormalizationForwardInference(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alpha, const void* beta,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t yDesc,
    void* y, const cudnnTensorDescriptor_t bnScaleBiasMeanVarDesc, const void* bnScale,
    const void* bnBias, const void* estimatedMean, const void* estimatedVariance, double epsilon) {
  WARPLINGS_LIBRARY_CALL(cudnnBatchNormalizationForwardInference);
  LayerCall layer(call, handle);
  check(&layer, mode, epsilon, xDesc, yDesc, bnScaleBiasMeanVarDesc);
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout, &lp = bnScaleBiasMeanVarDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.reads("scale", lp, bnScale);
  layer.reads("bias", lp, bnBias);
  layer.reads("estimated mean", lp, estimatedMean);
  layer.reads("estimated variance", lp, estimatedVariance);
  layer.writes("output y", ly, y, b);
  return layer.run(2.0 * static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      const Values inverse = inverse_deviation(parameters(lp, estimatedVariance), epsilon);
      const std::vector<T> out =
          normalised(Grouping(lx, mode), load_dense<T>(lx, view(x)), parameters(lp, estimatedMean),
                     inverse, parameters(lp, bnScale), parameters(lp, bnBias));
      store_dense(ly, view(y), out, a, b);
    });
  });
}

cudnnStatus_t cudnnBatchNormalizationBackward(
    cudnnHandle_t handle, cudnnBatchNormMode_t mode, const void* alphaDataDiff,
    const void* betaDataDiff, const void* alphaParamDiff, const void* betaParamDiff,
    const cudnnTensorDescriptor_t xDesc, const void* x, const cudnnTensorDescriptor_t dyDesc,
    const void* dy, const cudnnTensorDescriptor_t dxDesc, void* dx,
    const cudnnTensorDescriptor_t dBnScaleBiasDesc, const void* bnScale, void* dBnScaleResult,
    void* dBnBiasResult, double epsilon, const void* savedMean, const void* savedInvVariance) {
  WARPLINGS_LIBRARY_CALL(cudnnBatchNormalizationBackward);
  LayerCall layer(call, handle);
  check(&layer, mode, epsilon, xDesc, dyDesc, dBnScaleBiasDesc);
  check(&layer, mode, epsilon, xDesc, dxDesc, dBnScaleBiasDesc);
  layer.require((savedMean == nullptr) == (savedInvVariance == nullptr), CUDNN_STATUS_BAD_PARAM,
                "a mean and its variance are both null or both not");
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &lg = dyDesc->layout, &lo = dxDesc->layout,
               &lp = dBnScaleBiasDesc->layout;
  const double a = layer.scalar(alphaDataDiff, lx), b = layer.scalar(betaDataDiff, lx);
  const double pa = layer.scalar(alphaParamDiff, lx), pb = layer.scalar(betaParamDiff, lx);
  layer.reads("input x", lx, x);
  layer.reads("gradient dy", lg, dy);
  layer.reads("scale", lp, bnScale);
  if (savedMean != nullptr) {
    layer.reads("saved mean", lp, savedMean);
    layer.reads("saved inverse deviation", lp, savedInvVariance);
  }
  layer.writes("gradient dx", lo, dx, b);
  layer.writes("gradient of the scale", lp, dBnScaleResult, pb);
  layer.writes("gradient of the bias", lp, dBnBiasResult, pb);
  return layer.run(10.0 * static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      const Grouping group(lx, mode);
      const std::vector<T> in = load_dense<T>(lx, view(x));
      Statistics s;
      Values inverse;
      if (savedMean != nullptr) {
        s.mean = parameters(lp, savedMean);
        inverse = parameters(lp, savedInvVariance);
      } else {
        s = statistics_of(group, in);
        inverse = inverse_deviation(s.variance, epsilon);
      }
      const Gradients<T> g = gradients_of(group, in, load_dense<T>(lg, view(dy)), s.mean, inverse,
                                          parameters(lp, bnScale));
      store_dense(lo, view(dx), g.x, a, b);
      store_dense(lp, view(dBnScaleResult), g.scale, pa, pb);
      store_dense(lp, view(dBnBiasResult), g.bias, pa, pb);
    });
  });
}

}  // extern "C"

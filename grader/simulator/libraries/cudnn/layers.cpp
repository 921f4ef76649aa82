// cuDNN's layers without weights, and what works on tensors element by element.
#include <algorithm>
#include <cmath>
#include <vector>

#include "cudnn/activation.h"
#include "cudnn/tensor.h"

using namespace warplings::libraries;

namespace {

bool is_set(const cudnnTensorStruct* tensor) {
  return tensor != nullptr && tensor->layout.is_set();
}

// Whether `small` has 1 or the same number in every dimension.
bool repeats_into(const Layout& small, const Layout& large) {
  for (size_t i = 0; i < kDimensions; ++i) {
    if (small.size[i] != 1 && small.size[i] != large.size[i]) return false;
  }
  return true;
}

// The dense index of `small` for each dense index of `large`.
std::vector<size_t> repeated(const Layout& small, const Layout& large) {
  std::vector<size_t> index;
  Index at{};
  for (int64_t i = 0; i < large.count(); ++i) {
    int64_t rest = i, place = 0;
    for (int d = kDimensions - 1; d >= 0; --d) {
      const auto k = static_cast<size_t>(d);
      at[k] = rest % large.size[k];
      rest /= large.size[k];
    }
    for (size_t k = 0; k < kDimensions; ++k) {
      place = place * small.size[k] + (small.size[k] == 1 ? 0 : at[k]);
    }
    index.push_back(static_cast<size_t>(place));
  }
  return index;
}

void require_alike(LayerCall* call, std::initializer_list<const cudnnTensorStruct*> tensors,
                   cudnnStatus_t if_sizes_differ = CUDNN_STATUS_BAD_PARAM) {
  const cudnnTensorStruct* first = *tensors.begin();
  for (const cudnnTensorStruct* tensor : tensors) {
    call->require(is_set(tensor), CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or not set");
    if (!call->ok()) return;
    call->require(tensor->layout.same_size(first->layout), if_sizes_differ,
                  "tensors have different sizes");
    call->require(tensor->layout.type == first->layout.type, CUDNN_STATUS_BAD_PARAM,
                  "tensors hold different types");
  }
}

// y = alpha f(x) + beta y, element by element; f takes T and returns T.
template <class Function>
cudnnStatus_t map(const Call& site, cudnnHandle_t handle, const void* alpha,
                  const cudnnTensorDescriptor_t xDesc, const void* x, const void* beta,
                  const cudnnTensorDescriptor_t yDesc, void* y, Function f) {
  LayerCall call(site, handle);
  require_alike(&call, {xDesc, yDesc});
  if (!call.ok()) return call.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout;
  const double a = call.scalar(alpha, lx), b = call.scalar(beta, lx);
  call.reads("input x", lx, x);
  call.writes("output y", ly, y, b);
  return call.run(static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> values = load_dense<T>(lx, view(x));
      for (T& value : values) value = f(value);
      store_dense(ly, view(y), values, a, b);
    });
  });
}

// ---- softmax

// Lines of `length` values, `step` apart, that are normalised together.
struct Lines {
  size_t count, length, step;
  size_t start(size_t line) const { return line / step * step * length + line % step; }
};

Lines lines_of(const Layout& layout, cudnnSoftmaxMode_t mode) {
  const auto total = static_cast<size_t>(layout.count());
  const auto images = static_cast<size_t>(layout.size[0]);
  if (mode == CUDNN_SOFTMAX_MODE_INSTANCE) return {images, total / images, 1};
  const auto channels = static_cast<size_t>(layout.size[1]);
  return {total / channels, channels, total / images / channels};
}

template <class T>
void softmax(const Lines& lines, cudnnSoftmaxAlgorithm_t algorithm, std::vector<T>* values) {
  for (size_t line = 0; line < lines.count; ++line) {
    T* v = values->data() + lines.start(line);
    T largest = algorithm == CUDNN_SOFTMAX_FAST ? T(0) : v[0];
    for (size_t i = 0; i < lines.length && algorithm != CUDNN_SOFTMAX_FAST; ++i) {
      largest = std::max(largest, v[i * lines.step]);
    }
    T sum = 0;
    for (size_t i = 0; i < lines.length; ++i) sum += std::exp(v[i * lines.step] - largest);
    for (size_t i = 0; i < lines.length; ++i) {
      T& value = v[i * lines.step];
      value = algorithm == CUDNN_SOFTMAX_LOG ? value - largest - std::log(sum)
                                             : std::exp(value - largest) / sum;
    }
  }
}

// From y and dy to dx, in the place of dy.
template <class T>
void softmax_back(const Lines& lines, cudnnSoftmaxAlgorithm_t algorithm, const std::vector<T>& y,
                  std::vector<T>* gradient) {
  const bool log = algorithm == CUDNN_SOFTMAX_LOG;
  for (size_t line = 0; line < lines.count; ++line) {
    const T* v = y.data() + lines.start(line);
    T* g = gradient->data() + lines.start(line);
    T sum = 0;
    for (size_t i = 0; i < lines.length; ++i) {
      sum += log ? g[i * lines.step] : g[i * lines.step] * v[i * lines.step];
    }
    for (size_t i = 0; i < lines.length; ++i) {
      const T share = v[i * lines.step];
      T& to = g[i * lines.step];
      to = log ? to - std::exp(share) * sum : share * (to - sum);
    }
  }
}

bool is_softmax(cudnnSoftmaxAlgorithm_t algorithm, cudnnSoftmaxMode_t mode) {
  return algorithm >= CUDNN_SOFTMAX_FAST && algorithm <= CUDNN_SOFTMAX_LOG &&
         (mode == CUDNN_SOFTMAX_MODE_INSTANCE || mode == CUDNN_SOFTMAX_MODE_CHANNEL);
}

template <class T>
T combine(cudnnOpTensorOp_t op, T a, T b) {
  switch (op) {
    case CUDNN_OP_TENSOR_ADD:
      return a + b;
    case CUDNN_OP_TENSOR_MUL:
      return a * b;
    case CUDNN_OP_TENSOR_MIN:
      return std::min(a, b);
    case CUDNN_OP_TENSOR_MAX:
      return std::max(a, b);
    case CUDNN_OP_TENSOR_SQRT:
      return std::sqrt(a);
    case CUDNN_OP_TENSOR_NOT:
      return 1 - a;
  }
  return a;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void* alpha,
                                   const cudnnTensorDescriptor_t xDesc, const void* x,
                                   const void* beta, const cudnnTensorDescriptor_t yDesc, void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnTransformTensor);
  return map(call, handle, alpha, xDesc, x, beta, yDesc, y, [](auto value) { return value; });
}

cudnnStatus_t cudnnAddTensor(cudnnHandle_t handle, const void* alpha,
                             const cudnnTensorDescriptor_t aDesc, const void* A, const void* beta,
                             const cudnnTensorDescriptor_t cDesc, void* C) {
  WARPLINGS_LIBRARY_CALL(cudnnAddTensor);
  LayerCall layer(call, handle);
  layer.require(is_set(aDesc) && is_set(cDesc), CUDNN_STATUS_BAD_PARAM,
                "a descriptor is missing or not set");
  if (!layer.ok()) return layer.status();
  const Layout &la = aDesc->layout, &lc = cDesc->layout;
  layer.require(la.type == lc.type && repeats_into(la, lc), CUDNN_STATUS_BAD_PARAM,
                "each dimension of A is 1 or that of C");
  const double a = layer.scalar(alpha, lc), b = layer.scalar(beta, lc);
  layer.reads("addend A", la, A);
  layer.writes("sum C", lc, C, b);
  return layer.run(2.0 * static_cast<double>(lc.count()), [=] {
    with_type(lc, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> addend = load_dense<T>(la, view(A));
      std::vector<T> values;
      for (const size_t at : repeated(la, lc)) values.push_back(addend[at]);
      store_dense(lc, view(C), values, a, b);
    });
  });
}

cudnnStatus_t cudnnOpTensor(cudnnHandle_t handle, const cudnnOpTensorDescriptor_t opTensorDesc,
                            const void* alpha1, const cudnnTensorDescriptor_t aDesc, const void* A,
                            const void* alpha2, const cudnnTensorDescriptor_t bDesc, const void* B,
                            const void* beta, const cudnnTensorDescriptor_t cDesc, void* C) {
  WARPLINGS_LIBRARY_CALL(cudnnOpTensor);
  LayerCall layer(call, handle);
  layer.require(opTensorDesc != nullptr && opTensorDesc->set, CUDNN_STATUS_BAD_PARAM,
                "the operation's descriptor is not set");
  require_alike(&layer, {aDesc, cDesc});
  if (!layer.ok()) return layer.status();
  const cudnnOpTensorOp_t op = opTensorDesc->op;
  const bool two = op != CUDNN_OP_TENSOR_SQRT && op != CUDNN_OP_TENSOR_NOT;
  layer.require(!two || (is_set(bDesc) && repeats_into(bDesc->layout, cDesc->layout)),
                CUDNN_STATUS_BAD_PARAM, "each dimension of B is 1 or that of C");
  if (!layer.ok()) return layer.status();
  const Layout &la = aDesc->layout, &lc = cDesc->layout, lb = two ? bDesc->layout : la;
  const double a1 = layer.scalar(alpha1, lc), b1 = layer.scalar(beta, lc);
  const double a2 = two ? layer.scalar(alpha2, lc) : 0;
  layer.reads("operand A", la, A);
  if (two) layer.reads("operand B", lb, B);
  layer.writes("result C", lc, C, b1);
  return layer.run(2.0 * static_cast<double>(lc.count()), [=] {
    with_type(lc, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> values = load_dense<T>(la, view(A));
      const std::vector<T> other = two ? load_dense<T>(lb, view(B)) : values;
      const std::vector<size_t> at = repeated(lb, lc);
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] = combine(op, static_cast<T>(a1) * values[i], static_cast<T>(a2) * other[at[i]]);
      }
      store_dense(lc, view(C), values, 1, b1);
    });
  });
}

cudnnStatus_t cudnnSetTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void* y,
                             const void* valuePtr) {
  WARPLINGS_LIBRARY_CALL(cudnnSetTensor);
  LayerCall layer(call, handle);
  layer.require(is_set(yDesc) && valuePtr != nullptr, CUDNN_STATUS_BAD_PARAM,
                "the descriptor and the value are there");
  if (!layer.ok()) return layer.status();
  const Layout& ly = yDesc->layout;
  const double value = load(ly.type, valuePtr, 0);
  layer.writes("tensor y", ly, y, 0);
  return layer.run(0, [=] {
    store_dense(ly, view(y), std::vector<double>(static_cast<size_t>(ly.count()), value), 1, 0);
  });
}

cudnnStatus_t cudnnScaleTensor(cudnnHandle_t handle, const cudnnTensorDescriptor_t yDesc, void* y,
                               const void* alpha) {
  WARPLINGS_LIBRARY_CALL(cudnnScaleTensor);
  LayerCall layer(call, handle);
  layer.require(is_set(yDesc), CUDNN_STATUS_BAD_PARAM, "the descriptor is not set");
  if (!layer.ok()) return layer.status();
  const Layout& ly = yDesc->layout;
  const double a = layer.scalar(alpha, ly);
  layer.writes("tensor y", ly, y, 1);
  return layer.run(static_cast<double>(ly.count()), [=] {
    with_type(ly, [&](auto zero) {
      using T = decltype(zero);
      store_dense(ly, view(y), load_dense<T>(ly, view(y)), a, 0);
    });
  });
}

cudnnStatus_t cudnnActivationForward(cudnnHandle_t handle,
                                     cudnnActivationDescriptor_t activationDesc, const void* alpha,
                                     const cudnnTensorDescriptor_t xDesc, const void* x,
                                     const void* beta, const cudnnTensorDescriptor_t yDesc,
                                     void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnActivationForward);
  if (activationDesc == nullptr || !activationDesc->set) return CUDNN_STATUS_BAD_PARAM;
  return map(call, handle, alpha, xDesc, x, beta, yDesc, y,
             [activation = *activationDesc](auto value) { return activate(activation, value); });
}

cudnnStatus_t cudnnActivationBackward(cudnnHandle_t handle,
                                      cudnnActivationDescriptor_t activationDesc, const void* alpha,
                                      const cudnnTensorDescriptor_t yDesc, const void* y,
                                      const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                      const cudnnTensorDescriptor_t xDesc, const void* x,
                                      const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                      void* dx) {
  WARPLINGS_LIBRARY_CALL(cudnnActivationBackward);
  LayerCall layer(call, handle);
  layer.require(activationDesc != nullptr && activationDesc->set, CUDNN_STATUS_BAD_PARAM,
                "the activation descriptor is not set");
  require_alike(&layer, {yDesc, dyDesc, xDesc, dxDesc}, CUDNN_STATUS_NOT_SUPPORTED);
  if (!layer.ok()) return layer.status();
  const Layout &ly = yDesc->layout, &lg = dyDesc->layout, &lx = xDesc->layout, &lo = dxDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("output y", ly, y);
  layer.reads("gradient dy", lg, dy);
  layer.reads("input x", lx, x);
  layer.writes("gradient dx", lo, dx, b);
  return layer.run(3.0 * static_cast<double>(lx.count()), [=, activation = *activationDesc] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> in = load_dense<T>(lx, view(x)), out = load_dense<T>(ly, view(y));
      std::vector<T> gradient = load_dense<T>(lg, view(dy));
      for (size_t i = 0; i < in.size(); ++i) {
        gradient[i] *= activation_slope(activation, in[i], out[i]);
      }
      store_dense(lo, view(dx), gradient, a, b);
    });
  });
}

cudnnStatus_t cudnnSoftmaxForward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                  cudnnSoftmaxMode_t mode, const void* alpha,
                                  const cudnnTensorDescriptor_t xDesc, const void* x,
                                  const void* beta, const cudnnTensorDescriptor_t yDesc, void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnSoftmaxForward);
  LayerCall layer(call, handle);
  layer.require(is_softmax(algo, mode), CUDNN_STATUS_BAD_PARAM, "there is no such softmax");
  require_alike(&layer, {xDesc, yDesc});
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &ly = yDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.writes("output y", ly, y, b);
  return layer.run(5.0 * static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> values = load_dense<T>(lx, view(x));
      softmax(lines_of(lx, mode), algo, &values);
      store_dense(ly, view(y), values, a, b);
    });
  });
}

cudnnStatus_t cudnnSoftmaxBackward(cudnnHandle_t handle, cudnnSoftmaxAlgorithm_t algo,
                                   cudnnSoftmaxMode_t mode, const void* alpha,
                                   const cudnnTensorDescriptor_t yDesc, const void* y,
                                   const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                   const void* beta, const cudnnTensorDescriptor_t dxDesc,
                                   void* dx) {
  WARPLINGS_LIBRARY_CALL(cudnnSoftmaxBackward);
  LayerCall layer(call, handle);
  layer.require(is_softmax(algo, mode), CUDNN_STATUS_BAD_PARAM, "there is no such softmax");
  require_alike(&layer, {yDesc, dyDesc, dxDesc});
  if (!layer.ok()) return layer.status();
  const Layout &ly = yDesc->layout, &lg = dyDesc->layout, &lx = dxDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("output y", ly, y);
  layer.reads("gradient dy", lg, dy);
  layer.writes("gradient dx", lx, dx, b);
  return layer.run(4.0 * static_cast<double>(lx.count()), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> gradient = load_dense<T>(lg, view(dy));
      softmax_back(lines_of(ly, mode), algo, load_dense<T>(ly, view(y)), &gradient);
      store_dense(lx, view(dx), gradient, a, b);
    });
  });
}

}  // extern "C"

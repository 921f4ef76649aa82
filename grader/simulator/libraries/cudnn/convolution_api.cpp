// cuDNN's convolution functions: sizes, algorithms, the call forward and its three gradients.
#include <algorithm>
#include <memory>
#include <vector>

#include "cudnn/activation.h"
#include "cudnn/convolution.h"

using namespace warplings::libraries;

namespace {

// ---- algorithms

struct Choice {
  Method method;
  bool deterministic;
};

Choice choice_of(cudnnConvolutionFwdAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM:
      return {Method::kImplicit, true};
    case CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM:
      return {Method::kPrecomputed, true};
    case CUDNN_CONVOLUTION_FWD_ALGO_GEMM:
      return {Method::kGemm, true};
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT:
      return {Method::kFft, true};
    case CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING:
      return {Method::kFftTiling, true};
    case CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED:
      return {Method::kWinograd, true};
    default:  // DIRECT and the fused WINOGRAD: not on the reference card either
      return {Method::kNone, true};
  }
}

Choice choice_of(cudnnConvolutionBwdDataAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_0:
      return {Method::kImplicit, false};
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_1:
      return {Method::kPrecomputed, true};
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT:
      return {Method::kFft, true};
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING:
      return {Method::kFftTiling, true};
    case CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED:
      return {Method::kWinograd, true};
    default:
      return {Method::kNone, true};
  }
}

Choice choice_of(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  switch (algorithm) {
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0:
      return {Method::kImplicit, false};
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1:
      return {Method::kPrecomputed, true};
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3:
      return {Method::kPrecomputed, false};
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT:
      return {Method::kFft, true};
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT_TILING:
      return {Method::kFftTiling, true};
    case CUDNN_CONVOLUTION_BWD_FILTER_ALGO_WINOGRAD_NONFUSED:
      return {Method::kWinograd, true};
    default:
      return {Method::kNone, true};
  }
}

// The three descriptors of a convolution that fit together.
struct Descriptors {
  const cudnnTensorStruct* x;
  const cudnnFilterStruct* w;
  const cudnnConvolutionStruct* how;
  const cudnnTensorStruct* y;

  bool are_set() const {
    return x != nullptr && w != nullptr && how != nullptr && y != nullptr && x->layout.is_set() &&
           w->layout.is_set() && y->layout.is_set();
  }
  ConvolutionShape shape() const { return {x->layout, w->layout, *how}; }
  bool fit() const {
    if (!are_set() || x->layout.type != w->layout.type) return false;
    const ConvolutionShape t = shape();
    return t.is_valid() && t.gives(y->layout);
  }
};

template <class Algorithm>
cudnnStatus_t get_workspace(cudnnHandle_t handle, const Descriptors& d, Algorithm algorithm,
                            size_t* bytes) {
  if (!is_live(handle) || bytes == nullptr || !d.fit()) return CUDNN_STATUS_BAD_PARAM;
  const Method method = choice_of(algorithm).method;
  if (!is_supported(d.shape(), method)) return CUDNN_STATUS_NOT_SUPPORTED;
  *bytes = workspace_bytes(d.shape(), method);
  return CUDNN_STATUS_SUCCESS;
}

// Modelled milliseconds on an H200: what tensors and workspace move at the bandwidth of the card,
// and the operations at the share of its fp32 rate that an algorithm of this kind reaches. Winograd
// and Fourier need fewer operations than the definition.
double modelled_milliseconds(const ConvolutionShape& shape, Method method, double tensor_bytes) {
  constexpr double kBytesPerMillisecond = 4.2e9, kOperationsPerMillisecond = 4e10;
  const auto taps = static_cast<double>(shape.r * shape.s);
  double effort = 1.0;  // of the precomputed implicit product
  if (method == Method::kImplicit) effort = 1.5;
  if (method == Method::kGemm) effort = 1.2;
  if (method == Method::kWinograd) effort = 0.5;
  if (method == Method::kFft || method == Method::kFftTiling) effort = 12.0 / taps;
  const double moved = tensor_bytes + 2.0 * static_cast<double>(workspace_bytes(shape, method));
  return moved / kBytesPerMillisecond + shape.operations() * effort / kOperationsPerMillisecond;
}

// Usable algorithms first, the one with the least modelled time in front; then the others. A
// heuristic reports no times, a search reports those.
template <class Perf, class Algorithm>
cudnnStatus_t list_algorithms(cudnnHandle_t handle, const Descriptors& d, int count, bool search,
                              int requested, int* returned, Perf* results) {
  if (!is_live(handle) || returned == nullptr || results == nullptr || requested < 0 || !d.fit()) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  const ConvolutionShape shape = d.shape();
  const auto tensor_bytes = [](const Layout& layout) {
    return static_cast<double>(layout.count()) * static_cast<double>(size_of(layout.type));
  };
  const double least =
      tensor_bytes(d.x->layout) + tensor_bytes(d.w->layout) + tensor_bytes(d.y->layout);
  std::vector<Perf> all;
  for (int i = 0; i < count; ++i) {
    Perf perf{};
    perf.algo = static_cast<Algorithm>(i);
    const Choice choice = choice_of(perf.algo);
    const bool usable = is_supported(shape, choice.method);
    perf.status = usable ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED;
    perf.memory = usable ? workspace_bytes(shape, choice.method) : 0;
    perf.determinism = choice.deterministic ? CUDNN_DETERMINISTIC : CUDNN_NON_DETERMINISTIC;
    perf.mathType = d.how->math;
    perf.time =
        usable ? static_cast<float>(modelled_milliseconds(shape, choice.method, least)) : -1;
    all.push_back(perf);
  }
  std::stable_sort(all.begin(), all.end(), [](const Perf& a, const Perf& b) {
    const bool a_works = a.status == CUDNN_STATUS_SUCCESS,
               b_works = b.status == CUDNN_STATUS_SUCCESS;
    return a_works != b_works ? a_works : a.time < b.time;
  });
  if (wsim_library_lists_are_turned() != 0) std::reverse(all.begin(), all.end());
  if (!search) {
    for (Perf& perf : all) perf.time = -1;
  }
  *returned = std::min(requested, count);
  std::copy_n(all.begin(), *returned, results);
  return CUDNN_STATUS_SUCCESS;
}

// Checks that all three directions share; 0 bytes if the call may not run.
size_t check(LayerCall* call, const Descriptors& d, Method method, const void* workspace,
             size_t bytes) {
  call->require(d.are_set(), CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or not set");
  if (!call->ok()) return 0;
  call->require(d.how->set, CUDNN_STATUS_BAD_PARAM, "the convolution descriptor is not set");
  call->require(d.x->layout.type == d.w->layout.type && d.x->layout.type == d.y->layout.type,
                CUDNN_STATUS_BAD_PARAM, "input, filter and output hold different types");
  const ConvolutionShape shape = d.shape();
  call->require(shape.is_valid(), CUDNN_STATUS_BAD_PARAM,
                "channels of input and filter, groups, or sizes do not fit together");
  call->require(shape.gives(d.y->layout), CUDNN_STATUS_BAD_PARAM,
                "the output has another size than cudnnGetConvolution2dForwardOutputDim says");
  call->require(is_supported(shape, method), CUDNN_STATUS_NOT_SUPPORTED,
                "the algorithm does not support this convolution");
  if (!call->ok()) return 0;
  const size_t needed = workspace_bytes(shape, method);
  call->require(bytes >= needed && (needed == 0 || workspace != nullptr), CUDNN_STATUS_BAD_PARAM,
                "the workspace is smaller than cudnnGetConvolution...WorkspaceSize says");
  return needed;
}

Descriptors descriptors(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                        cudnnConvolutionDescriptor_t how, cudnnTensorDescriptor_t y) {
  return {x, w, how, y};
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnGetConvolution2dForwardOutputDim(const cudnnConvolutionDescriptor_t convDesc,
                                                    const cudnnTensorDescriptor_t inputTensorDesc,
                                                    const cudnnFilterDescriptor_t filterDesc,
                                                    int* n, int* c, int* h, int* w) {
  if (convDesc == nullptr || inputTensorDesc == nullptr || filterDesc == nullptr || n == nullptr ||
      c == nullptr || h == nullptr || w == nullptr) {
    return CUDNN_STATUS_BAD_PARAM;
  }
  // cuDNN 9 divides by the stride that nobody has set, and the program ends.
  if (!convDesc->set) return CUDNN_STATUS_BAD_PARAM;
  const ConvolutionShape shape(inputTensorDesc->layout, filterDesc->layout, *convDesc);
  if (!shape.is_valid()) return CUDNN_STATUS_BAD_PARAM;
  *n = static_cast<int>(shape.n);
  *c = static_cast<int>(shape.k);
  *h = static_cast<int>(shape.out_h);
  *w = static_cast<int>(shape.out_w);
  return CUDNN_STATUS_SUCCESS;
}

#define WARPLINGS_ALGORITHMS(direction, kind, count_of, A, B, C, ordered)                          \
  cudnnStatus_t cudnnGetConvolution##direction##AlgorithmMaxCount(cudnnHandle_t handle,            \
                                                                  int* count) {                    \
    if (!is_live(handle) || count == nullptr) return CUDNN_STATUS_BAD_PARAM;                       \
    *count = count_of;                                                                             \
    return CUDNN_STATUS_SUCCESS;                                                                   \
  }                                                                                                \
  cudnnStatus_t cudnnGetConvolution##direction##Algorithm_v7(                                      \
      cudnnHandle_t handle, A a, B b, const cudnnConvolutionDescriptor_t convDesc, C c,            \
      const int requestedAlgoCount, int* returnedAlgoCount,                                        \
      cudnnConvolution##kind##AlgoPerf_t* perfResults) {                                           \
    WARPLINGS_MAY_FAIL(cudnnGetConvolution##direction##Algorithm_v7, CUDNN_STATUS_INTERNAL_ERROR); \
    return list_algorithms<cudnnConvolution##kind##AlgoPerf_t, cudnnConvolution##kind##Algo_t>(    \
        handle, ordered, count_of, false, requestedAlgoCount, returnedAlgoCount, perfResults);     \
  }                                                                                                \
  cudnnStatus_t cudnnFindConvolution##direction##Algorithm(                                        \
      cudnnHandle_t handle, A a, B b, const cudnnConvolutionDescriptor_t convDesc, C c,            \
      const int requestedAlgoCount, int* returnedAlgoCount,                                        \
      cudnnConvolution##kind##AlgoPerf_t* perfResults) {                                           \
    WARPLINGS_MAY_FAIL(cudnnFindConvolution##direction##Algorithm, CUDNN_STATUS_INTERNAL_ERROR);   \
    return list_algorithms<cudnnConvolution##kind##AlgoPerf_t, cudnnConvolution##kind##Algo_t>(    \
        handle, ordered, count_of, true, requestedAlgoCount, returnedAlgoCount, perfResults);      \
  }                                                                                                \
  cudnnStatus_t cudnnGetConvolution##direction##WorkspaceSize(                                     \
      cudnnHandle_t handle, A a, B b, const cudnnConvolutionDescriptor_t convDesc, C c,            \
      cudnnConvolution##kind##Algo_t algo, size_t* sizeInBytes) {                                  \
    WARPLINGS_MAY_FAIL(cudnnGetConvolution##direction##WorkspaceSize,                              \
                       CUDNN_STATUS_INTERNAL_ERROR);                                               \
    return get_workspace(handle, ordered, algo, sizeInBytes);                                      \
  }
WARPLINGS_ALGORITHMS(Forward, Fwd, CUDNN_CONVOLUTION_FWD_ALGO_COUNT, const cudnnTensorDescriptor_t,
                     const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
                     descriptors(a, b, convDesc, c))
WARPLINGS_ALGORITHMS(BackwardData, BwdData, CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT,
                     const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t,
                     const cudnnTensorDescriptor_t, descriptors(c, a, convDesc, b))
WARPLINGS_ALGORITHMS(BackwardFilter, BwdFilter, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT,
                     const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t,
                     const cudnnFilterDescriptor_t, descriptors(a, c, convDesc, b))
#undef WARPLINGS_ALGORITHMS

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      const cudnnTensorDescriptor_t xDesc, const void* x,
                                      const cudnnFilterDescriptor_t wDesc, const void* w,
                                      const cudnnConvolutionDescriptor_t convDesc,
                                      cudnnConvolutionFwdAlgo_t algo, void* workSpace,
                                      size_t workSpaceSizeInBytes, const void* beta,
                                      const cudnnTensorDescriptor_t yDesc, void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnConvolutionForward);
  LayerCall layer(call, handle);
  const Descriptors d = descriptors(xDesc, wDesc, convDesc, yDesc);
  layer.require(x != nullptr && w != nullptr && y != nullptr, CUDNN_STATUS_BAD_PARAM,
                "x, w and y are not null");
  const size_t used = check(&layer, d, choice_of(algo).method, workSpace, workSpaceSizeInBytes);
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &lw = wDesc->layout, &ly = yDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.reads("filter w", lw, w);
  layer.writes("output y", ly, y, b);
  layer.workspace(workSpace, used);
  const ConvolutionShape shape = d.shape();
  return layer.run(shape.operations(), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> out(static_cast<size_t>(ly.count()));
      convolve(shape, load_dense<T>(lx, view(x)), load_dense<T>(lw, view(w)), &out);
      store_dense(ly, view(y), out, a, b);
    });
  });
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, const cudnnTensorDescriptor_t xDesc, const void* x,
    const cudnnFilterDescriptor_t wDesc, const void* w, const cudnnConvolutionDescriptor_t convDesc,
    cudnnConvolutionFwdAlgo_t algo, void* workSpace, size_t workSpaceSizeInBytes,
    const void* alpha2, const cudnnTensorDescriptor_t zDesc, const void* z,
    const cudnnTensorDescriptor_t biasDesc, const void* bias,
    const cudnnActivationDescriptor_t activationDesc, const cudnnTensorDescriptor_t yDesc,
    void* y) {
  WARPLINGS_LIBRARY_CALL(cudnnConvolutionBiasActivationForward);
  LayerCall layer(call, handle);
  const Descriptors d = descriptors(xDesc, wDesc, convDesc, yDesc);
  const size_t used = check(&layer, d, choice_of(algo).method, workSpace, workSpaceSizeInBytes);
  layer.require(
      zDesc != nullptr && biasDesc != nullptr && activationDesc != nullptr && activationDesc->set,
      CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or not set");
  if (!layer.ok()) return layer.status();
  layer.require(activationDesc->mode == CUDNN_ACTIVATION_RELU ||
                    activationDesc->mode == CUDNN_ACTIVATION_IDENTITY,
                CUDNN_STATUS_NOT_SUPPORTED, "the activation is ReLU or the identity");
  layer.require(
      zDesc->layout.same_size(yDesc->layout) && biasDesc->layout.count() == yDesc->layout.size[1],
      CUDNN_STATUS_BAD_PARAM, "z is as large as y, and bias has a value per channel");
  const Layout &lx = xDesc->layout, &lw = wDesc->layout, &ly = yDesc->layout, &lz = zDesc->layout,
               &lb = biasDesc->layout;
  const double a1 = layer.scalar(alpha1, lx), a2 = layer.scalar(alpha2, lx);
  layer.reads("input x", lx, x);
  layer.reads("filter w", lw, w);
  layer.reads("bias", lb, bias);
  if (a2 != 0) layer.reads("addend z", lz, z);
  layer.writes("output y", ly, y, 0);
  layer.workspace(workSpace, used);
  const ConvolutionShape shape = d.shape();
  return layer.run(shape.operations(), [=, activation = *activationDesc] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> out(static_cast<size_t>(ly.count())), addend;
      convolve(shape, load_dense<T>(lx, view(x)), load_dense<T>(lw, view(w)), &out);
      const std::vector<T> biases = load_dense<T>(lb, view(bias));
      if (a2 != 0) addend = load_dense<T>(lz, view(z));
      const int64_t plane = shape.out_h * shape.out_w;
      for (size_t i = 0; i < out.size(); ++i) {
        const auto channel = static_cast<size_t>(static_cast<int64_t>(i) / plane % shape.k);
        T value = static_cast<T>(a1) * out[i] + biases[channel];
        if (a2 != 0) value += static_cast<T>(a2) * addend[i];
        out[i] = activate(activation, value);
      }
      store_dense(ly, view(y), out, 1, 0);
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           const cudnnFilterDescriptor_t wDesc, const void* w,
                                           const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                           const cudnnConvolutionDescriptor_t convDesc,
                                           cudnnConvolutionBwdDataAlgo_t algo, void* workSpace,
                                           size_t workSpaceSizeInBytes, const void* beta,
                                           const cudnnTensorDescriptor_t dxDesc, void* dx) {
  WARPLINGS_LIBRARY_CALL(cudnnConvolutionBackwardData);
  LayerCall layer(call, handle);
  const Descriptors d = descriptors(dxDesc, wDesc, convDesc, dyDesc);
  const size_t used = check(&layer, d, choice_of(algo).method, workSpace, workSpaceSizeInBytes);
  if (!layer.ok()) return layer.status();
  const Layout &lx = dxDesc->layout, &lw = wDesc->layout, &ly = dyDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("filter w", lw, w);
  layer.reads("gradient dy", ly, dy);
  layer.writes("gradient dx", lx, dx, b);
  layer.workspace(workSpace, used);
  const ConvolutionShape shape = d.shape();
  return layer.run(shape.operations(), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> out(static_cast<size_t>(lx.count()));
      convolve_back_to_data(shape, load_dense<T>(lw, view(w)), load_dense<T>(ly, view(dy)), &out);
      store_dense(lx, view(dx), out, a, b);
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             const cudnnTensorDescriptor_t xDesc, const void* x,
                                             const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                             const cudnnConvolutionDescriptor_t convDesc,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void* workSpace,
                                             size_t workSpaceSizeInBytes, const void* beta,
                                             const cudnnFilterDescriptor_t dwDesc, void* dw) {
  WARPLINGS_LIBRARY_CALL(cudnnConvolutionBackwardFilter);
  LayerCall layer(call, handle);
  const Descriptors d = descriptors(xDesc, dwDesc, convDesc, dyDesc);
  const size_t used = check(&layer, d, choice_of(algo).method, workSpace, workSpaceSizeInBytes);
  if (!layer.ok()) return layer.status();
  const Layout &lx = xDesc->layout, &lw = dwDesc->layout, &ly = dyDesc->layout;
  const double a = layer.scalar(alpha, lx), b = layer.scalar(beta, lx);
  layer.reads("input x", lx, x);
  layer.reads("gradient dy", ly, dy);
  layer.writes("gradient dw", lw, dw, b);
  layer.workspace(workSpace, used);
  const ConvolutionShape shape = d.shape();
  return layer.run(shape.operations(), [=] {
    with_type(lx, [&](auto zero) {
      using T = decltype(zero);
      std::vector<T> out(static_cast<size_t>(lw.count()));
      convolve_back_to_filter(shape, load_dense<T>(lx, view(x)), load_dense<T>(ly, view(dy)), &out);
      store_dense(lw, view(dw), out, a, b);
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           const cudnnTensorDescriptor_t dyDesc, const void* dy,
                                           const void* beta, const cudnnTensorDescriptor_t dbDesc,
                                           void* db) {
  WARPLINGS_LIBRARY_CALL(cudnnConvolutionBackwardBias);
  LayerCall layer(call, handle);
  layer.require(
      dyDesc != nullptr && dbDesc != nullptr && dyDesc->layout.is_set() && dbDesc->layout.is_set(),
      CUDNN_STATUS_BAD_PARAM, "a descriptor is missing or not set");
  if (!layer.ok()) return layer.status();
  const Layout &ly = dyDesc->layout, &lb = dbDesc->layout;
  layer.require(lb.size[1] == ly.size[1] && lb.count() == lb.size[1], CUDNN_STATUS_BAD_PARAM,
                "db is 1 x channels x 1 x 1");
  const double a = layer.scalar(alpha, ly), b = layer.scalar(beta, ly);
  layer.reads("gradient dy", ly, dy);
  layer.writes("gradient db", lb, db, b);
  return layer.run(static_cast<double>(ly.count()), [=] {
    with_type(ly, [&](auto zero) {
      using T = decltype(zero);
      const std::vector<T> values = load_dense<T>(ly, view(dy));
      const auto channels = static_cast<size_t>(ly.size[1]);
      const size_t plane = values.size() / static_cast<size_t>(ly.size[0]) / channels;
      std::vector<double> sums(channels);
      for (size_t i = 0; i < values.size(); ++i) {
        sums[i / plane % channels] += static_cast<double>(values[i]);
      }
      store_dense(lb, view(db), std::vector<T>(sums.begin(), sums.end()), a, b);
    });
  });
}

}  // extern "C"

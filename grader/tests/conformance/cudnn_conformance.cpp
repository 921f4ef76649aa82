// cuDNN's calls on descriptors: layouts, convolutions in both modes with all gradients, pooling,
// activations, softmax, batch normalisation, and bad arguments.
#include <cudnn.h>

#include <algorithm>
#include <functional>
#include <string>

#include "conformance.h"

using conformance::Device;
using conformance::random_floats;
using conformance::relative_error;
using conformance::right;
using conformance::status;

namespace {

cudnnHandle_t handle = nullptr;
const float kOne = 1, kZero = 0;

// n x c x h x w numbers.
struct Shape {
  int n, c, h, w;
  size_t size() const { return static_cast<size_t>(n) * c * h * w; }
  size_t nchw(int i, int j, int k, int l) const {
    return ((static_cast<size_t>(i) * c + j) * h + k) * w + l;
  }
  size_t nhwc(int i, int j, int k, int l) const {
    return ((static_cast<size_t>(i) * h + k) * w + l) * c + j;
  }
};

class Tensor {
 public:
  explicit Tensor(const Shape& s, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW) {
    cudnnCreateTensorDescriptor(&descriptor_);
    cudnnSetTensor4dDescriptor(descriptor_, format, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w);
  }
  ~Tensor() { cudnnDestroyTensorDescriptor(descriptor_); }
  cudnnTensorDescriptor_t get() const { return descriptor_; }

 private:
  cudnnTensorDescriptor_t descriptor_ = nullptr;
};

class Filter {
 public:
  explicit Filter(const Shape& s, cudnnTensorFormat_t format = CUDNN_TENSOR_NCHW) {
    cudnnCreateFilterDescriptor(&descriptor_);
    cudnnSetFilter4dDescriptor(descriptor_, CUDNN_DATA_FLOAT, format, s.n, s.c, s.h, s.w);
  }
  ~Filter() { cudnnDestroyFilterDescriptor(descriptor_); }
  cudnnFilterDescriptor_t get() const { return descriptor_; }

 private:
  cudnnFilterDescriptor_t descriptor_ = nullptr;
};

struct Geometry {
  int pad, stride, dilation, groups;
  cudnnConvolutionMode_t mode;
};

// Calls visit(index of x, index of w, index of y) for every product of a convolution.
void for_each_product(const Shape& x, const Shape& w, const Shape& y, const Geometry& g,
                      const std::function<void(size_t, size_t, size_t)>& visit) {
  const int group_out = y.c / g.groups;
  for (int n = 0; n < y.n; ++n) {
    for (int k = 0; k < y.c; ++k) {
      for (int i = 0; i < y.h; ++i) {
        for (int j = 0; j < y.w; ++j) {
          for (int c = 0; c < w.c; ++c) {
            for (int r = 0; r < w.h; ++r) {
              for (int s = 0; s < w.w; ++s) {
                const int row = i * g.stride - g.pad + r * g.dilation;
                const int column = j * g.stride - g.pad + s * g.dilation;
                if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
                const bool turned = g.mode == CUDNN_CONVOLUTION;
                visit(x.nchw(n, k / group_out * w.c + c, row, column),
                      w.nchw(k, c, turned ? w.h - 1 - r : r, turned ? w.w - 1 - s : s),
                      y.nchw(n, k, i, j));
              }
            }
          }
        }
      }
    }
  }
}

template <class Status>
void workspace(const char* name, Status code, size_t bytes) {
  status((std::string(name) + " workspace").c_str(), code);
  if (bytes > size_t{1} << 30) std::printf("%s: more than a gigabyte of workspace\n", name);
}

void convolution(const char* name, const Shape& x, const Shape& w, const Geometry& g) {
  Tensor dx(x);
  Filter dw(w);
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnCreateConvolutionDescriptor(&convolution);
  status(name, cudnnSetConvolution2dDescriptor(convolution, g.pad, g.pad, g.stride, g.stride,
                                               g.dilation, g.dilation, g.mode, CUDNN_DATA_FLOAT));
  status("groups", cudnnSetConvolutionGroupCount(convolution, g.groups));
  status("math", cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH));
  Shape y{};
  status("output size", cudnnGetConvolution2dForwardOutputDim(convolution, dx.get(), dw.get(), &y.n,
                                                              &y.c, &y.h, &y.w));
  std::printf("%s: %d x %d x %d x %d\n", name, y.n, y.c, y.h, y.w);
  Tensor dy(y);
  const std::vector<float> hx = random_floats(x.size(), 1), hw = random_floats(w.size(), 2),
                           hy = random_floats(y.size(), 3);
  Device<float> xs(hx), ws(hw), ys(hy), gradient(hy), to_x(x.size()), to_w(w.size());
  std::vector<double> forward(y.size()), back_x(x.size()), back_w(w.size());
  for_each_product(x, w, y, g, [&](size_t a, size_t b, size_t c) {
    forward[c] += static_cast<double>(hx[a]) * hw[b];
    back_x[a] += static_cast<double>(hy[c]) * hw[b];
    back_w[b] += static_cast<double>(hy[c]) * hx[a];
  });
  size_t bytes = 0;
  const auto algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  workspace(name,
            cudnnGetConvolutionForwardWorkspaceSize(handle, dx.get(), dw.get(), convolution,
                                                    dy.get(), algorithm, &bytes),
            bytes);
  Device<char> space(bytes + (64 << 20));
  const float alpha = 2, beta = -0.5F;
  status("forward", cudnnConvolutionForward(handle, &alpha, dx.get(), xs.get(), dw.get(), ws.get(),
                                            convolution, algorithm, space.get(), bytes, &beta,
                                            dy.get(), ys.get()));
  for (size_t i = 0; i < forward.size(); ++i) forward[i] = 2 * forward[i] - 0.5 * hy[i];
  right((std::string(name) + " forward").c_str(), relative_error(ys.host(), forward), 1e-6);
  const auto data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
  workspace("data",
            cudnnGetConvolutionBackwardDataWorkspaceSize(handle, dw.get(), dy.get(), convolution,
                                                         dx.get(), data, &bytes),
            bytes);
  status("backward data", cudnnConvolutionBackwardData(
                              handle, &kOne, dw.get(), ws.get(), dy.get(), gradient.get(),
                              convolution, data, space.get(), bytes, &kZero, dx.get(), to_x.get()));
  right((std::string(name) + " data").c_str(), relative_error(to_x.host(), back_x), 1e-6);
  const auto filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  workspace("filter",
            cudnnGetConvolutionBackwardFilterWorkspaceSize(handle, dx.get(), dy.get(), convolution,
                                                           dw.get(), filter, &bytes),
            bytes);
  status("backward filter",
         cudnnConvolutionBackwardFilter(handle, &kOne, dx.get(), xs.get(), dy.get(), gradient.get(),
                                        convolution, filter, space.get(), bytes, &kZero, dw.get(),
                                        to_w.get()));
  right((std::string(name) + " filter").c_str(), relative_error(to_w.host(), back_w), 1e-6);
  cudnnDestroyConvolutionDescriptor(convolution);
}

void convolutions() {
  const auto cross = CUDNN_CROSS_CORRELATION;
  convolution("valid", {2, 3, 9, 11}, {4, 3, 3, 3}, {0, 1, 1, 1, cross});
  convolution("padded", {2, 3, 9, 11}, {4, 3, 3, 5}, {2, 1, 1, 1, cross});
  convolution("strided", {2, 3, 10, 11}, {5, 3, 3, 3}, {1, 2, 1, 1, cross});
  convolution("dilated", {1, 2, 12, 13}, {3, 2, 3, 3}, {2, 1, 2, 1, cross});
  convolution("turned filter", {2, 3, 8, 7}, {4, 3, 3, 2}, {1, 1, 1, 1, CUDNN_CONVOLUTION});
  convolution("two groups", {2, 4, 8, 8}, {6, 2, 3, 3}, {1, 1, 1, 2, cross});
  convolution("1 x 1", {3, 8, 5, 5}, {7, 8, 1, 1}, {0, 1, 1, 1, cross});
}

void algorithms() {
  const Shape x{4, 8, 14, 14}, w{8, 8, 3, 3}, y{4, 8, 14, 14};
  Tensor dx(x), dy(y);
  Filter dw(w);
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnCreateConvolutionDescriptor(&convolution);
  cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0, usable = 0;
  status("most algorithms", cudnnGetConvolutionForwardAlgorithmMaxCount(handle, &count));
  std::printf("at least as many as names: %d\n", count >= CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
  status("algorithms",
         cudnnGetConvolutionForwardAlgorithm_v7(handle, dx.get(), dw.get(), convolution, dy.get(),
                                                CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found));
  for (int i = 0; i < count; ++i) usable += found[i].status == CUDNN_STATUS_SUCCESS;
  std::printf("usable ones first: %d, several: %d\n", found[0].status == CUDNN_STATUS_SUCCESS,
              usable > 1);
  status("one algorithm", cudnnGetConvolutionForwardAlgorithm_v7(
                              handle, dx.get(), dw.get(), convolution, dy.get(), 1, &count, found));
  std::printf("one: %d\n", count);
  status("no algorithm", cudnnGetConvolutionForwardAlgorithm_v7(
                             handle, dx.get(), dw.get(), convolution, dy.get(), 0, &count, found));
  const std::vector<float> hx = random_floats(x.size(), 4), hw = random_floats(w.size(), 5);
  Device<float> xs(hx), ws(hw), ys(y.size());
  std::vector<double> want(y.size());
  for_each_product(
      x, w, y, {1, 1, 1, 1, CUDNN_CROSS_CORRELATION},
      [&](size_t a, size_t b, size_t c) { want[c] += static_cast<double>(hx[a]) * hw[b]; });
  for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++i) {
    const auto algorithm = static_cast<cudnnConvolutionFwdAlgo_t>(i);
    const std::string name = "algorithm " + std::to_string(i);
    size_t bytes = 0;
    const int code = cudnnGetConvolutionForwardWorkspaceSize(
        handle, dx.get(), dw.get(), convolution, dy.get(), algorithm, &bytes);
    std::printf("%s: supported %d\n", name.c_str(), code == CUDNN_STATUS_SUCCESS);
    if (code != CUDNN_STATUS_SUCCESS) continue;
    Device<char> space(bytes + 1);
    cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH);
    status(name.c_str(), cudnnConvolutionForward(handle, &kOne, dx.get(), xs.get(), dw.get(),
                                                 ws.get(), convolution, algorithm, space.get(),
                                                 bytes, &kZero, dy.get(), ys.get()));
    right(name.c_str(), relative_error(ys.host(), want), 1e-5);
  }
  cudnnDestroyConvolutionDescriptor(convolution);
}

void layouts() {
  const Shape x{2, 4, 6, 5}, w{3, 4, 3, 3}, y{2, 3, 6, 5};
  Tensor nchw(x), nhwc(x, CUDNN_TENSOR_NHWC), out(y, CUDNN_TENSOR_NHWC);
  const std::vector<float> hx = random_floats(x.size(), 6);
  Device<float> from(hx), to(x.size());
  status("to nhwc",
         cudnnTransformTensor(handle, &kOne, nchw.get(), from.get(), &kZero, nhwc.get(), to.get()));
  std::vector<float> want(x.size());
  for (int n = 0; n < x.n; ++n) {
    for (int c = 0; c < x.c; ++c) {
      for (int h = 0; h < x.h; ++h) {
        for (int i = 0; i < x.w; ++i) want[x.nhwc(n, c, h, i)] = hx[x.nchw(n, c, h, i)];
      }
    }
  }
  right("to nhwc", relative_error(to.host(), want), 0);

  Filter filter(w, CUDNN_TENSOR_NHWC);
  const std::vector<float> hw = random_floats(w.size(), 7);
  std::vector<float> krsc(w.size());
  for (int k = 0; k < w.n; ++k) {
    for (int c = 0; c < w.c; ++c) {
      for (int r = 0; r < w.h; ++r) {
        for (int s = 0; s < w.w; ++s) krsc[w.nhwc(k, c, r, s)] = hw[w.nchw(k, c, r, s)];
      }
    }
  }
  Device<float> ws(krsc), ys(y.size());
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnCreateConvolutionDescriptor(&convolution);
  cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH);
  const auto algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  status("nhwc",
         cudnnConvolutionForward(handle, &kOne, nhwc.get(), to.get(), filter.get(), ws.get(),
                                 convolution, algorithm, nullptr, 0, &kZero, out.get(), ys.get()));
  std::vector<double> products(y.size()), turned(y.size());
  for_each_product(
      x, w, y, {1, 1, 1, 1, CUDNN_CROSS_CORRELATION},
      [&](size_t a, size_t b, size_t c) { products[c] += static_cast<double>(hx[a]) * hw[b]; });
  for (int n = 0; n < y.n; ++n) {
    for (int c = 0; c < y.c; ++c) {
      for (int h = 0; h < y.h; ++h) {
        for (int i = 0; i < y.w; ++i) turned[y.nhwc(n, c, h, i)] = products[y.nchw(n, c, h, i)];
      }
    }
  }
  right("nhwc", relative_error(ys.host(), turned), 1e-6);
  cudnnDestroyConvolutionDescriptor(convolution);
}

void biases_and_tensors() {
  const Shape y{3, 4, 5, 6}, b{1, 4, 1, 1};
  Tensor dy(y), db(b);
  const std::vector<float> hy = random_floats(y.size(), 8), hb = random_floats(b.size(), 9);
  Device<float> ys(hy), bs(hb), sums(b.size());
  status("bias gradient", cudnnConvolutionBackwardBias(handle, &kOne, dy.get(), ys.get(), &kZero,
                                                       db.get(), sums.get()));
  std::vector<double> want(b.size()), added(y.size());
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t channel = i / 30 % 4;
    want[channel] += hy[i];
    added[i] = 2.0 * hb[channel] + 0.5 * hy[i];
  }
  right("bias gradient", relative_error(sums.host(), want), 1e-6);
  const float alpha = 2, beta = 0.5F;
  status("add", cudnnAddTensor(handle, &alpha, db.get(), bs.get(), &beta, dy.get(), ys.get()));
  right("add", relative_error(ys.host(), added), 1e-6);
  status("scale", cudnnScaleTensor(handle, dy.get(), ys.get(), &alpha));
  for (double& value : added) value *= 2;
  right("scale", relative_error(ys.host(), added), 1e-6);
  status("set", cudnnSetTensor(handle, dy.get(), ys.get(), &beta));
  right("set", relative_error(ys.host(), std::vector<double>(y.size(), 0.5)), 0);
}

void activations() {
  const Shape s{2, 3, 4, 5};
  Tensor d(s);
  std::vector<float> x = random_floats(s.size(), 10);
  for (float& value : x) value *= 4;
  const std::vector<float> g = random_floats(s.size(), 11);
  struct Kind {
    const char* name;
    cudnnActivationMode_t mode;
    double coefficient;
    double (*value)(double);
    double (*slope)(double);
  };
  const Kind kinds[] = {
      {"sigmoid", CUDNN_ACTIVATION_SIGMOID, 0, [](double v) { return 1 / (1 + std::exp(-v)); },
       [](double v) { return 1 / (1 + std::exp(-v)) / (1 + std::exp(v)); }},
      {"relu", CUDNN_ACTIVATION_RELU, 0, [](double v) { return v > 0 ? v : 0; },
       [](double v) { return v > 0 ? 1.0 : 0.0; }},
      {"tanh", CUDNN_ACTIVATION_TANH, 0, [](double v) { return std::tanh(v); },
       [](double v) { return 1 - std::tanh(v) * std::tanh(v); }},
      {"clipped relu", CUDNN_ACTIVATION_CLIPPED_RELU, 2,
       [](double v) { return std::min(2.0, v > 0 ? v : 0); },
       [](double v) { return v > 0 && v < 2 ? 1.0 : 0.0; }},
      {"elu", CUDNN_ACTIVATION_ELU, 1.5, [](double v) { return v > 0 ? v : 1.5 * std::expm1(v); },
       [](double v) { return v > 0 ? 1.0 : 1.5 * std::exp(v); }},
  };
  for (const Kind& kind : kinds) {
    cudnnActivationDescriptor_t activation = nullptr;
    cudnnCreateActivationDescriptor(&activation);
    status(kind.name, cudnnSetActivationDescriptor(activation, kind.mode, CUDNN_NOT_PROPAGATE_NAN,
                                                   kind.coefficient));
    Device<float> xs(x), ys(s.size()), gs(g), dx(s.size());
    status(kind.name, cudnnActivationForward(handle, activation, &kOne, d.get(), xs.get(), &kZero,
                                             d.get(), ys.get()));
    status(kind.name,
           cudnnActivationBackward(handle, activation, &kOne, d.get(), ys.get(), d.get(), gs.get(),
                                   d.get(), xs.get(), &kZero, d.get(), dx.get()));
    std::vector<double> value, slope;
    for (size_t i = 0; i < x.size(); ++i) {
      value.push_back(kind.value(x[i]));
      slope.push_back(kind.slope(x[i]) * g[i]);
    }
    right(kind.name, relative_error(ys.host(), value), 2e-6);
    right((std::string(kind.name) + " backward").c_str(), relative_error(dx.host(), slope), 1e-5);
    status("in place", cudnnActivationForward(handle, activation, &kOne, d.get(), xs.get(), &kZero,
                                              d.get(), xs.get()));
    right("in place", relative_error(xs.host(), value), 2e-6);
    cudnnDestroyActivationDescriptor(activation);
  }
}

void pooling() {
  const Shape x{2, 3, 7, 9};
  Tensor dx(x);
  const std::vector<float> hx = random_floats(x.size(), 12);
  for (const cudnnPoolingMode_t mode :
       {CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
        CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING}) {
    const std::string name = "pooling " + std::to_string(mode);
    const int window = 3, pad = 1, stride = 2;
    cudnnPoolingDescriptor_t pool = nullptr;
    cudnnCreatePoolingDescriptor(&pool);
    status(name.c_str(), cudnnSetPooling2dDescriptor(pool, mode, CUDNN_NOT_PROPAGATE_NAN, window,
                                                     window, pad, pad, stride, stride));
    Shape y{};
    status("size", cudnnGetPooling2dForwardOutputDim(pool, dx.get(), &y.n, &y.c, &y.h, &y.w));
    std::printf("%s: %d x %d x %d x %d\n", name.c_str(), y.n, y.c, y.h, y.w);
    Tensor dy(y);
    const std::vector<float> g = random_floats(y.size(), 13);
    Device<float> xs(hx), ys(y.size()), gs(g), back(x.size());
    status(name.c_str(), cudnnPoolingForward(handle, pool, &kOne, dx.get(), xs.get(), &kZero,
                                             dy.get(), ys.get()));
    std::vector<double> want(y.size()), want_back(x.size());
    for (size_t plane = 0; plane < static_cast<size_t>(x.n) * x.c; ++plane) {
      for (int i = 0; i < y.h; ++i) {
        for (int j = 0; j < y.w; ++j) {
          std::vector<size_t> inside;
          for (int r = i * stride - pad; r < i * stride - pad + window; ++r) {
            for (int s = j * stride - pad; s < j * stride - pad + window; ++s) {
              if (r >= 0 && r < x.h && s >= 0 && s < x.w) {
                inside.push_back((plane * x.h + r) * x.w + s);
              }
            }
          }
          const size_t to = (plane * y.h + i) * y.w + j;
          if (mode == CUDNN_POOLING_MAX) {
            const size_t best = *std::max_element(
                inside.begin(), inside.end(), [&](size_t a, size_t b) { return hx[a] < hx[b]; });
            want[to] = hx[best];
            want_back[best] += g[to];
            continue;
          }
          const double count = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                   ? window * window
                                   : static_cast<double>(inside.size());
          for (const size_t at : inside) {
            want[to] += hx[at] / count;
            want_back[at] += g[to] / count;
          }
        }
      }
    }
    right(name.c_str(), relative_error(ys.host(), want), 1e-6);
    status("backward",
           cudnnPoolingBackward(handle, pool, &kOne, dy.get(), ys.get(), dy.get(), gs.get(),
                                dx.get(), xs.get(), &kZero, dx.get(), back.get()));
    right("backward", relative_error(back.host(), want_back), 1e-6);
    cudnnDestroyPoolingDescriptor(pool);
  }
}

void softmax() {
  const Shape s{3, 5, 2, 4};
  Tensor d(s);
  std::vector<float> x = random_floats(s.size(), 14);
  for (float& value : x) value = value * 5 + 1000;
  const std::vector<float> g = random_floats(s.size(), 15);
  for (const cudnnSoftmaxMode_t mode : {CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL}) {
    for (const cudnnSoftmaxAlgorithm_t algorithm : {CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG}) {
      const std::string name =
          "softmax " + std::to_string(mode) + " algorithm " + std::to_string(algorithm);
      Device<float> xs(x), ys(s.size()), gs(g), back(s.size());
      status(name.c_str(), cudnnSoftmaxForward(handle, algorithm, mode, &kOne, d.get(), xs.get(),
                                               &kZero, d.get(), ys.get()));
      status(name.c_str(), cudnnSoftmaxBackward(handle, algorithm, mode, &kOne, d.get(), ys.get(),
                                                d.get(), gs.get(), &kZero, d.get(), back.get()));
      std::vector<double> want(s.size()), want_back(s.size());
      const size_t inner = mode == CUDNN_SOFTMAX_MODE_CHANNEL ? 8 : 1;
      const size_t length = mode == CUDNN_SOFTMAX_MODE_CHANNEL ? 5 : 40;
      for (size_t line = 0; line < s.size() / length; ++line) {
        const size_t base = line / inner * inner * length + line % inner;
        double largest = -HUGE_VAL, sum = 0, dot = 0, total = 0;
        for (size_t i = 0; i < length; ++i) {
          largest = std::max<double>(largest, x[base + i * inner]);
        }
        for (size_t i = 0; i < length; ++i) sum += std::exp(x[base + i * inner] - largest);
        for (size_t i = 0; i < length; ++i) {
          const size_t at = base + i * inner;
          const double share = std::exp(x[at] - largest) / sum;
          want[at] = algorithm == CUDNN_SOFTMAX_LOG ? x[at] - largest - std::log(sum) : share;
          dot += share * g[at];
          total += g[at];
        }
        for (size_t i = 0; i < length; ++i) {
          const size_t at = base + i * inner;
          const double share = std::exp(x[at] - largest) / sum;
          want_back[at] =
              algorithm == CUDNN_SOFTMAX_LOG ? g[at] - share * total : share * (g[at] - dot);
        }
      }
      right(name.c_str(), relative_error(ys.host(), want), 1e-5);
      right((name + " backward").c_str(), relative_error(back.host(), want_back), 1e-4);
    }
  }
}

// Training and its gradients, from the definition: 4 images of 3 channels of 30 pixels.
struct BatchNorm {
  static constexpr double kCount = 4 * 30;
  static size_t channel(size_t i) { return i / 30 % 3; }

  BatchNorm(const std::vector<float>& x, const std::vector<float>& g,
            const std::vector<float>& scale, const std::vector<float>& bias, double epsilon)
      : y(x.size()), dx(x.size()) {
    for (size_t i = 0; i < x.size(); ++i) mean[channel(i)] += x[i] / kCount;
    for (size_t i = 0; i < x.size(); ++i) {
      const double d = x[i] - mean[channel(i)];
      variance[channel(i)] += d * d / kCount;
    }
    for (size_t c = 0; c < 3; ++c) inverse[c] = 1 / std::sqrt(variance[c] + epsilon);
    const auto normal = [&](size_t i) { return (x[i] - mean[channel(i)]) * inverse[channel(i)]; };
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = channel(i);
      y[i] = scale[c] * normal(i) + bias[c];
      dbias[c] += g[i];
      dscale[c] += g[i] * normal(i);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t c = channel(i);
      dx[i] = scale[c] * inverse[c] * (g[i] - dbias[c] / kCount - normal(i) * dscale[c] / kCount);
    }
  }

  std::vector<double> y, dx;
  std::vector<double> mean = std::vector<double>(3), variance = mean, inverse = mean, dscale = mean,
                      dbias = mean;
};

void batch_norm() {
  const Shape s{4, 3, 5, 6};
  const double epsilon = 1e-5, factor = 0.25;
  Tensor d(s), parameters(Shape{1, 1, 1, 1});
  status("parameters of batch norm",
         cudnnDeriveBNTensorDescriptor(parameters.get(), d.get(), CUDNN_BATCHNORM_SPATIAL));
  std::vector<float> x = random_floats(s.size(), 16);
  for (float& value : x) value += 3;
  const std::vector<float> g = random_floats(s.size(), 17), scale = random_floats(3, 18),
                           bias = random_floats(3, 19), mean = random_floats(3, 20);
  const std::vector<float> variance = {0.5F, 1.5F, 2.5F};
  Device<float> xs(x), ys(s.size()), gs(g), back(s.size()), scales(scale), biases(bias),
      means(mean), variances(variance), saved_mean(3), saved_inverse(3), to_scale(3), to_bias(3);
  status("batch norm",
         cudnnBatchNormalizationForwardTraining(
             handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, d.get(), xs.get(), d.get(), ys.get(),
             parameters.get(), scales.get(), biases.get(), factor, means.get(), variances.get(),
             epsilon, saved_mean.get(), saved_inverse.get()));
  status("batch norm backward",
         cudnnBatchNormalizationBackward(
             handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, &kOne, &kZero, d.get(), xs.get(),
             d.get(), gs.get(), d.get(), back.get(), parameters.get(), scales.get(), to_scale.get(),
             to_bias.get(), epsilon, saved_mean.get(), saved_inverse.get()));
  BatchNorm want(x, g, scale, bias, epsilon);
  std::vector<double> running(3), running_variance(3);
  for (size_t c = 0; c < 3; ++c) {
    running[c] = (1 - factor) * mean[c] + factor * want.mean[c];
    // The running variance is the unbiased one.
    running_variance[c] = (1 - factor) * variance[c] +
                          factor * want.variance[c] * BatchNorm::kCount / (BatchNorm::kCount - 1);
  }
  right("batch norm", relative_error(ys.host(), want.y), 1e-5);
  right("saved mean", relative_error(saved_mean.host(), want.mean), 1e-5);
  right("saved inverse", relative_error(saved_inverse.host(), want.inverse), 1e-5);
  right("running mean", relative_error(means.host(), running), 1e-5);
  right("running variance", relative_error(variances.host(), running_variance), 1e-5);
  right("batch norm backward", relative_error(back.host(), want.dx), 1e-4);
  right("scale gradient", relative_error(to_scale.host(), want.dscale), 1e-4);
  right("bias gradient", relative_error(to_bias.host(), want.dbias), 1e-4);
  means.set(mean);
  variances.set(variance);
  status("inference",
         cudnnBatchNormalizationForwardInference(
             handle, CUDNN_BATCHNORM_SPATIAL, &kOne, &kZero, d.get(), xs.get(), d.get(), ys.get(),
             parameters.get(), scales.get(), biases.get(), means.get(), variances.get(), epsilon));
  for (size_t i = 0; i < s.size(); ++i) {
    const size_t c = BatchNorm::channel(i);
    want.y[i] = scale[c] * (x[i] - mean[c]) / std::sqrt(variance[c] + epsilon) + bias[c];
  }
  right("inference", relative_error(ys.host(), want.y), 1e-5);
}

void fused() {
  const Shape x{2, 3, 6, 6}, w{4, 3, 3, 3}, y{2, 4, 6, 6}, b{1, 4, 1, 1};
  Tensor dx(x), dy(y), db(b);
  Filter dw(w);
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnActivationDescriptor_t relu = nullptr;
  cudnnCreateConvolutionDescriptor(&convolution);
  cudnnCreateActivationDescriptor(&relu);
  cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  cudnnSetConvolutionMathType(convolution, CUDNN_FMA_MATH);
  cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
  const std::vector<float> hx = random_floats(x.size(), 21), hw = random_floats(w.size(), 22),
                           hb = random_floats(b.size(), 23);
  Device<float> xs(hx), ws(hw), bs(hb), ys(y.size());
  const auto algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  size_t bytes = 0;
  cudnnGetConvolutionForwardWorkspaceSize(handle, dx.get(), dw.get(), convolution, dy.get(),
                                          algorithm, &bytes);
  Device<char> space(bytes + 1);
  status("convolution, bias, relu",
         cudnnConvolutionBiasActivationForward(handle, &kOne, dx.get(), xs.get(), dw.get(),
                                               ws.get(), convolution, algorithm, space.get(), bytes,
                                               &kZero, dy.get(), ys.get(), db.get(), bs.get(), relu,
                                               dy.get(), ys.get()));
  std::vector<double> want(y.size());
  for_each_product(
      x, w, y, {1, 1, 1, 1, CUDNN_CROSS_CORRELATION},
      [&](size_t p, size_t q, size_t r) { want[r] += static_cast<double>(hx[p]) * hw[q]; });
  for (size_t i = 0; i < want.size(); ++i) want[i] = std::max(0.0, want[i] + hb[i / 36 % 4]);
  right("convolution, bias, relu", relative_error(ys.host(), want), 1e-6);
  cudnnDestroyConvolutionDescriptor(convolution);
  cudnnDestroyActivationDescriptor(relu);
}

void descriptors() {
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnFilterDescriptor_t filter = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnPoolingDescriptor_t pool = nullptr;
  status("create tensor", cudnnCreateTensorDescriptor(&tensor));
  status("create filter", cudnnCreateFilterDescriptor(&filter));
  status("create convolution", cudnnCreateConvolutionDescriptor(&convolution));
  status("create pooling", cudnnCreatePoolingDescriptor(&pool));
  status("nowhere to create", cudnnCreateTensorDescriptor(nullptr));
  status("4d", cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NHWC, CUDNN_DATA_HALF, 2, 3, 4, 5));
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int v[8] = {};
  status("get 4d", cudnnGetTensor4dDescriptor(tensor, &type, v, v + 1, v + 2, v + 3, v + 4, v + 5,
                                              v + 6, v + 7));
  std::printf("type %d, %d %d %d %d, strides %d %d %d %d\n", type, v[0], v[1], v[2], v[3], v[4],
              v[5], v[6], v[7]);
  size_t bytes = 0;
  status("bytes", cudnnGetTensorSizeInBytes(tensor, &bytes));
  std::printf("bytes: %zu\n", bytes);
  status("with strides",
         cudnnSetTensor4dDescriptorEx(tensor, CUDNN_DATA_FLOAT, 2, 3, 4, 5, 100, 30, 6, 1));
  status("bytes with strides", cudnnGetTensorSizeInBytes(tensor, &bytes));
  std::printf("bytes: %zu\n", bytes);
  const int dims[] = {2, 3, 4, 5, 6}, strides[] = {360, 120, 30, 6, 1};
  status("5d", cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, 5, dims, strides));
  status("0 images",
         cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 0, 3, 4, 5));
  status("-1 channels",
         cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, -1, 4, 5));
  status("format 9", cudnnSetTensor4dDescriptor(tensor, static_cast<cudnnTensorFormat_t>(9),
                                                CUDNN_DATA_FLOAT, 1, 1, 4, 5));
  status("type 99", cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW,
                                               static_cast<cudnnDataType_t>(99), 1, 1, 4, 5));
  status("no tensor",
         cudnnSetTensor4dDescriptor(nullptr, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 5));
  status("filter of 0",
         cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4, 3, 0, 3));
  status("padding -1", cudnnSetConvolution2dDescriptor(convolution, -1, 0, 1, 1, 1, 1,
                                                       CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  status("stride 0", cudnnSetConvolution2dDescriptor(convolution, 0, 0, 0, 1, 1, 1,
                                                     CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  status("dilation 0", cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 0, 1,
                                                       CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
  status("mode 9",
         cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1,
                                         static_cast<cudnnConvolutionMode_t>(9), CUDNN_DATA_FLOAT));
  status("groups 0", cudnnSetConvolutionGroupCount(convolution, 0));
  status("window 0", cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN,
                                                 0, 2, 0, 0, 1, 1));
  status("pooling stride 0",
         cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0,
                                     0, 1));
  cudnnDestroyTensorDescriptor(tensor);
  cudnnDestroyFilterDescriptor(filter);
  cudnnDestroyConvolutionDescriptor(convolution);
  cudnnDestroyPoolingDescriptor(pool);
}

void bad_arguments() {
  const Shape x{2, 3, 6, 6}, w{4, 3, 3, 3};
  Tensor dx(x), good({2, 4, 6, 6}), bad({2, 4, 4, 4});
  Filter dw(w), other({4, 5, 3, 3}), large({4, 3, 9, 9});
  Device<float> a(x.size()), b(w.size()), c(2 * 4 * 36);
  cudnnConvolutionDescriptor_t convolution = nullptr;
  cudnnCreateConvolutionDescriptor(&convolution);
  cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  const auto forward = [&](cudnnHandle_t with, const void* alpha, cudnnFilterDescriptor_t f,
                           const void* weights, cudnnConvolutionFwdAlgo_t algorithm,
                           cudnnTensorDescriptor_t out) {
    return cudnnConvolutionForward(with, alpha, dx.get(), a.get(), f, weights, convolution,
                                   algorithm, nullptr, 0, &kZero, out, c.get());
  };
  const auto gemm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
  status("right", forward(handle, &kOne, dw.get(), b.get(), gemm, good.get()));
  status("no handle", forward(nullptr, &kOne, dw.get(), b.get(), gemm, good.get()));
  status("no alpha", forward(handle, nullptr, dw.get(), b.get(), gemm, good.get()));
  status("no filter", forward(handle, &kOne, dw.get(), nullptr, gemm, good.get()));
  status("output of another size", forward(handle, &kOne, dw.get(), b.get(), gemm, bad.get()));
  status("filter of other channels",
         forward(handle, &kOne, other.get(), b.get(), gemm, good.get()));
  status("algorithm 77", forward(handle, &kOne, dw.get(), b.get(),
                                 static_cast<cudnnConvolutionFwdAlgo_t>(77), good.get()));
  status("fft without workspace",
         forward(handle, &kOne, dw.get(), b.get(), CUDNN_CONVOLUTION_FWD_ALGO_FFT, good.get()));
  int n = 0, channels = 0, h = 0, width = 0;
  status("size of other channels",
         cudnnGetConvolution2dForwardOutputDim(convolution, dx.get(), other.get(), &n, &channels,
                                               &h, &width));
  status("size of a filter that is too large",
         cudnnGetConvolution2dForwardOutputDim(convolution, dx.get(), large.get(), &n, &channels,
                                               &h, &width));
  cudnnActivationDescriptor_t activation = nullptr;
  cudnnCreateActivationDescriptor(&activation);
  cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0);
  status("activation of another size", cudnnActivationForward(handle, activation, &kOne, good.get(),
                                                              c.get(), &kZero, bad.get(), c.get()));
  status("softmax of another size",
         cudnnSoftmaxForward(handle, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &kOne,
                             good.get(), c.get(), &kZero, bad.get(), c.get()));
  cudnnDestroyActivationDescriptor(activation);
  cudnnDestroyConvolutionDescriptor(convolution);
  status("no place for a handle", cudnnCreate(nullptr));
  std::printf("%s, %s\n", cudnnGetErrorString(CUDNN_STATUS_SUCCESS),
              cudnnGetErrorString(CUDNN_STATUS_BAD_PARAM));
}

}  // namespace

int main() {
  status("create", cudnnCreate(&handle));
  cudaStream_t stream = nullptr;
  conformance::require(cudaStreamCreate(&stream));
  status("set stream", cudnnSetStream(handle, stream));
  cudaStream_t same = nullptr;
  status("get stream", cudnnGetStream(handle, &same));
  std::printf("the same: %d\n", same == stream);
  convolutions();
  algorithms();
  layouts();
  biases_and_tensors();
  activations();
  pooling();
  softmax();
  batch_norm();
  fused();
  descriptors();
  bad_arguments();
  status("destroy", cudnnDestroy(handle));
}

// cuDNN, 110 random calls: convolutions forward and both gradients; pooling, activations and batch
// norm, forward and backward; softmax and sums of tensors; sizes, strides, modes and factors drawn
// from a seed.
#include <cudnn.h>

#include <algorithm>
#include <array>
#include <functional>

#include "random_cases.h"

using conformance::Device;
using conformance::Draw;
using conformance::relative_error;
using conformance::right;
using conformance::status;
using conformance::text;

namespace {

cudnnHandle_t handle = nullptr;
const float kOne = 1, kZero = 0;

// n x c x h x w elements, at strides.
struct Sizes {
  int n, c, h, w;
  int stride[4];
  int count() const { return n * c * h * w; }
  int extent() const {
    return 1 + (n - 1) * stride[0] + (c - 1) * stride[1] + (h - 1) * stride[2] +
           (w - 1) * stride[3];
  }
  int at(int i, int j, int k, int l) const {
    return i * stride[0] + j * stride[1] + k * stride[2] + l * stride[3];
  }
  bool same(const Sizes& other) const {
    return n == other.n && c == other.c && h == other.h && w == other.w;
  }
};

// NCHW, sometimes with room after each row and each image.
Sizes sizes_of(int n, int c, int h, int w, int row_gap = 0, int image_gap = 0) {
  const int row = w + row_gap, plane = h * row;
  return {n, c, h, w, {c * plane + image_gap, plane, row, 1}};
}

// NHWC: the channels of a pixel are neighbours.
Sizes channels_last(int n, int c, int h, int w) { return {n, c, h, w, {h * w * c, 1, w * c, c}}; }

std::string shown(const Sizes& s) {
  return text("%d x %d x %d x %d", s.n, s.c, s.h, s.w) + (s.extent() > s.count() ? " with gaps"
                                                          : s.stride[3] > 1      ? " channels last"
                                                                                 : "");
}

class Tensor {
 public:
  explicit Tensor(const Sizes& s) : sizes(s) {
    cudnnCreateTensorDescriptor(&descriptor_);
    cudnnSetTensor4dDescriptorEx(descriptor_, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w, s.stride[0],
                                 s.stride[1], s.stride[2], s.stride[3]);
  }
  ~Tensor() { cudnnDestroyTensorDescriptor(descriptor_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  cudnnTensorDescriptor_t get() const { return descriptor_; }
  const Sizes sizes;

 private:
  cudnnTensorDescriptor_t descriptor_ = nullptr;
};

void for_each(const Sizes& s, const std::function<void(int, int, int, int)>& visit) {
  for (int i = 0; i < s.n; ++i) {
    for (int j = 0; j < s.c; ++j) {
      for (int k = 0; k < s.h; ++k) {
        for (int l = 0; l < s.w; ++l) visit(i, j, k, l);
      }
    }
  }
}

Sizes any_sizes(Draw& draw, bool gaps) {
  const int row_gap = gaps && draw.chance(30) ? draw.from(1, 3) : 0;
  const int image_gap = gaps && draw.chance(30) ? draw.from(1, 7) : 0;
  const bool last = gaps && draw.chance(25);
  const int n = draw.from(1, 4), c = draw.from(2, 6), h = draw.from(1, 12), w = draw.from(1, 12);
  return last ? channels_last(n, c, h, w) : sizes_of(n, c, h, w, row_gap, image_gap);
}

void judge(const std::string& name, cudnnStatus_t code, const Device<float>& got,
           const std::vector<double>& want, double tolerance) {
  status(name.c_str(), code);
  if (code == CUDNN_STATUS_SUCCESS) right("  result", relative_error(got.host(), want), tolerance);
}

std::vector<double> widen(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

// ---- convolutions

struct Geometry {
  int pad, stride, dilation, groups;
  bool turned;
};

class Convolution {
 public:
  explicit Convolution(const Geometry& g) {
    cudnnCreateConvolutionDescriptor(&descriptor_);
    cudnnSetConvolution2dDescriptor(
        descriptor_, g.pad, g.pad, g.stride, g.stride, g.dilation, g.dilation,
        g.turned ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    cudnnSetConvolutionGroupCount(descriptor_, g.groups);
    cudnnSetConvolutionMathType(descriptor_, CUDNN_FMA_MATH);
    cudnnCreateFilterDescriptor(&filter_);
  }
  ~Convolution() {
    cudnnDestroyConvolutionDescriptor(descriptor_);
    cudnnDestroyFilterDescriptor(filter_);
  }
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;
  cudnnConvolutionDescriptor_t get() const { return descriptor_; }
  cudnnFilterDescriptor_t filter() const { return filter_; }

 private:
  cudnnConvolutionDescriptor_t descriptor_ = nullptr;
  cudnnFilterDescriptor_t filter_ = nullptr;
};

// Calls visit(place in x, place in the filter, place in y) for every product.
void for_each_product(const Sizes& x, const Sizes& f, const Sizes& y, const Geometry& g,
                      const std::function<void(int, int, int)>& visit) {
  for_each(y, [&](int n, int k, int i, int j) {
    for (int c = 0; c < f.c; ++c) {
      for (int r = 0; r < f.h; ++r) {
        for (int s = 0; s < f.w; ++s) {
          const int row = i * g.stride - g.pad + r * g.dilation;
          const int column = j * g.stride - g.pad + s * g.dilation;
          if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
          visit(x.at(n, k / (f.n / g.groups) * f.c + c, row, column),
                f.at(k, c, g.turned ? f.h - 1 - r : r, g.turned ? f.w - 1 - s : s),
                y.at(n, k, i, j));
        }
      }
    }
  });
}

struct Operands {
  cudnnTensorDescriptor_t tx, ty;
  cudnnFilterDescriptor_t tf;
  cudnnConvolutionDescriptor_t how;
  float *x, *f, *y;
};

// The convolution or one of its gradients, written to what is not read; the workspace is what the
// library asks for.
cudnnStatus_t call(int kind, cudnnHandle_t with, const void* alpha, const void* beta,
                   const Operands& o) {
  if (kind == 0) {
    return cudnnConvolutionForward(with, alpha, o.tx, o.x, o.tf, o.f, o.how,
                                   CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, nullptr, 0, beta, o.ty,
                                   o.y);
  }
  const auto data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
  const auto filter = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
  size_t bytes = 0;
  status("  workspace", kind == 1 ? cudnnGetConvolutionBackwardDataWorkspaceSize(
                                        handle, o.tf, o.ty, o.how, o.tx, data, &bytes)
                                  : cudnnGetConvolutionBackwardFilterWorkspaceSize(
                                        handle, o.tx, o.ty, o.how, o.tf, filter, &bytes));
  Device<char> space(bytes);
  const cudnnStatus_t code =
      kind == 1 ? cudnnConvolutionBackwardData(with, alpha, o.tf, o.f, o.ty, o.y, o.how, data,
                                               space.get(), bytes, beta, o.tx, o.x)
                : cudnnConvolutionBackwardFilter(with, alpha, o.tx, o.x, o.ty, o.y, o.how, filter,
                                                 space.get(), bytes, beta, o.tf, o.f);
  conformance::require(cudaDeviceSynchronize());  // before the workspace goes
  return code;
}

void convolution(Draw& draw) {
  const Geometry g{draw.from(0, 2), draw.from(1, 2), draw.from(1, 2), draw.of({1, 1, 2}),
                   draw.chance(40)};
  const int wrong = draw.wrong(4), kind = draw.from(0, 2);
  const int filters = g.groups * draw.from(1, 4), channels = draw.from(1, 4);
  const int filter_rows = draw.from(1, 3), filter_cols = draw.from(1, 3);
  const int images = draw.from(1, 3), rows = draw.from(5, 12), cols = draw.from(5, 12);
  const Sizes f = sizes_of(filters, channels, filter_rows, filter_cols);
  const Sizes x = sizes_of(images, channels * g.groups, rows, cols);
  const Convolution c(g);
  cudnnSetFilter4dDescriptor(c.filter(), CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, f.n,
                             wrong == 1 ? f.c + 1 : f.c, f.h, f.w);
  const Tensor tx(x);
  const char* names[] = {"forward", "backward data", "backward filter"};
  const std::string name =
      text("%s x %s, f %s, pad %d, stride %d, dilation %d, groups %d%s, wrong %d", names[kind],
           shown(x).c_str(), shown(f).c_str(), g.pad, g.stride, g.dilation, g.groups,
           g.turned ? ", turned" : "", wrong);
  int n = 0, k = 0, h = 0, w = 0;
  const cudnnStatus_t sized =
      cudnnGetConvolution2dForwardOutputDim(c.get(), tx.get(), c.filter(), &n, &k, &h, &w);
  status((name + ": size").c_str(), sized);
  if (sized != CUDNN_STATUS_SUCCESS) return;
  const Sizes y = sizes_of(n, k, h, w);
  std::printf("  y %s\n", shown(y).c_str());
  const Tensor ty(wrong == 2 ? sizes_of(n, k, h + 1, w) : y);
  const std::vector<float> hx = draw.floats(x.count()), hf = draw.floats(f.count()),
                           hy = draw.floats(y.count() + k * w * n);
  Device<float> dx(hx), df(hf), dy(hy);
  const float alpha = draw.factor(), beta = draw.factor();
  std::vector<double> sums(kind == 0 ? hy.size() : kind == 1 ? hx.size() : hf.size());
  for_each_product(x, f, y, g, [&](int px, int pf, int py) {
    if (kind == 0) sums[py] += 1.0 * hx[px] * hf[pf];
    if (kind == 1) sums[px] += 1.0 * hf[pf] * hy[py];
    if (kind == 2) sums[pf] += 1.0 * hx[px] * hy[py];
  });
  const void* scale = wrong == 3 ? nullptr : &alpha;
  const cudnnStatus_t code =
      call(kind, wrong == 4 ? nullptr : handle, scale, &beta,
           {tx.get(), ty.get(), c.filter(), c.get(), dx.get(), df.get(), dy.get()});
  const std::vector<float>& before = kind == 0 ? hy : kind == 1 ? hx : hf;
  const int count = kind == 0 ? y.count() : kind == 1 ? x.count() : f.count();
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i] = static_cast<int>(i) < count ? alpha * sums[i] + beta * before[i] : before[i];
  }
  judge(text("  factors %g %g", alpha, beta), code,
        kind == 0   ? dy
        : kind == 1 ? dx
                    : df,
        sums, 2e-6);
}

// ---- layers

struct Slope {
  double y, slope;
};
Slope activated(cudnnActivationMode_t mode, double v, double coefficient) {
  switch (mode) {
    case CUDNN_ACTIVATION_SIGMOID: {
      const double y = 1 / (1 + std::exp(-v));
      return {y, y * (1 - y)};
    }
    case CUDNN_ACTIVATION_TANH:
      return {std::tanh(v), 1 - std::tanh(v) * std::tanh(v)};
    case CUDNN_ACTIVATION_CLIPPED_RELU:
      return {std::min(std::max(0.0, v), coefficient), v > 0 && v < coefficient ? 1.0 : 0.0};
    case CUDNN_ACTIVATION_ELU:
      return {v > 0 ? v : coefficient * std::expm1(v), v > 0 ? 1 : coefficient * std::exp(v)};
    default:
      return {std::max(0.0, v), v > 0 ? 1.0 : 0.0};
  }
}

// Forward, and backward through what that gave.
void activation(Draw& draw) {
  const Sizes s = any_sizes(draw, true);
  const int wrong = draw.wrong(2);
  const auto mode = draw.of({CUDNN_ACTIVATION_SIGMOID, CUDNN_ACTIVATION_RELU, CUDNN_ACTIVATION_TANH,
                             CUDNN_ACTIVATION_CLIPPED_RELU, CUDNN_ACTIVATION_ELU});
  const double coefficient = mode == CUDNN_ACTIVATION_CLIPPED_RELU ? 0.5 : 1;
  cudnnActivationDescriptor_t descriptor = nullptr;
  cudnnCreateActivationDescriptor(&descriptor);
  status("set activation",
         cudnnSetActivationDescriptor(descriptor, mode, CUDNN_NOT_PROPAGATE_NAN, coefficient));
  const Tensor t(s), other(sizes_of(s.n, s.c + 1, s.h, s.w));
  const std::vector<float> x = draw.floats(s.extent()), y = draw.floats(s.extent());
  Device<float> dx(x), dy(y);
  const float alpha = draw.factor(), beta = draw.factor();
  const cudnnStatus_t code =
      cudnnActivationForward(wrong == 1 ? nullptr : handle, descriptor, &alpha, t.get(), dx.get(),
                             &beta, wrong == 2 ? other.get() : t.get(), dy.get());
  std::vector<double> want = widen(y), want_back = widen(y);
  std::vector<float> forward(x.size());
  const std::vector<float> gradient = draw.floats(s.extent());
  for_each(s, [&](int i, int j, int k, int l) {
    const int at = s.at(i, j, k, l);
    const Slope f = activated(mode, x[at], coefficient);
    forward[at] = static_cast<float>(f.y);
    want[at] = alpha * f.y + beta * y[at];
    want_back[at] = alpha * f.slope * gradient[at] + beta * y[at];
  });
  judge(text("activation %d of %s, factors %g %g, wrong %d", mode, shown(s).c_str(), alpha, beta,
             wrong),
        code, dy, want, 1e-5);
  Device<float> values(forward), gradients(gradient), back(y);
  judge("  backward",
        cudnnActivationBackward(wrong == 1 ? nullptr : handle, descriptor, &alpha, t.get(),
                                values.get(), t.get(), gradients.get(), t.get(), dx.get(), &beta,
                                wrong == 2 ? other.get() : t.get(), back.get()),
        back, want_back, 1e-5);
  cudnnDestroyActivationDescriptor(descriptor);
}

// A square of pixels, some of them outside.
struct Window {
  int row, column, size;
  template <class Visit>
  void for_each_inside(const Sizes& x, const Visit& visit) const {
    for (int a = std::max(0, row); a < std::min(x.h, row + size); ++a) {
      for (int b = std::max(0, column); b < std::min(x.w, column + size); ++b) visit(a, b);
    }
  }
};

struct Pooled {
  double sum = 0, largest = -HUGE_VAL;
  int inside = 0, place = 0;  // of the largest
};
Pooled look(const std::vector<float>& values, const Sizes& x, int i, int j, const Window& window) {
  Pooled p;
  window.for_each_inside(x, [&](int a, int b) {
    const double v = values[x.at(i, j, a, b)];
    ++p.inside;
    p.sum += v;
    if (v > p.largest) p.largest = v, p.place = x.at(i, j, a, b);
  });
  return p;
}
double divisor(cudnnPoolingMode_t mode, const Pooled& p, const Window& window) {
  return mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING ? window.size * window.size : p.inside;
}
double pooled(cudnnPoolingMode_t mode, const std::vector<float>& values, const Sizes& x, int i,
              int j, const Window& window) {
  const Pooled p = look(values, x, i, j, window);
  return mode == CUDNN_POOLING_MAX ? p.largest : p.sum / divisor(mode, p, window);
}
void pool_back(cudnnPoolingMode_t mode, const std::vector<float>& values, const Sizes& x, int i,
               int j, const Window& window, double gradient, std::vector<double>* to) {
  const Pooled p = look(values, x, i, j, window);
  if (mode == CUDNN_POOLING_MAX) {
    (*to)[p.place] += gradient;
    return;
  }
  window.for_each_inside(
      x, [&](int a, int b) { (*to)[x.at(i, j, a, b)] += gradient / divisor(mode, p, window); });
}

void pooling(Draw& draw) {
  const Sizes x = any_sizes(draw, false);
  const int window = draw.from(1, 3), step = draw.from(1, 3), pad = draw.from(0, window - 1);
  const auto mode = draw.of({CUDNN_POOLING_MAX, CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING,
                             CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING});
  const int wrong = draw.wrong(1);
  cudnnPoolingDescriptor_t pool = nullptr;
  cudnnCreatePoolingDescriptor(&pool);
  cudnnSetPooling2dDescriptor(pool, mode, CUDNN_NOT_PROPAGATE_NAN, window, window, pad, pad, step,
                              step);
  const Tensor tx(x);
  int n = 0, c = 0, h = 0, w = 0;
  const cudnnStatus_t sized = cudnnGetPooling2dForwardOutputDim(pool, tx.get(), &n, &c, &h, &w);
  status(text("pooling %d of %s, window %d, pad %d, stride %d, wrong %d", mode, shown(x).c_str(),
              window, pad, step, wrong)
             .c_str(),
         sized);
  if (sized == CUDNN_STATUS_SUCCESS) {
    std::printf("  y %d x %d x %d x %d\n", n, c, h, w);
    const Sizes y = sizes_of(n, c, h, w);
    const Tensor ty(y);
    const std::vector<float> hx = draw.floats(x.extent()), hy = draw.floats(y.count());
    Device<float> dx(hx), dy(hy);
    const float alpha = draw.factor(), beta = draw.factor();
    const cudnnStatus_t code = cudnnPoolingForward(wrong == 1 ? nullptr : handle, pool, &alpha,
                                                   tx.get(), dx.get(), &beta, ty.get(), dy.get());
    std::vector<double> want = widen(hy), want_back(hx.size());
    std::vector<float> forward(hy.size());
    const std::vector<float> gradient = draw.floats(y.count());
    for_each(y, [&](int i, int j, int k, int l) {
      const int at = y.at(i, j, k, l);
      const Window here = {k * step - pad, l * step - pad, window};
      const double f = pooled(mode, hx, x, i, j, here);
      forward[at] = static_cast<float>(f);
      want[at] = alpha * f + beta * hy[at];
      pool_back(mode, hx, x, i, j, here, gradient[at], &want_back);
    });
    judge(text("  factors %g %g", alpha, beta), code, dy, want, 1e-5);
    Device<float> values(forward), gradients(gradient), back(hx.size());
    judge("  backward",
          cudnnPoolingBackward(wrong == 1 ? nullptr : handle, pool, &kOne, ty.get(), values.get(),
                               ty.get(), gradients.get(), tx.get(), dx.get(), &kZero, tx.get(),
                               back.get()),
          back, want_back, 1e-5);
  }
  cudnnDestroyPoolingDescriptor(pool);
}

void softmax(Draw& draw) {
  const Sizes s = any_sizes(draw, false);
  const int wrong = draw.wrong(3);
  const auto how = draw.of({CUDNN_SOFTMAX_FAST, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_LOG});
  const auto mode = draw.of({CUDNN_SOFTMAX_MODE_INSTANCE, CUDNN_SOFTMAX_MODE_CHANNEL});
  const Tensor t(s), other(sizes_of(s.n + 1, s.c, s.h, s.w));
  const std::vector<float> x = draw.floats(s.count());
  Device<float> dx(x), dy(s.count());
  const cudnnStatus_t code = cudnnSoftmaxForward(
      wrong == 1 ? nullptr : handle, wrong == 2 ? static_cast<cudnnSoftmaxAlgorithm_t>(9) : how,
      mode, &kOne, t.get(), dx.get(), &kZero, wrong == 3 ? other.get() : t.get(), dy.get());
  std::vector<double> want(s.count());
  for_each(s, [&](int i, int j, int k, int l) {
    double sum = 0;
    for_each(s, [&](int n, int c, int h, int w) {
      const bool one = n == i && (mode == CUDNN_SOFTMAX_MODE_INSTANCE || (h == k && w == l));
      if (one) sum += std::exp(1.0 * x[s.at(n, c, h, w)]);
    });
    const double v = x[s.at(i, j, k, l)];
    want[s.at(i, j, k, l)] = how == CUDNN_SOFTMAX_LOG ? v - std::log(sum) : std::exp(v) / sum;
  });
  judge(text("softmax %d, mode %d, %s, wrong %d", how, mode, shown(s).c_str(), wrong), code, dy,
        want, 1e-5);
}

// c = alpha a + beta c, where a is repeated along dimensions of 1.
void addition(Draw& draw) {
  const Sizes s = any_sizes(draw, false);
  const int wrong = draw.wrong(2);
  Sizes a = s;
  const int form = draw.from(0, 2);
  if (form == 0) a = sizes_of(1, s.c, 1, 1);
  if (form == 1) a = sizes_of(1, 1, 1, 1);
  const Tensor ta(wrong == 1 ? sizes_of(1, s.c + 2, 1, 1) : a), tc(s);
  const std::vector<float> ha = draw.floats(s.count() + s.c + 2), hc = draw.floats(s.count());
  Device<float> da(ha), dc(hc);
  const float alpha = draw.factor(), beta = draw.factor();
  const cudnnStatus_t code = cudnnAddTensor(handle, wrong == 2 ? nullptr : &alpha, ta.get(),
                                            da.get(), &beta, tc.get(), dc.get());
  std::vector<double> want(s.count());
  for_each(s, [&](int i, int j, int k, int l) {
    const int from = a.at(a.n == 1 ? 0 : i, a.c == 1 ? 0 : j, a.h == 1 ? 0 : k, a.w == 1 ? 0 : l);
    want[s.at(i, j, k, l)] = alpha * ha[from] + beta * hc[s.at(i, j, k, l)];
  });
  judge(text("add %s to %s, factors %g %g, wrong %d", shown(a).c_str(), shown(s).c_str(), alpha,
             beta, wrong),
        code, dc, want, 1e-6);
}

// A batch with its statistics: over images and pixels of a channel, or over images alone.
struct Batch {
  Sizes s;
  bool spatial;
  double epsilon;
  std::vector<float> x;
  Sizes parameters = spatial ? sizes_of(1, s.c, 1, 1) : sizes_of(1, s.c, s.h, s.w);
  double count = 1.0 * s.count() / parameters.count();
  std::vector<double> sum = std::vector<double>(parameters.count() + 1), squares = sum;

  int place(int j, int k, int l) const { return spatial ? j : parameters.at(0, j, k, l); }
  double normal(int i, int j, int k, int l) const {
    const int at = place(j, k, l);
    return (x[s.at(i, j, k, l)] - sum[at] / count) / std::sqrt(squares[at] / count + epsilon);
  }
  void add_up() {
    for_each(s, [&](int i, int j, int k, int l) { sum[place(j, k, l)] += x[s.at(i, j, k, l)]; });
    for_each(s, [&](int i, int j, int k, int l) {
      const double d = x[s.at(i, j, k, l)] - sum[place(j, k, l)] / count;
      squares[place(j, k, l)] += d * d;
    });
  }
};

void batch_norm_backward(Draw& draw, const Batch& b, cudnnBatchNormMode_t mode,
                         const std::vector<float>& scale, const Device<float>& saved,
                         const Device<float>& inverse) {
  const Sizes& s = b.s;
  const size_t room = b.sum.size();
  const std::vector<float> gradient = draw.floats(s.count());
  std::vector<double> to_scale(room), to_bias(room), back(s.count());
  for_each(s, [&](int i, int j, int k, int l) {
    const double g = gradient[s.at(i, j, k, l)];
    to_bias[b.place(j, k, l)] += g;
    to_scale[b.place(j, k, l)] += g * b.normal(i, j, k, l);
  });
  for_each(s, [&](int i, int j, int k, int l) {
    const int at = b.place(j, k, l);
    back[s.at(i, j, k, l)] = scale[at] / std::sqrt(b.squares[at] / b.count + b.epsilon) *
                             (gradient[s.at(i, j, k, l)] - to_bias[at] / b.count -
                              b.normal(i, j, k, l) * to_scale[at] / b.count);
  });
  const Tensor t(s), tp(b.parameters);
  Device<float> dx(b.x), gradients(gradient), ds(scale), dback(s.count()), dscale(room),
      dbias(room);
  judge("  backward",
        cudnnBatchNormalizationBackward(handle, mode, &kOne, &kZero, &kOne, &kZero, t.get(),
                                        dx.get(), t.get(), gradients.get(), t.get(), dback.get(),
                                        tp.get(), ds.get(), dscale.get(), dbias.get(), b.epsilon,
                                        saved.get(), inverse.get()),
        dback, back, 1e-3);
  right("  gradient of the scale", relative_error(dscale.host(), to_scale), 1e-3);
  right("  gradient of the bias", relative_error(dbias.host(), to_bias), 1e-4);
}

void batch_norm(Draw& draw) {
  const int images = draw.from(2, 4), channels = draw.from(1, 5);
  const int rows = draw.from(1, 6), cols = draw.from(2, 6), wrong = draw.wrong(3);
  const Sizes s = sizes_of(images, channels, rows, cols);
  const bool spatial = draw.chance(60);
  const double epsilon = draw.of({1e-5, 1e-3}), factor = draw.of({1.0, 0.1});
  Batch b{s, spatial, epsilon, draw.floats(s.count())};
  b.add_up();
  const auto mode = spatial ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
  const Tensor t(s), tp(wrong == 1 ? sizes_of(1, s.c + 1, 1, 1) : b.parameters);
  const size_t room = b.sum.size();
  const std::vector<float> scale = draw.floats(room), bias = draw.floats(room);
  Device<float> dx(b.x), dy(s.count()), ds(scale), db(bias), mean(room), variance(room),
      saved(room), inverse(room);
  const cudnnStatus_t code = cudnnBatchNormalizationForwardTraining(
      wrong == 3 ? nullptr : handle, mode, &kOne, &kZero, t.get(), dx.get(), t.get(), dy.get(),
      tp.get(), ds.get(), db.get(), factor, mean.get(), variance.get(), wrong == 2 ? -1 : epsilon,
      saved.get(), inverse.get());
  std::vector<double> want(s.count()), running(room);
  for_each(s, [&](int i, int j, int k, int l) {
    const int at = b.place(j, k, l);
    want[s.at(i, j, k, l)] = scale[at] * b.normal(i, j, k, l) + bias[at];
  });
  for (int i = 0; i < b.parameters.count(); ++i) {
    running[i] = factor * b.squares[i] / (b.count - 1);
  }
  judge(text("batch norm %d, %s, epsilon %g, factor %g, wrong %d", mode, shown(s).c_str(), epsilon,
             factor, wrong),
        code, dy, want, 1e-4);
  if (code != CUDNN_STATUS_SUCCESS) return;
  right("  running variance", relative_error(variance.host(), running), 1e-4);
  batch_norm_backward(draw, b, mode, scale, saved, inverse);
}

}  // namespace

int main(int argc, char** argv) {
  Draw draw(conformance::seed_of(argc, argv));
  status("create", cudnnCreate(&handle));
  for (int i = 0; i < 10; ++i) {
    convolution(draw);
    activation(draw);
    pooling(draw);
    convolution(draw);
    softmax(draw);
    addition(draw);
    batch_norm(draw);
    convolution(draw);
  }
  status("destroy", cudnnDestroy(handle));
}

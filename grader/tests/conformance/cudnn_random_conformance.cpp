// cuDNN, 80 random calls: convolutions forward and both gradients, pooling, activations, softmax,
// sums of tensors and batch norm; sizes, strides, modes and factors drawn from a seed.
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

std::string shown(const Sizes& s) {
  return text("%d x %d x %d x %d", s.n, s.c, s.h, s.w) +
         (s.extent() == s.count() ? "" : " with gaps");
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
  return sizes_of(draw.from(1, 4), draw.from(2, 6), draw.from(1, 12), draw.from(1, 12), row_gap,
                  image_gap);
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

// One of the three calls; the workspace is what the library asks for.
void convolution(Draw& draw) {
  const Geometry g{draw.from(0, 2), draw.from(1, 2), draw.from(1, 2), draw.of({1, 1, 2}),
                   draw.chance(40)};
  const int wrong = draw.wrong(4), kind = draw.from(0, 2);
  const Sizes f =
      sizes_of(g.groups * draw.from(1, 4), draw.from(1, 4), draw.from(1, 3), draw.from(1, 3));
  const Sizes x = sizes_of(draw.from(1, 3), f.c * g.groups, draw.from(5, 12), draw.from(5, 12));
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
  size_t bytes = 0;
  const void* scale = wrong == 3 ? nullptr : &alpha;
  cudnnHandle_t with = wrong == 4 ? nullptr : handle;
  cudnnStatus_t code = CUDNN_STATUS_SUCCESS;
  if (kind == 0) {
    const auto how = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM;
    code = cudnnConvolutionForward(with, scale, tx.get(), dx.get(), c.filter(), df.get(), c.get(),
                                   how, nullptr, 0, &beta, ty.get(), dy.get());
  } else if (kind == 1) {
    const auto how = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
    const cudnnStatus_t asked = cudnnGetConvolutionBackwardDataWorkspaceSize(
        handle, c.filter(), ty.get(), c.get(), tx.get(), how, &bytes);
    status("  workspace", asked);
    Device<char> space(bytes);
    code =
        cudnnConvolutionBackwardData(with, scale, c.filter(), df.get(), ty.get(), dy.get(), c.get(),
                                     how, space.get(), bytes, &beta, tx.get(), dx.get());
    conformance::require(cudaDeviceSynchronize());
  } else {
    const auto how = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
    const cudnnStatus_t asked = cudnnGetConvolutionBackwardFilterWorkspaceSize(
        handle, tx.get(), ty.get(), c.get(), c.filter(), how, &bytes);
    status("  workspace", asked);
    Device<char> space(bytes);
    code =
        cudnnConvolutionBackwardFilter(with, scale, tx.get(), dx.get(), ty.get(), dy.get(), c.get(),
                                       how, space.get(), bytes, &beta, c.filter(), df.get());
    conformance::require(cudaDeviceSynchronize());
  }
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
  std::vector<double> want = widen(y);
  for_each(s, [&](int i, int j, int k, int l) {
    const double v = x[s.at(i, j, k, l)];
    double f = 0;
    if (mode == CUDNN_ACTIVATION_SIGMOID) f = 1 / (1 + std::exp(-v));
    if (mode == CUDNN_ACTIVATION_RELU) f = std::max(0.0, v);
    if (mode == CUDNN_ACTIVATION_TANH) f = std::tanh(v);
    if (mode == CUDNN_ACTIVATION_CLIPPED_RELU) f = std::min(std::max(0.0, v), coefficient);
    if (mode == CUDNN_ACTIVATION_ELU) f = v > 0 ? v : coefficient * std::expm1(v);
    double& to = want[s.at(i, j, k, l)];
    to = alpha * f + beta * to;
  });
  judge(text("activation %d of %s, factors %g %g, wrong %d", mode, shown(s).c_str(), alpha, beta,
             wrong),
        code, dy, want, 1e-5);
  cudnnDestroyActivationDescriptor(descriptor);
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
    std::vector<double> want = widen(hy);
    for_each(y, [&](int i, int j, int k, int l) {
      double sum = 0, largest = -HUGE_VAL;
      int inside = 0;
      for (int a = k * step - pad; a < k * step - pad + window; ++a) {
        for (int b = l * step - pad; b < l * step - pad + window; ++b) {
          if (a < 0 || a >= x.h || b < 0 || b >= x.w) continue;
          ++inside;
          sum += hx[x.at(i, j, a, b)];
          largest = std::max<double>(largest, hx[x.at(i, j, a, b)]);
        }
      }
      const bool all = mode == CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING;
      const double f = mode == CUDNN_POOLING_MAX ? largest : sum / (all ? window * window : inside);
      double& to = want[y.at(i, j, k, l)];
      to = alpha * f + beta * to;
    });
    judge(text("  factors %g %g", alpha, beta), code, dy, want, 1e-5);
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

// Statistics over images and pixels of a channel, or over images alone.
void batch_norm(Draw& draw) {
  const Sizes s = sizes_of(draw.from(2, 4), draw.from(1, 5), draw.from(1, 6), draw.from(2, 6));
  const bool spatial = draw.chance(60);
  const auto mode = spatial ? CUDNN_BATCHNORM_SPATIAL : CUDNN_BATCHNORM_PER_ACTIVATION;
  const Sizes p = spatial ? sizes_of(1, s.c, 1, 1) : sizes_of(1, s.c, s.h, s.w);
  const int wrong = draw.wrong(3);
  const Tensor t(s), tp(wrong == 1 ? sizes_of(1, s.c + 1, 1, 1) : p);
  const std::vector<float> x = draw.floats(s.count()), scale = draw.floats(p.count() + 1),
                           bias = draw.floats(p.count() + 1);
  Device<float> dx(x), dy(s.count()), ds(scale), db(bias), mean(p.count() + 1),
      variance(p.count() + 1), saved(p.count() + 1), inverse(p.count() + 1);
  const double epsilon = wrong == 2 ? -1.0 : draw.of({1e-5, 1e-3}), factor = draw.of({1.0, 0.1});
  const cudnnStatus_t code = cudnnBatchNormalizationForwardTraining(
      wrong == 3 ? nullptr : handle, mode, &kOne, &kZero, t.get(), dx.get(), t.get(), dy.get(),
      tp.get(), ds.get(), db.get(), factor, mean.get(), variance.get(), epsilon, saved.get(),
      inverse.get());
  std::vector<double> sum(p.count()), squares(p.count()), running(p.count() + 1);
  const auto place = [&](int j, int k, int l) { return spatial ? j : p.at(0, j, k, l); };
  const double count = 1.0 * s.count() / p.count();
  for_each(s, [&](int i, int j, int k, int l) { sum[place(j, k, l)] += x[s.at(i, j, k, l)]; });
  for_each(s, [&](int i, int j, int k, int l) {
    const double d = x[s.at(i, j, k, l)] - sum[place(j, k, l)] / count;
    squares[place(j, k, l)] += d * d;
  });
  std::vector<double> want(s.count());
  for_each(s, [&](int i, int j, int k, int l) {
    const int at = place(j, k, l);
    want[s.at(i, j, k, l)] = scale[at] * (x[s.at(i, j, k, l)] - sum[at] / count) /
                                 std::sqrt(squares[at] / count + epsilon) +
                             bias[at];
  });
  for (int i = 0; i < p.count(); ++i) running[i] = factor * squares[i] / (count - 1);
  judge(text("batch norm %d, %s, epsilon %g, factor %g, wrong %d", mode, shown(s).c_str(), epsilon,
             factor, wrong),
        code, dy, want, 1e-4);
  if (code == CUDNN_STATUS_SUCCESS) {
    right("  running variance", relative_error(variance.host(), running), 1e-4);
  }
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

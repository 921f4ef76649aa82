// Tests of 09/10 cuDNN, the layers around a convolution.
#include "10_cudnn_pool_softmax_bn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "09_cuda_libraries/test/cudnn.h"
#include "kit/kit.h"

static std::ostream& operator<<(std::ostream& out, const BatchSizes& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w;
}

namespace {

size_t size_of(const BatchSizes& s) { return static_cast<size_t>(s.n) * s.c * s.h * s.w; }
kit::Shape shape_of(const BatchSizes& s) { return kit::Shape(s.n * s.c, s.h, s.w); }

// Simulator only: fails if the last kit::run made more descriptors of a kind ("Tensor") than it
// destroyed.
void expect_destroyed(const std::string& kind, kit::Site site = kit::Site::here()) {
  const uint64_t made = kit::api_calls(("cudnnCreate" + kind + "Descriptor").c_str());
  const uint64_t destroyed = kit::api_calls(("cudnnDestroy" + kind + "Descriptor").c_str());
  if (made <= destroyed) return;
  kit::fail("cudnnCreate" + kind + "Descriptor was called " + std::to_string(made) +
                " times, cudnnDestroy" + kind + "Descriptor " + std::to_string(destroyed) +
                " times. A call has read its descriptors when it returns: destroy them then, "
                "or a program that runs for days fills its memory with them.",
            site);
}

struct Pool {
  BatchSizes sizes;
  int window, pad, stride;
  int rows() const { return (sizes.h + 2 * pad - window) / stride + 1; }
  int cols() const { return (sizes.w + 2 * pad - window) / stride + 1; }
};
std::ostream& operator<<(std::ostream& out, const Pool& p) {
  return out << p.sizes << ", window " << p.window << ", pad " << p.pad << ", stride " << p.stride;
}

// Reference: the largest value of each window, (n c) x rows x cols.
std::vector<float> pool_on_cpu(const std::vector<float>& x, const Pool& p) {
  std::vector<float> y;
  for (int plane = 0; plane < p.sizes.n * p.sizes.c; ++plane) {
    for (int row = 0; row < p.rows(); ++row) {
      for (int col = 0; col < p.cols(); ++col) {
        float largest = -HUGE_VALF;
        for (int i = row * p.stride - p.pad; i < row * p.stride - p.pad + p.window; ++i) {
          for (int j = col * p.stride - p.pad; j < col * p.stride - p.pad + p.window; ++j) {
            if (i < 0 || i >= p.sizes.h || j < 0 || j >= p.sizes.w) continue;
            largest = std::max(largest, x[(plane * p.sizes.h + i) * p.sizes.w + j]);
          }
        }
        y.push_back(largest);
      }
    }
  }
  return y;
}

// Reference, in double: groups of values that add up to 1.
std::vector<double> softmax_on_cpu(const std::vector<float>& x, const BatchSizes& s,
                                   SoftmaxOver over) {
  const size_t plane = static_cast<size_t>(s.h) * s.w, image = plane * s.c;
  // Values of a group: `length` of them, `step` apart.
  const size_t step = over == SoftmaxOver::kImage ? 1 : plane;
  const size_t length = over == SoftmaxOver::kImage ? image : s.c;
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size() / length; ++i) {
    const size_t begin = over == SoftmaxOver::kImage ? i * image : i / plane * image + i % plane;
    double largest = -HUGE_VAL, sum = 0;
    for (size_t j = 0; j < length; ++j) largest = std::max<double>(largest, x[begin + j * step]);
    for (size_t j = 0; j < length; ++j) sum += std::exp(x[begin + j * step] - largest);
    for (size_t j = 0; j < length; ++j) {
      y[begin + j * step] = std::exp(x[begin + j * step] - largest) / sum;
    }
  }
  return y;
}

// Reference, in double: mean and biased variance of each channel.
struct Statistics {
  std::vector<double> mean, variance;
};
size_t channel_of(size_t i, const BatchSizes& s) { return i / (s.h * s.w) % s.c; }
Statistics statistics_on_cpu(const std::vector<float>& x, const BatchSizes& s) {
  const double count = static_cast<double>(x.size()) / s.c;
  Statistics all{std::vector<double>(s.c), std::vector<double>(s.c)};
  for (size_t i = 0; i < x.size(); ++i) all.mean[channel_of(i, s)] += x[i] / count;
  for (size_t i = 0; i < x.size(); ++i) {
    const double apart = x[i] - all.mean[channel_of(i, s)];
    all.variance[channel_of(i, s)] += apart * apart / count;
  }
  return all;
}
std::vector<double> normalised_on_cpu(const std::vector<float>& x, const BatchSizes& s,
                                      const Statistics& of, const std::vector<float>& scale,
                                      const std::vector<float>& bias) {
  std::vector<double> y;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = channel_of(i, s);
    y.push_back(scale[c] * (x[i] - of.mean[c]) / std::sqrt(of.variance[c] + kEpsilon) + bias[c]);
  }
  return y;
}

void check_pool(const Pool& p) {
  // All below zero: a padding of zeros would be the largest everywhere at the edge.
  const std::vector<float> x = kit::random_floats(size_of(p.sizes), -5, -1);
  const std::vector<float> expected = pool_on_cpu(x, p);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(expected.size(), "y", kit::Placement::kAtEnd);
  const CudnnHandle handle;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::vector<int> size(2);
  kit::run([&] {
    return status = launch_max_pool(handle.get(), p.sizes, p.window, p.pad, p.stride, d_x.get(),
                                    d_y.get(), &size[0], &size[1]);
  });
  expect_success("launch_max_pool", status);
  expect_no_wait("launch_max_pool");
  expect_settings("launch_max_pool", {"*rows", "*cols"}, size, {p.rows(), p.cols()});
  kit::expect_equal(d_y, expected, kit::Shape(p.sizes.n * p.sizes.c, p.rows(), p.cols()));
}

void check_softmax(const BatchSizes& s, SoftmaxOver over, float shift) {
  std::vector<float> x = kit::random_floats(size_of(s), -6, 6);
  for (size_t i = 0; i < x.size(); ++i) x[i] += shift * static_cast<float>(i % 2 == 0 ? 1 : -1);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x", kit::Placement::kAtEnd);
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y", kit::Placement::kAtEnd);
  const CudnnHandle handle;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] { return status = launch_softmax(handle.get(), s, over, d_x.get(), d_y.get()); });
  expect_success("launch_softmax", status);
  expect_no_wait("launch_softmax");
  kit::expect_near(d_y, softmax_on_cpu(x, s, over), kit::Tolerance{1e-9, 2e-5, 0, {}}, shape_of(s));
}

void check_softmax_over(SoftmaxOver over) {
  kit::for_each("x",
                std::vector<BatchSizes>{{3, 10, 1, 1}, {2, 3, 4, 5}, {1, 7, 3, 1}, {2, 1, 3, 3}},
                [&](const BatchSizes& s) {
                  check_softmax(s, over, 0);
                  check_softmax(s, over, 1e4f);
                });
}

// The arrays of a batch norm, and a batch for it.
class Layer {
 public:
  explicit Layer(const BatchSizes& s)
      : sizes(s),
        scale(kit::random_floats(s.c, 0.5f, 2)),
        bias(kit::random_floats(s.c)),
        mean(kit::random_floats(s.c)),
        variance(kit::random_floats(s.c, 0.5f, 2)),
        d_scale(kit::DeviceBuffer<float>::input(scale, "scale")),
        d_bias(kit::DeviceBuffer<float>::input(bias, "bias")),
        d_mean(kit::DeviceBuffer<float>::inout(mean, "running_mean")),
        d_variance(kit::DeviceBuffer<float>::inout(variance, "running_variance")),
        saved_mean(kit::DeviceBuffer<float>::output(s.c, "saved_mean")),
        saved_inverse(kit::DeviceBuffer<float>::output(s.c, "saved_inverse")) {}
  BatchNorm get() const {
    return {d_scale.get(),    d_bias.get(),     d_mean.get(),
            d_variance.get(), saved_mean.get(), saved_inverse.get()};
  }
  // Values around `around`, which differ from channel to channel, at most `spread` away from it.
  std::vector<float> batch(float around, float spread = 2) const {
    std::vector<float> x = kit::random_floats(size_of(sizes), -spread, spread);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += around + static_cast<float>(channel_of(i, sizes));
    }
    return x;
  }

  const BatchSizes sizes;
  const std::vector<float> scale, bias, mean, variance;
  const kit::DeviceBuffer<float> d_scale, d_bias, d_mean, d_variance, saved_mean, saved_inverse;
};

void check_training(const BatchSizes& s, double share, float around, float spread = 2) {
  const Layer layer(s);
  const std::vector<float> x = layer.batch(around, spread);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  const CudnnHandle handle;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_bn_training(handle.get(), s, layer.get(), share, d_x.get(), d_y.get());
  });
  expect_success("launch_bn_training", status);
  expect_no_wait("launch_bn_training");
  const Statistics of = statistics_on_cpu(x, s);
  const double close = 2e-4;  // around 100 a float has 17 bits for a value and its mean
  kit::expect_near(d_y, normalised_on_cpu(x, s, of, layer.scale, layer.bias),
                   kit::Tolerance::absolute(close), shape_of(s));
  std::vector<double> inverse, mean, variance;
  const double count = static_cast<double>(x.size()) / s.c;
  for (int c = 0; c < s.c; ++c) {
    inverse.push_back(1 / std::sqrt(of.variance[c] + kEpsilon));
    mean.push_back((1 - share) * layer.mean[c] + share * of.mean[c]);
    // The running one is of the whole population: divided by count - 1.
    variance.push_back((1 - share) * layer.variance[c] +
                       share * of.variance[c] * count / (count - 1));
  }
  kit::expect_near(layer.saved_mean, of.mean, kit::Tolerance::relative(1e-5));
  kit::expect_near(layer.saved_inverse, inverse, kit::Tolerance::relative(close));
  kit::expect_near(layer.d_mean, mean, kit::Tolerance::relative(1e-4));
  kit::expect_near(layer.d_variance, variance, kit::Tolerance::relative(close));
}

}  // namespace

TEST(CudnnLayers, PoolsWindows) {
  RecordProperty("todo", 1);
  kit::for_each("x",
                std::vector<Pool>{{{2, 3, 8, 6}, 2, 0, 2},
                                  {{1, 2, 7, 9}, 3, 1, 2},
                                  {{3, 1, 5, 4}, 3, 0, 1},
                                  {{1, 4, 1, 1}, 1, 0, 1},
                                  {{2, 2, 6, 11}, 3, 2, 3}},
                check_pool);
}

TEST(CudnnLayers, ANanStaysOne) {
  RecordProperty("todo", 1);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto d_x = kit::DeviceBuffer<float>::input({-1, -2, -3, -4, nan, -5, -6, -7}, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(2, "y");
  const CudnnHandle handle;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  std::vector<int> size(2);
  kit::run([&] {
    return status = launch_max_pool(handle.get(), {2, 1, 2, 2}, 2, 0, 2, d_x.get(), d_y.get(),
                                    &size[0], &size[1]);
  });
  expect_success("launch_max_pool", status);
  const std::vector<float> got = d_y.download();
  if (got[0] != -1 || !std::isnan(got[1])) {
    kit::fail("The largest of -1 -2 -3 -4 became " + std::to_string(got[0]) +
              ", that of NaN -5 -6 -7 " + std::to_string(got[1]) +
              ", expected -1 and NaN: a NaN that disappears hides the mistake that made it.");
  }
}

TEST(CudnnLayers, ReturnsWhatCudnnSays) {
  RecordProperty("todo", 1);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(100, 0.5f), "x and y");
  const CudnnHandle handle;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  int rows = 1, cols = 1;
  kit::run([&] {  // windows of 7 x 7 in images of 4 x 5
    return status = launch_max_pool(handle.get(), {1, 2, 4, 5}, 7, 0, 1, d_x.get(), d_x.get() + 50,
                                    &rows, &cols);
  });
  expect_refusal("launch_max_pool", status);
}

TEST(CudnnLayers, AddsUpToOneOverAnImage) {
  RecordProperty("todo", 2);
  check_softmax_over(SoftmaxOver::kImage);
}

TEST(CudnnLayers, AddsUpToOneOverTheChannelsOfAPixel) {
  RecordProperty("todo", 2);
  check_softmax_over(SoftmaxOver::kChannels);
}

TEST(CudnnLayers, NormalisesABatch) {
  RecordProperty("todo", 3);
  kit::for_each("x", std::vector<BatchSizes>{{4, 3, 5, 6}, {8, 5, 1, 1}, {2, 1, 7, 3}},
                [](const BatchSizes& s) {
                  check_training(s, 1, 0);
                  check_training(s, 0.1, 100);
                });
}

TEST(CudnnLayers, EpsilonKeepsSmallVariancesApartFromZero) {
  RecordProperty("todo", 3);
  check_training({4, 1, 5, 6}, 0.5, 1, 0.004f);  // a variance of half an epsilon
}

TEST(CudnnLayers, UsesTheRunningValues) {
  RecordProperty("todo", 4);
  kit::for_each("x", std::vector<BatchSizes>{{1, 3, 5, 6}, {4, 5, 2, 1}}, [](const BatchSizes& s) {
    const Layer layer(s);
    const std::vector<float> x = layer.batch(0);
    const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
    const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
    const CudnnHandle handle;
    cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
    kit::run([&] {
      return status = launch_bn_inference(handle.get(), s, layer.get(), d_x.get(), d_y.get());
    });
    expect_success("launch_bn_inference", status);
    expect_no_wait("launch_bn_inference");
    const Statistics running = {{layer.mean.begin(), layer.mean.end()},
                                {layer.variance.begin(), layer.variance.end()}};
    kit::expect_near(d_y, normalised_on_cpu(x, s, running, layer.scale, layer.bias),
                     kit::Tolerance::absolute(1e-4), shape_of(s));
    kit::expect_equal(layer.d_mean, layer.mean);  // no batch is too small to be used
  });
}

TEST(CudnnLayers, DestroysItsDescriptors) {
  RecordProperty("todo", 1);
  check_pool({{1, 2, 4, 4}, 2, 0, 2});
  expect_destroyed("Tensor");
  expect_destroyed("Pooling");
}

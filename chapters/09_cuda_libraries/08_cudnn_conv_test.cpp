// Tests of 09/08 cuDNN, convolution.
#include "08_cudnn_conv.h"

#include <algorithm>
#include <cmath>

#include "07_cudnn_activation_support.h"
#include "kit/kit.h"
#include "warplings/script.h"

// As in "2 x 3 x 7 x 9, f = 5 x 3 x 3 x 3, pad 1 0, stride 2".
static std::ostream& operator<<(std::ostream& out, const ConvSetup& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w << ", f = " << s.k << " x "
             << s.c << " x " << s.r << " x " << s.s << ", pad " << s.pad_h << " " << s.pad_w
             << ", stride " << s.stride;
}

namespace {

int rows_of(const ConvSetup& s) { return (s.h + 2 * s.pad_h - s.r) / s.stride + 1; }
int cols_of(const ConvSetup& s) { return (s.w + 2 * s.pad_w - s.s) / s.stride + 1; }
size_t input_size(const ConvSetup& s) { return static_cast<size_t>(s.n) * s.c * s.h * s.w; }
size_t filter_size(const ConvSetup& s) { return static_cast<size_t>(s.k) * s.c * s.r * s.s; }

// Reference, in double: y (n x k x p x q) and the sums of absolute products, which rounding errors
// are proportional to.
struct Reference {
  std::vector<double> y, scale;
};
Reference conv_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                      const ConvSetup& s) {
  Reference result;
  const int p = rows_of(s), q = cols_of(s);
  for (int at = 0; at < s.n * s.k * p * q; ++at) {
    const int col = at % q, row = at / q % p, filter = at / q / p % s.k, image = at / q / p / s.k;
    double sum = 0, scale = 0;
    for (int c = 0; c < s.c; ++c) {
      for (int i = 0; i < s.r; ++i) {
        for (int j = 0; j < s.s; ++j) {
          const int from_row = row * s.stride + i - s.pad_h;
          const int from_col = col * s.stride + j - s.pad_w;
          if (from_row < 0 || from_row >= s.h || from_col < 0 || from_col >= s.w) continue;
          const double product =
              static_cast<double>(x[((image * s.c + c) * s.h + from_row) * s.w + from_col]) *
              f[((filter * s.c + c) * s.r + i) * s.s + j];
          sum += product;
          scale += std::fabs(product);
        }
      }
    }
    result.y.push_back(sum);
    result.scale.push_back(scale);
  }
  return result;
}

const std::vector<ConvSetup>& layers() {
  static const std::vector<ConvSetup> all = {{2, 3, 7, 9, 5, 3, 3, 1, 1, 1},
                                             {1, 1, 5, 4, 1, 1, 1, 0, 0, 1},
                                             {3, 2, 6, 11, 4, 3, 2, 2, 0, 1},
                                             {1, 4, 9, 8, 3, 2, 3, 0, 1, 2},
                                             {2, 3, 12, 5, 6, 5, 5, 2, 2, 3}};
  return all;
}

// The descriptors of a layer, set by the test itself.
void set_by_test(const ConvSetup& s, const ConvDescriptors& d) {
  expect_success(
      "the test's own description",
      first_failure(
          {cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s.n, s.c, s.h, s.w),
           cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, s.n, s.k,
                                      rows_of(s), cols_of(s)),
           cudnnSetFilter4dDescriptor(d.f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, s.k, s.c, s.r, s.s),
           cudnnSetConvolution2dDescriptor(d.how, s.pad_h, s.pad_w, s.stride, s.stride, 1, 1,
                                           CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
           cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH)}));
}

void check_flatten(const kit::Shape3& shape) {
  const size_t count = shape.size();
  std::vector<float> values(count), flat(count, -1);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
  // Rows that lie apart, in another order than in the tensor.
  std::vector<std::vector<float>> rows;
  std::vector<const float*> row_of(count);
  for (int i = 0; i < shape.depth * shape.rows; ++i) {
    rows.emplace_back(values.begin() + i * shape.cols, values.begin() + (i + 1) * shape.cols);
  }
  std::vector<const float* const*> channels;
  for (size_t i = 0; i < rows.size(); ++i) row_of[i] = rows[i].data();
  for (int c = 0; c < shape.depth; ++c) channels.push_back(&row_of[c * shape.rows]);
  flatten(channels.data(), shape.depth, shape.rows, shape.cols, flat.data());
  kit::expect_equal("flat", flat, values, shape);  // each value is its own position
}

void check_description(const ConvSetup& s) {
  const ConvDescriptors d;
  expect_success("describe_conv", describe_conv(s, d));
  std::vector<cudnnDataType_t> types(3, CUDNN_DATA_DOUBLE);  // of x, f and the sums
  cudnnTensorFormat_t order = CUDNN_TENSOR_NHWC;
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
  std::vector<int> x(8), f(4), how(6);
  const cudnnStatus_t read =
      first_failure({cudnnGetTensor4dDescriptor(d.x, &types[0], &x[0], &x[1], &x[2], &x[3], &x[4],
                                                &x[5], &x[6], &x[7]),
                     cudnnGetFilter4dDescriptor(d.f, &types[1], &order, &f[0], &f[1], &f[2], &f[3]),
                     cudnnGetConvolution2dDescriptor(d.how, &how[0], &how[1], &how[2], &how[3],
                                                     &how[4], &how[5], &mode, &types[2]),
                     cudnnGetConvolutionMathType(d.how, &math)});
  expect_success("reading what describe_conv set", read);
  expect_settings("d.x", tensor_settings(), x,
                  {s.n, s.c, s.h, s.w, s.c * s.h * s.w, s.h * s.w, s.w, 1});
  expect_settings("d.f",
                  {"the number of filters", "the number of channels", "the number of rows",
                   "the number of columns"},
                  f, {s.k, s.c, s.r, s.s});
  expect_settings("d.how",
                  {"the padding above and below", "the padding left and right", "the stride down",
                   "the stride across", "the dilation down", "the dilation across"},
                  how, {s.pad_h, s.pad_w, s.stride, s.stride, 1, 1});
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == CUDNN_DATA_FLOAT) continue;
    kit::fail(std::string(i == 0   ? "d.x does not hold"
                          : i == 1 ? "d.f does not hold"
                                   : "d.how does not add up in") +
              " floats, CUDNN_DATA_FLOAT.");
  }
  if (order != CUDNN_TENSOR_NCHW) {
    kit::fail("The filters of d.f are not in the order CUDNN_TENSOR_NCHW.");
  }
  if (mode != CUDNN_CROSS_CORRELATION) {
    kit::fail("The mode is CUDNN_CONVOLUTION, which turns every filter by 180 degrees first.");
  }
  if (math != CUDNN_FMA_MATH) {
    kit::fail(
        "The math type is not CUDNN_FMA_MATH. With the default, cuDNN may use tensor "
        "cores, which keep 10 bits of the mantissa of a float.");
  }
}

void check_size(const ConvSetup& s) {
  const ConvDescriptors d;
  set_by_test(s, d);
  cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NHWC, CUDNN_DATA_DOUBLE, 1, 2, 3, 4);  // not yet
  std::vector<int> sizes(4), y(8);
  expect_success("size_output", size_output(d, &sizes[0], &sizes[1], &sizes[2], &sizes[3]));
  expect_settings("size_output", {"*n", "*k", "*p", "*q"}, sizes,
                  {s.n, s.k, rows_of(s), cols_of(s)});
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  cudnnGetTensor4dDescriptor(d.y, &type, &y[0], &y[1], &y[2], &y[3], &y[4], &y[5], &y[6], &y[7]);
  const int plane = rows_of(s) * cols_of(s);
  expect_settings("d.y", tensor_settings(), y,
                  {s.n, s.k, rows_of(s), cols_of(s), s.k * plane, plane, cols_of(s), 1});
  if (type != CUDNN_DATA_FLOAT) kit::fail("d.y does not say floats.");
}

// An algorithm of the test's own list that needs at most `limit` bytes; its status is a failure if
// there is none.
cudnnConvolutionFwdAlgoPerf_t first_within(cudnnHandle_t handle, const ConvDescriptors& d,
                                           size_t limit) {
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
  int count = 0;
  expect_success(
      "cudnnGetConvolutionForwardAlgorithm_v7",
      cudnnGetConvolutionForwardAlgorithm_v7(handle, d.x, d.f, d.how, d.y,
                                             CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, found));
  for (int i = 0; i < count; ++i) {
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= limit) return found[i];
  }
  found[0].status = CUDNN_STATUS_NOT_SUPPORTED;
  return found[0];
}

void check_choice(const ConvDescriptors& d, cudnnHandle_t handle, size_t limit) {
  const cudnnConvolutionFwdAlgoPerf_t expected = first_within(handle, d, limit);
  cudnnConvolutionFwdAlgoPerf_t chosen{};
  const cudnnStatus_t status = choose_algorithm(handle, d, limit, &chosen);
  if (expected.status != CUDNN_STATUS_SUCCESS) {
    if (status == CUDNN_STATUS_SUCCESS) {
      kit::fail("choose_algorithm returned a success where no algorithm fits.");
    }
    return;
  }
  expect_success("choose_algorithm", status);
  if (chosen.status != CUDNN_STATUS_SUCCESS) {
    kit::fail("The chosen algorithm does not work here: its entry of the list says " +
              std::string(cudnnGetErrorString(chosen.status)) + ".");
  }
  if (chosen.memory > limit) {
    kit::fail("The chosen algorithm needs " + std::to_string(chosen.memory) +
              " bytes of workspace; there are " + std::to_string(limit) + ".");
  }
  if (chosen.algo != expected.algo) {
    kit::fail("Algorithm " + std::to_string(chosen.algo) + " was chosen. Algorithm " +
              std::to_string(expected.algo) + " stands before it in the list, and fits too.");
  }
}

void check_conv(const ConvSetup& s, const std::vector<float>& x, const std::vector<float>& f,
                size_t limit, bool exact) {
  const Reference expected = conv_on_cpu(x, f, s);
  const auto d_from = kit::DeviceBuffer<float>::input(x, "a copy of x");
  const auto d_x = kit::DeviceBuffer<float>::output(x.size(), "x");
  const auto d_f = kit::DeviceBuffer<float>::input(f, "f");
  const auto d_y = kit::DeviceBuffer<float>::output(expected.y.size(), "y");
  const CudnnHandle handle;
  const ConvDescriptors d;
  set_by_test(s, d);
  const cudnnConvolutionFwdAlgoPerf_t chosen = first_within(handle.get(), d, limit);
  const auto d_workspace = kit::DeviceBuffer<char>::output(chosen.memory, "workspace");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // x arrives in the stream, right before the call
    cudaMemcpyAsync(d_x.get(), d_from.get(), x.size() * sizeof(float), cudaMemcpyDeviceToDevice,
                    handle.stream());
    return status = launch_conv(handle.get(), d, chosen, d_x.get(), d_f.get(), d_workspace.get(),
                                d_y.get());
  });
  expect_success("launch_conv", status);
  expect_no_wait("launch_conv");
  kit::expect_near(d_y, expected.y,
                   exact ? kit::Tolerance::absolute(0) : kit::Tolerance::units(16, expected.scale),
                   kit::Shape(s.n * s.k, rows_of(s), cols_of(s)));
}

}  // namespace

TEST(CudnnConv, FlattensAnImage) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<kit::Shape3>{{4, 2, 3}, {1, 1, 1}, {3, 1, 5}, {2, 7, 1}},
                check_flatten);
}

TEST(CudnnConv, DescribesALayer) {
  RecordProperty("todo", 2);
  kit::for_each("x", layers(), check_description);
}

TEST(CudnnConv, ReturnsWhatWasRefused) {
  RecordProperty("todo", 2);
  kit::for_each("x",
                std::vector<ConvSetup>{{2, -3, 7, 9, 5, 3, 3, 1, 1, 1},
                                       {2, 3, 7, 9, 5, 0, 3, 1, 1, 1},
                                       {2, 3, 7, 9, 5, 3, 3, -1, 1, 1}},
                [](const ConvSetup& s) {
                  const ConvDescriptors d;
                  if (describe_conv(s, d) == CUDNN_STATUS_SUCCESS) {
                    kit::fail("describe_conv returned a success for sizes that cuDNN refuses.");
                  }
                });
}

TEST(CudnnConv, AsksForTheSizeOfTheResult) {
  RecordProperty("todo", 3);
  kit::for_each("x", layers(), check_size);
}

TEST(CudnnConv, SaysWhereThereIsNoResult) {
  RecordProperty("todo", 3);
  const ConvDescriptors d;
  cudnnSetTensor4dDescriptor(d.x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 2, 4, 6);
  // Filters of 7 rows for images of 6, with their padding.
  cudnnSetFilter4dDescriptor(d.f, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 3, 2, 7, 3);
  cudnnSetConvolution2dDescriptor(d.how, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                  CUDNN_DATA_FLOAT);
  std::vector<int> sizes(4, 1);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] { return status = size_output(d, &sizes[0], &sizes[1], &sizes[2], &sizes[3]); });
  expect_refusal("size_output", status);
}

TEST(CudnnConv, ChoosesWithinTheWorkspace) {
  RecordProperty("todo", 4);
  const CudnnHandle handle;
  const ConvDescriptors d;
  set_by_test({4, 8, 24, 20, 16, 3, 3, 1, 1, 1}, d);
  const size_t first = first_within(handle.get(), d, size_t{1} << 30).memory;
  kit::for_each("workspace",
                std::vector<size_t>{size_t{1} << 30, first, first > 0 ? first - 1 : 0, 0},
                [&](size_t limit) { check_choice(d, handle.get(), limit); });
}

// cuDNN says of each entry whether it works, and promises no order of those that do not.
TEST(CudnnConv, ChoosesFromAListInAnotherOrder) {
  RecordProperty("todo", 4);
  if (!kit::simulated()) return;
  const CudnnHandle handle;
  const ConvDescriptors d;
  set_by_test({4, 8, 24, 20, 16, 3, 3, 1, 1, 1}, d);
  wsim_script_turned_lists(1);
  kit::for_each("workspace", std::vector<size_t>{size_t{1} << 30, 0},
                [&](size_t limit) { check_choice(d, handle.get(), limit); });
  wsim_script_turned_lists(0);
}

TEST(CudnnConv, ConvolvesImages) {
  RecordProperty("todo", 5);
  kit::for_each("x", layers(), [](const ConvSetup& s) {
    const std::vector<float> x = kit::random_integer_floats(input_size(s));
    check_conv(s, x, kit::random_integer_floats(filter_size(s)), 0, true);
  });
}

TEST(CudnnConv, ReturnsWhatCudnnSays) {
  RecordProperty("todo", 5);
  const auto d_all = kit::DeviceBuffer<float>::inout(std::vector<float>(4000, 0.5f), "x, f and y");
  const CudnnHandle handle;
  const ConvDescriptors d;
  set_by_test({2, 3, 7, 9, 5, 3, 3, 1, 1, 1}, d);
  const cudnnConvolutionFwdAlgoPerf_t chosen = first_within(handle.get(), d, 0);
  // A result one column narrower than the description of the convolution makes it.
  cudnnSetTensor4dDescriptor(d.y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 2, 5, 7, 8);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    return status =
               launch_conv(handle.get(), d, chosen, d_all.get(), d_all.get(), nullptr, d_all.get());
  });
  expect_refusal("launch_conv", status);
}

TEST(CudnnConv, UsesItsWorkspace) {
  RecordProperty("todo", 5);
  const ConvSetup s = {2, 4, 14, 12, 6, 3, 3, 1, 1, 1};
  const std::vector<float> x = kit::random_floats(input_size(s));
  check_conv(s, x, kit::random_floats(filter_size(s)), size_t{1} << 28, false);
}

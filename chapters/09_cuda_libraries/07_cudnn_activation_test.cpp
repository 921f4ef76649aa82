// Tests of 09/07 cuDNN, activation.
#include "07_cudnn_activation.h"

#include <cmath>

#include "07_cudnn_activation_support.h"
#include "kit/kit.h"

static std::ostream& operator<<(std::ostream& out, const TensorSizes& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w;
}

namespace {

size_t size_of(const TensorSizes& s) { return static_cast<size_t>(s.n) * s.c * s.h * s.w; }

// No two sizes alike, a single element, a row, and one that is 1 everywhere but in the channels.
const std::vector<TensorSizes>& awkward_tensors() {
  static const std::vector<TensorSizes> all = {
      {2, 3, 4, 5}, {1, 1, 1, 1}, {1, 7, 1, 1}, {3, 1, 33, 31}, {1, 2, 1, 513}};
  return all;
}

// Reference: y = alpha tanh(x) + beta y, in double.
std::vector<double> tanh_on_cpu(double alpha, const std::vector<float>& x, double beta,
                                const std::vector<float>& y) {
  std::vector<double> result;
  for (size_t i = 0; i < x.size(); ++i) {
    result.push_back(alpha * std::tanh(static_cast<double>(x[i])) + beta * y[i]);
  }
  return result;
}

// A tanh in half precision is off by 2e-4.
kit::Tolerance close() { return kit::Tolerance::absolute(1e-5); }

void check_descriptor(const TensorSizes& s) {
  cudnnTensorDescriptor_t tensor = nullptr;
  expect_success("describe_tensor", describe_tensor(s, &tensor));
  if (tensor == nullptr) {
    kit::fail("describe_tensor returned a success and left *tensor a nullptr: no descriptor.");
    return;
  }
  cudnnDataType_t type = CUDNN_DATA_DOUBLE;
  std::vector<int> got(8);
  expect_success("cudnnGetTensor4dDescriptor of what describe_tensor made",
                 cudnnGetTensor4dDescriptor(tensor, &type, &got[0], &got[1], &got[2], &got[3],
                                            &got[4], &got[5], &got[6], &got[7]));
  cudnnDestroyTensorDescriptor(tensor);
  if (type != CUDNN_DATA_FLOAT) kit::fail("The tensor does not hold floats, CUDNN_DATA_FLOAT.");
  expect_settings("The tensor", tensor_settings(), got,
                  {s.n, s.c, s.h, s.w, s.c * s.h * s.w, s.h * s.w, s.w, 1});
}

// Descriptors of the learner's, for as long as a test needs them.
struct Described {
  explicit Described(const TensorSizes& s) {
    expect_success("describe_tensor", describe_tensor(s, &tensor));
    expect_success("describe_tanh", describe_tanh(&activation));
  }
  ~Described() {
    if (tensor != nullptr) cudnnDestroyTensorDescriptor(tensor);
    if (activation != nullptr) cudnnDestroyActivationDescriptor(activation);
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnActivationDescriptor_t activation = nullptr;
};

struct Blend {
  TensorSizes sizes;
  float alpha, beta;
  bool in_place;
};
std::ostream& operator<<(std::ostream& out, const Blend& b) {
  return out << b.sizes << ", alpha " << b.alpha << ", beta " << b.beta
             << (b.in_place ? ", in place" : "");
}

void check_tanh(const Blend& b) {
  const std::vector<float> x = kit::random_floats(size_of(b.sizes), -4, 4);
  const std::vector<float> y = b.in_place ? x : kit::random_floats(size_of(b.sizes), -4, 4);
  const auto at_end = kit::Placement::kAtEnd;
  const auto d_from = kit::DeviceBuffer<float>::input(x, "a copy of x");
  const auto d_x = kit::DeviceBuffer<float>::output(x.size(), "x", at_end);
  const auto d_y = b.beta == 0 && !b.in_place
                       ? kit::DeviceBuffer<float>::output(y.size(), "y", at_end)
                       : kit::DeviceBuffer<float>::inout(y, "y", at_end);
  const CudnnHandle handle;
  const Described described(b.sizes);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // x arrives in the stream, right before the call
    cudaMemcpyAsync(d_x.get(), d_from.get(), x.size() * sizeof(float), cudaMemcpyDeviceToDevice,
                    handle.stream());
    return status = launch_tanh(handle.get(), described.activation, described.tensor, b.alpha,
                                b.in_place ? d_y.get() : d_x.get(), b.beta, d_y.get());
  });
  expect_success("launch_tanh", status);
  expect_no_wait("launch_tanh");
  handle.expect_unchanged();
  kit::expect_near(d_y, tanh_on_cpu(b.alpha, x, b.beta, y), close(),
                   kit::Shape(b.sizes.n * b.sizes.c, b.sizes.h, b.sizes.w));
}

struct Part {
  TensorSizes sizes;
  int first, count;
};
std::ostream& operator<<(std::ostream& out, const Part& p) {
  return out << p.sizes << ", channels " << p.first << " to " << p.first + p.count - 1;
}

void check_channels(const Part& p) {
  const std::vector<float> x = kit::random_floats(size_of(p.sizes), -4, 4);
  std::vector<double> expected = tanh_on_cpu(1, x, 0, x);
  const size_t plane = static_cast<size_t>(p.sizes.h) * p.sizes.w;
  for (size_t i = 0; i < x.size(); ++i) {
    const int channel = static_cast<int>(i / plane % p.sizes.c);
    if (channel < p.first || channel >= p.first + p.count) expected[i] = x[i];
  }
  const auto d_x = kit::DeviceBuffer<float>::inout(x, "x", kit::Placement::kAtEnd);
  const CudnnHandle handle;
  const Described described(p.sizes);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_tanh_channels(handle.get(), described.activation, p.sizes, p.first,
                                         p.count, d_x.get());
  });
  expect_success("launch_tanh_channels", status);
  expect_no_wait("launch_tanh_channels");
  kit::expect_near(d_x, expected, close(), kit::Shape(p.sizes.n * p.sizes.c, p.sizes.h, p.sizes.w));
}

}  // namespace

TEST(CudnnActivation, DescribesATensor) {
  RecordProperty("todo", 1);
  kit::for_each("tensor", awkward_tensors(), check_descriptor);
}

TEST(CudnnActivation, ReturnsWhatWasRefused) {
  RecordProperty("todo", 1);
  kit::for_each("tensor", std::vector<TensorSizes>{{0, 3, 4, 5}, {2, 3, -4, 5}},
                [](const TensorSizes& s) {
                  cudnnTensorDescriptor_t tensor = nullptr;
                  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
                  kit::run([&] { return status = describe_tensor(s, &tensor); });
                  if (status == CUDNN_STATUS_SUCCESS) {
                    kit::fail(
                        "describe_tensor returned a success for sizes that cuDNN refuses. "
                        "The status of cudnnSetTensor4dDescriptor is the only place that says so.");
                  }
                  if (tensor != nullptr) {
                    kit::fail("describe_tensor left a descriptor that nobody has set.");
                  }
                  expect_destroyed("Tensor");
                });
}

TEST(CudnnActivation, DescribesTheHyperbolicTangent) {
  RecordProperty("todo", 2);
  const std::vector<float> x = {-3, -1, -0.25f, 0, 0.5f, 2, 30};
  const CudnnHandle handle;
  cudnnTensorDescriptor_t tensor = nullptr;
  cudnnCreateTensorDescriptor(&tensor);
  cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 7);
  cudnnActivationDescriptor_t activation = nullptr;
  expect_success("describe_tanh", describe_tanh(&activation));
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_y = kit::DeviceBuffer<float>::output(x.size(), "y");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    const float one = 1, zero = 0;
    status = cudnnActivationForward(handle.get(), activation, &one, tensor, d_x.get(), &zero,
                                    tensor, d_y.get());
    cudaStreamSynchronize(handle.stream());
  });
  expect_success("cudnnActivationForward with the descriptor of describe_tanh", status);
  kit::expect_near(d_y, tanh_on_cpu(1, x, 0, x), close());
  cudnnDestroyActivationDescriptor(activation);
  cudnnDestroyTensorDescriptor(tensor);
}

TEST(CudnnActivation, AppliesItToTensors) {
  RecordProperty("todo", 3);
  kit::for_each("tensor", awkward_tensors(), [](const TensorSizes& s) {
    check_tanh({s, 1, 0, false});
  });
}

TEST(CudnnActivation, BlendsWithWhatIsThere) {
  RecordProperty("todo", 3);
  kit::for_each("tensor",
                std::vector<Blend>{{{2, 3, 4, 5}, 0.5f, -2, false},
                                   {{2, 3, 4, 5}, 3, 0, false},
                                   {{1, 3, 5, 7}, 1, 0, true},
                                   {{1, 3, 5, 7}, 2, 0.25f, true}},
                [](const Blend& b) { check_tanh(b); });
}

TEST(CudnnActivation, ReturnsWhatCudnnSays) {
  RecordProperty("todo", 3);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(8, 0.5f), "x");
  const CudnnHandle handle;
  const Described described({1, 1, 1, 8});
  cudnnTensorDescriptor_t unset = nullptr;
  cudnnCreateTensorDescriptor(&unset);
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    return status =
               launch_tanh(handle.get(), described.activation, unset, 1, d_x.get(), 0, d_x.get());
  });
  cudnnDestroyTensorDescriptor(unset);
  expect_refusal("launch_tanh", status);
}

TEST(CudnnActivation, ChangesSomeChannelsOfEveryImage) {
  RecordProperty("todo", 4);
  kit::for_each(
      "tensor",
      std::vector<Part>{
          {{1, 4, 2, 3}, 1, 2}, {{3, 5, 2, 7}, 2, 2}, {{2, 3, 4, 5}, 0, 3}, {{4, 6, 1, 1}, 5, 1}},
      check_channels);
}

TEST(CudnnActivation, DestroysWhatItMade) {
  RecordProperty("todo", 4);
  check_channels({{2, 3, 4, 5}, 1, 1});
  expect_destroyed("Tensor");
}

TEST(CudnnActivation, DestroysItAlsoWhereCudnnRefuses) {
  RecordProperty("todo", 4);
  const auto d_x = kit::DeviceBuffer<float>::inout(std::vector<float>(120, 0.5f), "x");
  const CudnnHandle handle;
  const Described described({2, 3, 4, 5});
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // no channels: no tensor has none
    status =
        launch_tanh_channels(handle.get(), described.activation, {2, 3, 4, 5}, 1, 0, d_x.get());
  });
  expect_refusal("launch_tanh_channels", status);
  expect_destroyed("Tensor");
}

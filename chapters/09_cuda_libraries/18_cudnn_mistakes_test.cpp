// Tests of 09/18 cuDNN, three mistakes.
#include "18_cudnn_mistakes.h"

#include "07_cudnn_activation_support.h"
#include "kit/kit.h"
#include "warplings/script.h"

// As in "1 x 3 x 7 x 9, 4 filters 3 x 3, pad 1 1, stride 2".
static std::ostream& operator<<(std::ostream& out, const ConvSetup& s) {
  return out << s.n << " x " << s.c << " x " << s.h << " x " << s.w << ", " << s.k << " filters "
             << s.r << " x " << s.s << ", pad " << s.pad_h << " " << s.pad_w << ", stride "
             << s.stride;
}

namespace {

int rows_of(const ConvSetup& s) { return (s.h + 2 * s.pad_h - s.r) / s.stride + 1; }
int cols_of(const ConvSetup& s) { return (s.w + 2 * s.pad_w - s.s) / s.stride + 1; }

// Reference, in double. x is n x c x h x w, f is k x c x r x s, the result n x k x rows x cols.
std::vector<double> layer_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                                 const ConvSetup& s) {
  std::vector<double> y;
  const int p = rows_of(s), q = cols_of(s);
  for (int at = 0; at < s.n * s.k * p * q; ++at) {
    const int col = at % q, row = at / q % p, filter = at / q / p % s.k, image = at / q / p / s.k;
    double sum = 0;
    for (int c = 0; c < s.c; ++c) {
      for (int i = 0; i < s.r; ++i) {
        for (int j = 0; j < s.s; ++j) {
          const int from_row = row * s.stride + i - s.pad_h;
          const int from_col = col * s.stride + j - s.pad_w;
          if (from_row < 0 || from_row >= s.h || from_col < 0 || from_col >= s.w) continue;
          sum += static_cast<double>(x[((image * s.c + c) * s.h + from_row) * s.w + from_col]) *
                 f[((filter * s.c + c) * s.r + i) * s.s + j];
        }
      }
    }
    y.push_back(sum);
  }
  return y;
}

struct Outcome {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  cudnnConvolutionFwdAlgoPerf_t used{};
};

// Small integers, so that every algorithm without a transform is exact.
Outcome check_layer(const ConvSetup& s, size_t bytes) {
  const std::vector<float> x =
      kit::random_integer_floats(static_cast<size_t>(s.n) * s.c * s.h * s.w);
  const std::vector<float> f =
      kit::random_integer_floats(static_cast<size_t>(s.k) * s.c * s.r * s.s);
  const std::vector<double> expected = layer_on_cpu(x, f, s);
  const auto d_x = kit::DeviceBuffer<float>::input(x, "x");
  const auto d_f = kit::DeviceBuffer<float>::input(f, "f");
  const auto d_y = kit::DeviceBuffer<float>::output(expected.size(), "y");
  const auto d_workspace = kit::DeviceBuffer<char>::output(bytes, "workspace");
  const CudnnHandle handle;
  Outcome outcome;
  kit::run([&] {
    return outcome.status = run_layer(handle.get(), s, d_x.get(), d_f.get(), d_workspace.get(),
                                      bytes, d_y.get(), &outcome.used);
  });
  expect_success("run_layer", outcome.status);
  kit::expect_near(d_y, expected, kit::Tolerance::absolute(bytes == 0 ? 0 : 1e-2),
                   kit::Shape(s.n * s.k, rows_of(s), cols_of(s)));
  return outcome;
}

// What cuDNN says to the first of the calls that refuses this layer.
cudnnStatus_t refusal_of(const ConvSetup& s) {
  const ConvDescriptors d;
  const auto order = CUDNN_TENSOR_NCHW;
  const auto type = CUDNN_DATA_FLOAT;
  int n = 0, k = 0, rows = 0, cols = 0;
  // None behind a refusal: cuDNN 9 divides by the stride that a refused descriptor lacks.
  cudnnStatus_t status = cudnnSetTensor4dDescriptor(d.x, order, type, s.n, s.c, s.h, s.w);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnSetFilter4dDescriptor(d.f, type, order, s.k, s.c, s.r, s.s);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  status = cudnnSetConvolution2dDescriptor(d.how, s.pad_h, s.pad_w, s.stride, s.stride, 1, 1,
                                           CUDNN_CROSS_CORRELATION, type);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  return cudnnGetConvolution2dForwardOutputDim(d.how, d.x, d.f, &n, &k, &rows, &cols);
}

// The entry that the description of run_layer asks for, from the test's own descriptors.
cudnnConvolutionFwdAlgoPerf_t first_that_fits(const ConvSetup& s, size_t bytes) {
  const CudnnHandle handle;
  const ConvDescriptors d;
  const auto order = CUDNN_TENSOR_NCHW;
  const auto type = CUDNN_DATA_FLOAT;
  cudnnConvolutionFwdAlgoPerf_t found[CUDNN_CONVOLUTION_FWD_ALGO_COUNT] = {};
  int count = 0;
  expect_success(
      "the test's own list of algorithms",
      first_failure({cudnnSetTensor4dDescriptor(d.x, order, type, s.n, s.c, s.h, s.w),
                     cudnnSetTensor4dDescriptor(d.y, order, type, s.n, s.k, rows_of(s), cols_of(s)),
                     cudnnSetFilter4dDescriptor(d.f, type, order, s.k, s.c, s.r, s.s),
                     cudnnSetConvolution2dDescriptor(d.how, s.pad_h, s.pad_w, s.stride, s.stride, 1,
                                                     1, CUDNN_CROSS_CORRELATION, type),
                     cudnnSetConvolutionMathType(d.how, CUDNN_FMA_MATH),
                     cudnnGetConvolutionForwardAlgorithm_v7(handle.get(), d.x, d.f, d.how, d.y,
                                                            CUDNN_CONVOLUTION_FWD_ALGO_COUNT,
                                                            &count, found)}));
  for (int i = 0; i < count; ++i) {
    if (found[i].status == CUDNN_STATUS_SUCCESS && found[i].memory <= bytes) return found[i];
  }
  kit::fail("cuDNN has no algorithm for the test's own layer.");
  return found[0];
}

void check_choice(const ConvSetup& s, size_t bytes) {
  const cudnnConvolutionFwdAlgoPerf_t expected = first_that_fits(s, bytes);
  const Outcome outcome = check_layer(s, bytes);
  if (outcome.used.algo == expected.algo && outcome.used.memory == expected.memory) return;
  kit::fail("run_layer used algorithm " + std::to_string(outcome.used.algo) + " with " +
            std::to_string(outcome.used.memory) +
            " bytes of workspace. The first of the list that "
            "works with " +
            std::to_string(bytes) + " bytes is algorithm " + std::to_string(expected.algo) +
            ", which needs " + std::to_string(expected.memory) + ".");
}

}  // namespace

TEST(CudnnMistakes, SaysWhatWasRefused) {
  RecordProperty("todo", 1);
  // No filters; a padding below 0; filters that are larger than the image with its padding.
  kit::for_each(
      "x",
      std::vector<ConvSetup>{{1, 2, 6, 6, 0, 3, 3, 1, 1, 1},
                             {1, 2, 6, 6, 3, 3, 3, 1, -1, 1},
                             {1, 2, 4, 6, 3, 7, 3, 1, 1, 1}},
      [](const ConvSetup& s) {
        // Room for whatever would be computed.
        const auto d_floats =
            kit::DeviceBuffer<float>::inout(std::vector<float>(1000, 0.5f), "x, f and y");
        const CudnnHandle handle;
        Outcome outcome;
        kit::run([&] {
          return outcome.status = run_layer(handle.get(), s, d_floats.get(), d_floats.get(),
                                            nullptr, 0, d_floats.get(), &outcome.used);
        });
        if (outcome.status == CUDNN_STATUS_SUCCESS) {
          kit::fail(
              "run_layer returned a success for a layer that cuDNN refuses. A status "
              "that nobody reads leaves y as it was, and the program goes on with it.");
        } else if (outcome.status != refusal_of(s)) {
          kit::fail(std::string("run_layer returned ") + cudnnGetErrorString(outcome.status) +
                    ", but what failed first said " + cudnnGetErrorString(refusal_of(s)) +
                    ": later calls fail for the sake of the first.");
        }
      });
}

TEST(CudnnMistakes, FiltersWithoutPadding) {
  RecordProperty("todo", 2);
  kit::for_each(
      "x", std::vector<ConvSetup>{{2, 3, 7, 9, 4, 3, 3, 0, 0, 1}, {1, 1, 5, 4, 2, 1, 1, 0, 0, 2}},
      [](const ConvSetup& s) { check_layer(s, 0); });
}

TEST(CudnnMistakes, FiltersWithPadding) {
  RecordProperty("todo", 2);
  kit::for_each("x",
                std::vector<ConvSetup>{{2, 3, 7, 9, 4, 3, 3, 1, 1, 1},
                                       {1, 2, 6, 8, 3, 5, 3, 2, 0, 1},
                                       {3, 1, 9, 5, 2, 3, 3, 1, 1, 2}},
                [](const ConvSetup& s) { check_layer(s, 0); });
}

TEST(CudnnMistakes, ChoosesAnAlgorithm) {
  RecordProperty("todo", 3);
  // Without padding, so that this is asked by itself.
  const ConvSetup setup = {2, 8, 20, 18, 16, 3, 3, 0, 0, 1};
  const size_t most = first_that_fits(setup, size_t{1} << 28).memory;
  kit::for_each("bytes of workspace", std::vector<size_t>{most, most > 0 ? most - 1 : 0, 0},
                [&](size_t bytes) { check_choice(setup, bytes); });
}

// cuDNN says of each entry whether it works, and promises no order of those that do not.
TEST(CudnnMistakes, ChoosesFromAListInAnotherOrder) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  for (const int turned : {1, 0}) {
    wsim_script_turned_lists(turned);
    kit::for_each("bytes of workspace",
                  std::vector<size_t>{size_t{1} << 28, 200'000, 100'000, 50'000, 10'000, 1'000},
                  [](size_t bytes) {
                    check_choice({2, 8, 20, 18, 16, 3, 3, 0, 0, 1}, bytes);
                  });
  }
}

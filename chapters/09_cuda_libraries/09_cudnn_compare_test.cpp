// Tests of 09/09 cuDNN, compared. Your convolution is the one of 08/11.
#include "09_cudnn_compare.h"

#include <cmath>

#include "../08_fft_convolution/11_conv2d_implicit_gemm.h"
#include "09_cuda_libraries/test/cudnn.h"
#include "kit/kit.h"

namespace {

// The arrays and descriptors of a layer, all in the default stream.
class Layer {
 public:
  explicit Layer(const ConvLayer& layer)
      : layer_(layer),
        count_(static_cast<size_t>(layer.n) * layer.k * layer.p() * layer.q()),
        x_(kit::DeviceBuffer<float>::input(
            kit::random_floats(static_cast<size_t>(layer.n) * layer.c * layer.h * layer.w), "x")),
        f_(kit::DeviceBuffer<float>::input(
            kit::random_floats(static_cast<size_t>(layer.k) * layer.c * layer.r * layer.s), "f")),
        y_(kit::DeviceBuffer<float>::output(count_, "y")) {
    const auto order = CUDNN_TENSOR_NCHW;
    const auto type = CUDNN_DATA_FLOAT;
    expect_success("cudnnCreate", cudnnCreate(&handle_));
    expect_success(
        "the test's own description",
        first_failure(
            {cudnnSetTensor4dDescriptor(d_.x, order, type, layer.n, layer.c, layer.h, layer.w),
             cudnnSetTensor4dDescriptor(d_.y, order, type, layer.n, layer.k, layer.p(), layer.q()),
             cudnnSetFilter4dDescriptor(d_.f, type, order, layer.k, layer.c, layer.r, layer.s),
             cudnnSetConvolution2dDescriptor(d_.how, layer.pad, layer.pad, 1, 1, 1, 1,
                                             CUDNN_CROSS_CORRELATION, type),
             cudnnSetConvolutionMathType(d_.how, CUDNN_FMA_MATH)}));
  }
  ~Layer() { cudnnDestroy(handle_); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  size_t count() const { return count_; }
  float* y() const { return y_.get(); }
  void convolve() const { launch_conv2d_implicit_gemm(x_.get(), f_.get(), y_.get(), layer_); }

  // The learner's table; `yours` is what it is told to compare with.
  std::vector<CompareRow> compare(const std::function<void()>& yours, kit::Run* run) const {
    std::vector<CompareRow> rows;
    *run = kit::run([&] {
      rows = compare_algorithms(handle_, d_, x_.get(), f_.get(), y_.get(), count_, yours,
                                kit::work_scale(3, 21));
    });
    if (rows.size() != 1 + CUDNN_CONVOLUTION_FWD_ALGO_COUNT) {
      kit::fail("compare_algorithms returned " + std::to_string(rows.size()) + " rows, expected " +
                std::to_string(1 + CUDNN_CONVOLUTION_FWD_ALGO_COUNT) + ".");
      rows.resize(1 + CUDNN_CONVOLUTION_FWD_ALGO_COUNT);
    }
    return rows;
  }

  // What cuDNN says about an algorithm, asked by the test itself.
  cudnnStatus_t asked(int number, size_t* bytes) const {
    return cudnnGetConvolutionForwardWorkspaceSize(
        handle_, d_.x, d_.f, d_.how, d_.y, static_cast<cudnnConvolutionFwdAlgo_t>(number), bytes);
  }

 private:
  ConvLayer layer_;
  size_t count_;
  kit::DeviceBuffer<float> x_, f_, y_;
  ConvDescriptors d_;
  cudnnHandle_t handle_ = nullptr;
};

ConvLayer small_layer() { return {2, 4, 12, 14, 8, 3, 3, 1}; }

// Every status and workspace as cuDNN itself says them; a time where it ran, and only there.
void check_row(const Layer& layer, const CompareRow& row, int number) {
  size_t bytes = 0;
  const cudnnStatus_t status = layer.asked(number, &bytes);
  const std::string name = "The row of " + algorithm_name(number);
  if ((status == CUDNN_STATUS_SUCCESS) != (row.status == CUDNN_STATUS_SUCCESS)) {
    kit::fail(name + " has the status " + cudnnGetErrorString(row.status) +
              "; cuDNN says about its workspace: " + cudnnGetErrorString(status) + ".");
  } else if (status != CUDNN_STATUS_SUCCESS) {
    if (row.milliseconds >= 0) kit::fail(name + " has a time, and the algorithm did not run.");
  } else if (row.workspace != bytes) {
    kit::fail(name + " has a workspace of " + std::to_string(row.workspace) +
              " bytes; cuDNN asks for " + std::to_string(bytes) + ".");
  } else if (!(row.milliseconds > 0)) {
    kit::fail(name + " has the time " + std::to_string(row.milliseconds) +
              " ms; events around its calls must have a time between them.");
  }
}

// Simulator only: one call before the timed ones, and `kCalls` of those, for each that runs.
void check_calls(const std::vector<CompareRow>& rows) {
  uint64_t expected = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].status == CUDNN_STATUS_SUCCESS) expected += 1 + kit::work_scale(3, 21);
  }
  const uint64_t made = kit::api_calls("cudnnConvolutionForward");
  if (!kit::simulated() || made >= expected) return;
  kit::fail("compare_algorithms called cudnnConvolutionForward " + std::to_string(made) +
            " times, expected at least " + std::to_string(expected) +
            ": for each algorithm that runs, one call and then as many as `calls` says.");
}

// The difference that a row should have, if yours left `mine` in y.
double expected_difference(const std::vector<float>& theirs, const std::vector<float>& mine) {
  double difference = 0, length = 0;
  for (size_t i = 0; i < mine.size(); ++i) {
    const double each = static_cast<double>(theirs[i]) - mine[i];
    difference += each * each;
    length += static_cast<double>(mine[i]) * mine[i];
  }
  return std::sqrt(difference / length);
}

}  // namespace

TEST(CudnnCompare, TakesTheMedianOfTimedCalls) {
  RecordProperty("todo", 1);
  const size_t large = 1 << 22, small = 1 << 8;  // floats, over the link to the host
  const std::vector<float> host(large);
  const auto d_floats = kit::DeviceBuffer<float>::output(large, "floats");
  const auto copy = [&](size_t count) {
    cudaMemcpyAsync(d_floats.get(), host.data(), count * sizeof(float), cudaMemcpyHostToDevice);
  };
  int made = 0;
  float got = 0;
  kit::run([&] {
    // The first call takes long, and one of those that are timed.
    got = median_milliseconds(
        [&] {
          copy(made == 0 || made == 3 ? large : small);
          ++made;
        },
        7);
  });
  expect_settings("The work", {"the number of its calls (one, then 7)"}, {made}, {8});
  const double most = kit::milliseconds([&] { copy(large); }) / 10;
  if (!(got > 0) || got > most) {
    kit::fail("median_milliseconds returned " + std::to_string(got) + " ms. Of eight calls the " +
              "first and the fourth copy " + std::to_string(large) + " floats, the others " +
              std::to_string(small) + ": the median is the time of a short one, less than " +
              std::to_string(most) + ".");
  }
}

TEST(CudnnCompare, DoesNotTimeTheFirstCall) {
  RecordProperty("todo", 1);
  const size_t large = 1 << 22;  // floats
  const std::vector<float> host(large);
  const auto d_floats = kit::DeviceBuffer<float>::output(large, "floats");
  const auto copy = [&] {
    cudaMemcpyAsync(d_floats.get(), host.data(), large * sizeof(float), cudaMemcpyHostToDevice);
  };
  int made = 0;
  float got = 0;
  kit::run([&] { got = median_milliseconds([&] { return made++ == 0 ? copy() : void(); }, 1); });
  const double most = kit::milliseconds(copy) / 10;
  if (!(got >= 0) || got > most) {
    kit::fail("median_milliseconds returned " + std::to_string(got) +
              " ms for one timed call that does nothing. Only the call before it copies " +
              std::to_string(large) + " floats: record the first event behind that call.");
  }
}

TEST(CudnnCompare, TakesTheTimeOfTheDevice) {
  RecordProperty("todo", 1);
  const Layer layer({2, 8, 24, 20, 16, 3, 3, 1});
  layer.convolve();  // on a GPU the first call loads the kernel
  // In the simulator both times are modelled, and of kernels that take half a second longer: a
  // clock of the host comes near that on no machine. On a GPU one call says little about another.
  const std::vector<double> longer(kit::simulated() ? 64 : 0, 0.5);  // seconds
  const auto slowed = [&](const std::function<void()>& measure) {
    wsim_slow_kernels(longer.data(), static_cast<int>(longer.size()));
    measure();
    wsim_slow_kernels(nullptr, 0);
  };
  double right = 0;
  slowed([&] { right = kit::milliseconds([&] { layer.convolve(); }); });
  float got = 0;
  kit::run([&] { slowed([&] { got = median_milliseconds([&] { layer.convolve(); }, 3); }); });
  const double apart = kit::simulated() ? 2 : 100;
  if (!(got > right / apart && got < right * apart)) {
    kit::fail("median_milliseconds returned " + std::to_string(got) +
              " ms for a convolution that takes " + std::to_string(right) +
              " ms between two events. A clock of the host measures how long it takes to queue "
              "the work, or what else the host does.");
  }
}

TEST(CudnnCompare, MeasuresADifference) {
  RecordProperty("todo", 2);
  const auto expect = [](const std::vector<float>& got, const std::vector<float>& want,
                         double right) {
    const double difference = relative_difference(got, want);
    if (!(std::fabs(difference - right) <= 1e-6 * (right + 1e-3))) {
      kit::fail("relative_difference returned " + std::to_string(difference) + ", expected " +
                std::to_string(right) + ".");
    }
  };
  expect({3, 4}, {3, 4}, 0);
  expect({3, 4.5f}, {3, 4}, 0.1);                         // 0.5 / 5
  expect({-3, 0, 4}, {3, 0, 4}, 1.2);                     // 6 / 5
  expect({4e19f, 1}, {2e19f, 1}, 1);                      // a float holds no square of these
  expect({3e38f, 1}, {-3e38f, 1}, 2);                     // nor the difference of these
  expect({1 + 0x1p-13f, 1}, {1, 1}, 0.0000863167457503);  // 2^-13 / sqrt(2)
}

TEST(CudnnCompare, TellsWhatRunsAndWhatItNeeds) {
  RecordProperty("todo", 3);
  const Layer layer(small_layer());
  kit::Run run;
  const std::vector<CompareRow> rows = layer.compare([&] { layer.convolve(); }, &run);
  if (!(rows[0].milliseconds > 0)) kit::fail("The row of your convolution has no time.");
  for (int i = 0; i < CUDNN_CONVOLUTION_FWD_ALGO_COUNT; ++i) check_row(layer, rows[i + 1], i);
  check_calls(rows);
  kit::expect_no_leak(run);
  print_table(rows);
}

// Simulator only: another program may need the rest of a GPU.
TEST(CudnnCompare, AWorkspaceThatCannotBeHadIsARefusal) {
  RecordProperty("todo", 3);
  if (!kit::simulated()) return;
  const Layer layer(small_layer());
  layer.convolve();  // whatever it needs, it has by now
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  void* taken = nullptr;
  cudaMalloc(&taken, free);
  kit::Run run;
  const std::vector<CompareRow> rows = layer.compare([&] { layer.convolve(); }, &run);
  cudaFree(taken);
  if (const cudaError_t left = cudaGetLastError(); left != cudaSuccess) {
    kit::fail(std::string("No workspace could be had. cudaGetLastError() still holds ") +
              cudaGetErrorName(left) + ": the next check would blame an innocent call.");
  }
  for (const CompareRow& row : rows) {
    if (row.workspace == 0 || (row.status != CUDNN_STATUS_SUCCESS && row.milliseconds < 0))
      continue;
    kit::fail(row.name + " needs a workspace that could not be had, and has a result.");
  }
}

TEST(CudnnCompare, AgreesWithYourResult) {
  RecordProperty("todo", 3);
  const Layer layer(small_layer());
  kit::Run run;
  for (const CompareRow& row : layer.compare([&] { layer.convolve(); }, &run)) {
    if (row.status == CUDNN_STATUS_SUCCESS && !(row.difference >= 0 && row.difference <= 1e-5)) {
      kit::fail(row.name + " differs by " + std::to_string(row.difference) +
                " from your result, expected at most 0.00001.");
    }
  }
}

TEST(CudnnCompare, SeesAWrongResult) {
  RecordProperty("todo", 3);
  const Layer layer(small_layer());
  kit::Run run;
  layer.convolve();
  std::vector<float> right(layer.count());
  cudaMemcpy(right.data(), layer.y(), right.size() * sizeof(float), cudaMemcpyDeviceToHost);
  const std::vector<float> halves(layer.count(), 0.5f);
  const double expected = expected_difference(right, halves);
  const auto wrong = [&] {
    cudaMemcpy(layer.y(), halves.data(), halves.size() * sizeof(float), cudaMemcpyHostToDevice);
  };
  for (const CompareRow& row : layer.compare(wrong, &run)) {
    if (row.name == "yours" || row.status != CUDNN_STATUS_SUCCESS) continue;
    if (!(std::fabs(row.difference - expected) <= 1e-4 * expected)) {
      kit::fail(row.name + " is said to differ by " + std::to_string(row.difference) +
                " from a result that is 0.5 everywhere, expected " + std::to_string(expected) +
                ". Download y behind the algorithm's own calls, and compare it with what yours "
                "has left there before: its length is the one to divide by.");
    }
  }
}

// Tests of 09/11 a cuDNN graph.
#include "11_cudnn_graph.h"

#include <algorithm>

#include "09_cuda_libraries/test/cudnn.h"
#include "kit/kit.h"

static std::ostream& operator<<(std::ostream& out, const FusedLayer& l) {
  return out << l.n << " x " << l.h << " x " << l.w << " x " << l.c << ", " << l.k << " filters of "
             << l.r << " x " << l.s << ", pad " << l.pad;
}

namespace {

// Reference: y = max(0, x filtered by f + bias), all with channels last. Small integers: exact.
std::vector<float> layer_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                                const std::vector<float>& bias, const FusedLayer& l) {
  std::vector<float> y;
  for (int at = 0; at < l.n * l.p() * l.q() * l.k; ++at) {
    const int k = at % l.k, col = at / l.k % l.q(), row = at / l.k / l.q() % l.p();
    const int image = at / l.k / l.q() / l.p();
    double sum = bias[k];
    for (int i = 0; i < l.r; ++i) {
      for (int j = 0; j < l.s; ++j) {
        const int from_row = row + i - l.pad, from_col = col + j - l.pad;
        if (from_row < 0 || from_row >= l.h || from_col < 0 || from_col >= l.w) continue;
        for (int c = 0; c < l.c; ++c) {
          sum += static_cast<double>(x[((image * l.h + from_row) * l.w + from_col) * l.c + c]) *
                 f[((k * l.r + i) * l.s + j) * l.c + c];
        }
      }
    }
    y.push_back(static_cast<float>(std::max(sum, 0.0)));
  }
  return y;
}

// A plan of the learner's for a layer, with its workspace.
struct Built {
  Built(const CudnnHandle& handle, const FusedLayer& layer)
      : conv(handle.get()), status(build_fused_conv(layer, &conv)) {
    if (status != CUDNN_STATUS_SUCCESS) {
      char text[512] = "";
      cudnnGetLastErrorString(text, sizeof text);
      kit::fail(std::string("build_fused_conv returned ") + cudnnGetErrorString(status) +
                ". cuDNN says last: " + text);
    } else if (conv.plan == nullptr) {
      kit::fail("build_fused_conv returned a success and left conv->plan a nullptr.");
    } else {
      cudaMalloc(&workspace, std::max<int64_t>(conv.workspace, 1));
    }
  }
  ~Built() { cudaFree(workspace); }
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;
  bool ok() const { return workspace != nullptr; }

  CompiledGraph conv;
  cudnnStatus_t status;
  void* workspace = nullptr;
};

// One call of a plan on arrays of its own. Sums of halves stay below 2048, so they are exact.
void check_call(const Built& built, const FusedLayer& l, int most_bias) {
  const std::vector<float> x =
      kit::random_integer_floats(static_cast<size_t>(l.n) * l.h * l.w * l.c, -2, 2);
  const std::vector<float> f =
      kit::random_integer_floats(static_cast<size_t>(l.k) * l.r * l.s * l.c, -2, 2);
  const std::vector<float> bias = kit::random_integer_floats(l.k, -most_bias, most_bias);
  const std::vector<float> expected = layer_on_cpu(x, f, bias, l);
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(x), "x");
  const auto d_f = kit::DeviceBuffer<__half>::input(halves(f), "f");
  const auto d_bias = kit::DeviceBuffer<__half>::input(halves(bias), "bias");
  const auto d_y = kit::DeviceBuffer<__half>::output(expected.size(), "y");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {
    return status = launch_fused_conv(built.conv, d_x.get(), d_f.get(), d_bias.get(),
                                      built.workspace, d_y.get());
  });
  expect_success("launch_fused_conv", status);
  kit::expect_equal("y (images and rows, columns, channels)", floats(d_y.download()), expected,
                    kit::Shape(l.n * l.p(), l.q(), l.k));
}

void check_layer(const FusedLayer& layer, int most_bias) {
  const CudnnHandle handle;
  const Built built(handle, layer);
  if (built.ok()) check_call(built, layer, most_bias);
}

// How many nodes the call becomes in a CUDA graph: one for each kernel.
size_t kernels_of(const CudnnHandle& handle, const Built& built) {
  const auto buffer = kit::DeviceBuffer<__half>::output(1 << 18, "room for all arrays");
  __half* const arrays = buffer.get();
  cudaGraph_t graph = nullptr;
  size_t nodes = 0;
  cudaStreamBeginCapture(handle.stream(), cudaStreamCaptureModeThreadLocal);
  const cudnnStatus_t status =
      launch_fused_conv(built.conv, arrays, arrays + (1 << 16), arrays + (2 << 16), built.workspace,
                        arrays + (3 << 16));
  cudaStreamEndCapture(handle.stream(), &graph);
  expect_success("launch_fused_conv, captured,", status);
  cudaGraphGetNodes(graph, nullptr, &nodes);
  cudaGraphDestroy(graph);
  return nodes;
}

}  // namespace

TEST(CudnnGraph, AddsTheBiasOfItsChannel) {
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<FusedLayer>{{1, 16, 5, 4, 8, 1, 1, 0}, {3, 8, 4, 7, 24, 1, 1, 0}},
                [](const FusedLayer& l) { check_layer(l, 3); });
}

TEST(CudnnGraph, ConvolvesAddsAndCuts) {
  RecordProperty("todo", 2);
  kit::for_each(
      "x",
      std::vector<FusedLayer>{
          {2, 8, 9, 7, 16, 3, 3, 1}, {3, 16, 12, 10, 8, 3, 5, 2}, {1, 16, 6, 11, 24, 2, 3, 0}},
      [](const FusedLayer& l) { check_layer(l, 40); });
}

TEST(CudnnGraph, CompilesAnEngineThatWorks) {
  RecordProperty("todo", 2);
  const CudnnHandle handle;
  const Built built(handle, {2, 8, 9, 7, 16, 3, 3, 1});
  if (built.ok() && built.conv.workspace < 0) kit::fail("conv->workspace is negative.");
}

TEST(CudnnGraph, TheFirstRefusalEndsTheBuild) {
  RecordProperty("todo", 2);
  const CudnnHandle handle;
  kit::run([&] {
    CompiledGraph conv(handle.get());
    return build_fused_conv({2, 8, 9, 7, 16, 3, 3, 1}, &conv);
  });
}

TEST(CudnnGraph, OnePlanServesManyArrays) {
  RecordProperty("todo", 3);
  const FusedLayer layer = {2, 16, 8, 6, 8, 3, 3, 1};
  const CudnnHandle handle;
  const Built built(handle, layer);
  for (int call = 0; call < 3 && built.ok(); ++call) check_call(built, layer, 10);
}

// A plan belongs to its layer, for as long as it is there.
TEST(CudnnGraph, TwoLayersAreThereAtTheSameTime) {
  RecordProperty("todo", 3);
  const FusedLayer one = {2, 16, 8, 6, 8, 3, 3, 1}, other = {1, 8, 5, 7, 16, 1, 1, 0};
  const CudnnHandle handle;
  const Built first(handle, one), second(handle, other);
  if (!first.ok() || !second.ok()) return;
  kit::Cases cases;
  cases.run("the plan that was made first", [&] { check_call(first, one, 10); });
  cases.run("the plan that was made second", [&] { check_call(second, other, 10); });
}

TEST(CudnnGraph, QueuesOneKernel) {
  RecordProperty("todo", 2);
  const CudnnHandle handle;
  const Built built(handle, {2, 8, 9, 7, 16, 3, 3, 1});
  if (!built.ok()) return;
  expect_settings("launch_fused_conv", {"the number of its kernels"},
                  {static_cast<int>(kernels_of(handle, built))}, {1});
}

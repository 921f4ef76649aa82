// Tests of 09/18 cuDNN, three mistakes.
#include "18_cudnn_mistakes.h"

#include <algorithm>

#include "07_cudnn_activation_support.h"
#include "kit/kit.h"

// As in "1 x 7 x 9 x 8, 16 filters 3 x 3, pad 1 1, stride 2".
static std::ostream& operator<<(std::ostream& out, const StridedLayer& l) {
  return out << l.n << " x " << l.h << " x " << l.w << " x " << l.c << ", " << l.k << " filters "
             << l.r << " x " << l.s << ", pad " << l.pad_h << " " << l.pad_w << ", stride "
             << l.stride;
}

namespace {

int rows_of(const StridedLayer& l) { return (l.h + 2 * l.pad_h - l.r) / l.stride + 1; }
int cols_of(const StridedLayer& l) { return (l.w + 2 * l.pad_w - l.s) / l.stride + 1; }

// Reference, in double, all with channels last.
std::vector<double> layer_on_cpu(const std::vector<float>& x, const std::vector<float>& f,
                                 const StridedLayer& l) {
  std::vector<double> y;
  const int p = rows_of(l), q = cols_of(l);
  for (int at = 0; at < l.n * p * q * l.k; ++at) {
    const int k = at % l.k, col = at / l.k % q, row = at / l.k / q % p, image = at / l.k / q / p;
    double sum = 0;
    for (int i = 0; i < l.r; ++i) {
      for (int j = 0; j < l.s; ++j) {
        const int from_row = row * l.stride + i - l.pad_h, from_col = col * l.stride + j - l.pad_w;
        if (from_row < 0 || from_row >= l.h || from_col < 0 || from_col >= l.w) continue;
        for (int c = 0; c < l.c; ++c) {
          sum += static_cast<double>(x[((image * l.h + from_row) * l.w + from_col) * l.c + c]) *
                 f[((k * l.r + i) * l.s + j) * l.c + c];
        }
      }
    }
    y.push_back(sum);
  }
  return y;
}

std::vector<__half> halves(const std::vector<float>& values) {
  std::vector<__half> result;
  for (const float value : values) result.push_back(__float2half(value));
  return result;
}

struct Outcome {
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  UsedPlan used;
};

// Small integers, whose sums are exact in halves. An engine that transforms rounds a little.
Outcome check_layer(const StridedLayer& l, size_t bytes) {
  const std::vector<float> x =
      kit::random_integer_floats(static_cast<size_t>(l.n) * l.h * l.w * l.c, -2, 2);
  const std::vector<float> f =
      kit::random_integer_floats(static_cast<size_t>(l.k) * l.r * l.s * l.c, -2, 2);
  const std::vector<double> expected = layer_on_cpu(x, f, l);
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(x), "x");
  const auto d_f = kit::DeviceBuffer<__half>::input(halves(f), "f");
  const auto d_y = kit::DeviceBuffer<__half>::output(expected.size(), "y");
  const auto d_workspace = kit::DeviceBuffer<char>::output(bytes, "workspace");
  const CudnnHandle handle;
  Outcome outcome;
  kit::run([&] {
    outcome.used = {};
    return outcome.status = run_layer(handle.get(), l, d_x.get(), d_f.get(), d_workspace.get(),
                                      bytes, d_y.get(), &outcome.used);
  });
  expect_success("run_layer", outcome.status);
  std::vector<float> got;
  for (const __half value : d_y.download()) got.push_back(__half2float(value));
  kit::expect_near("y (images and rows, columns, channels)", got, expected,
                   kit::Tolerance::absolute(0.5), kit::Shape(l.n * rows_of(l), cols_of(l), l.k));
  return outcome;
}

// ---- the test's own graph ----------------------------------------------------------------------

using Node = cudnnBackendDescriptor_t;

Node own_tensor(CudnnGraph& graph, int64_t name, int64_t n, int64_t c, int64_t h, int64_t w) {
  const Node node = graph.make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_TENSOR_UNIQUE_ID, {name});
  graph.set(node, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_DATA_HALF);
  graph.set(node, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {int64_t{16}});
  graph.set(node, CUDNN_ATTR_TENSOR_DIMENSIONS, {n, c, h, w});
  graph.set(node, CUDNN_ATTR_TENSOR_STRIDES, {h * w * c, 1, w * c, c});
  return graph.finish(node);
}

// The heuristic of mode A for the layer, finished unless something was refused.
Node own_heuristic(CudnnGraph& graph, const StridedLayer& l) {
  const Node x = own_tensor(graph, 1, l.n, l.c, l.h, l.w);
  const Node f = own_tensor(graph, 2, l.k, l.c, l.r, l.s);
  const Node y = own_tensor(graph, 3, l.n, l.k, rows_of(l), cols_of(l));
  const Node how = graph.make(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {int64_t{2}});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  graph.set(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {l.pad_h, l.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {l.pad_h, l.pad_w});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {l.stride, l.stride});
  graph.set(how, CUDNN_ATTR_CONVOLUTION_DILATIONS, {int64_t{1}, int64_t{1}});
  graph.finish(how);
  const Node node = graph.make(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, {how});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, {x});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, {f});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, {y});
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1.0f);
  graph.set(node, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0.0f);
  graph.finish(node);
  const Node all = graph.make(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph.set_handle(all, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
  graph.set(all, CUDNN_ATTR_OPERATIONGRAPH_OPS, {node});
  graph.finish(all);
  const Node heuristic = graph.make(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, {all});
  graph.set(heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A);
  return graph.finish(heuristic);
}

// What cuDNN says to the first of the calls that refuses this layer.
cudnnStatus_t refusal_of(const StridedLayer& l) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  own_heuristic(graph, l);
  return graph.status();
}

// Every configuration of which a plan can be made, in the order of the list.
std::vector<UsedPlan> plans_of(const StridedLayer& l) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  const std::vector<Node> engines = graph.configurations(own_heuristic(graph, l));
  expect_success("the test's own graph", graph.status());
  std::vector<UsedPlan> found;
  for (size_t i = 0; i < engines.size(); ++i) {
    CudnnGraph made(handle.get());
    const Node plan = made.make(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    made.set_handle(plan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
    made.set(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {engines[i]});
    made.finish(plan);
    if (!made.ok()) continue;
    UsedPlan each;
    int64_t count = 0;
    each.number = static_cast<int>(i);
    expect_success("the test's own plan",
                   cudnnBackendGetAttribute(plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                            CUDNN_TYPE_INT64, 1, &count, &each.workspace));
    found.push_back(each);
  }
  return found;
}

std::string in_words(const UsedPlan& plan) {
  return plan.number < 0 ? "none"
                         : "number " + std::to_string(plan.number) + ", which needs " +
                               std::to_string(plan.workspace) + " bytes";
}

void check_choice(const StridedLayer& l, size_t bytes) {
  UsedPlan expected;
  for (const UsedPlan& each : plans_of(l)) {
    if (expected.number < 0 && each.workspace <= static_cast<int64_t>(bytes)) expected = each;
  }
  if (expected.number < 0) return;  // a card may have no plan for so little
  const UsedPlan used = check_layer(l, bytes).used;
  if (used.number == expected.number && used.workspace == expected.workspace) return;
  kit::fail("run_layer says that it used this configuration: " + in_words(used) +
            ". The first of the list that works with " + std::to_string(bytes) +
            " bytes of workspace is " + in_words(expected) + ".");
}

// As many bytes as any plan of the layer needs.
size_t enough_for(const StridedLayer& l) {
  int64_t most = 0;
  for (const UsedPlan& each : plans_of(l)) most = std::max(most, each.workspace);
  return static_cast<size_t>(most);
}

}  // namespace

TEST(CudnnMistakes, SaysWhatWasRefused) {
  RecordProperty("todo", 1);
  // No images; no filters; filters that are larger than the image with its padding.
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{0, 8, 6, 6, 8, 3, 3, 1, 1, 1},
                                {1, 8, 6, 6, 0, 3, 3, 1, 1, 1},
                                {1, 8, 4, 6, 8, 7, 3, 1, 1, 1}},
      [](const StridedLayer& l) {
        // Room for whatever would be computed.
        const auto d_halves =
            kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(4000, 0.5f)), "x, f and y");
        const CudnnHandle handle;
        Outcome outcome;
        kit::run([&] {
          return outcome.status = run_layer(handle.get(), l, d_halves.get(), d_halves.get(),
                                            nullptr, 0, d_halves.get(), &outcome.used);
        });
        if (outcome.status == CUDNN_STATUS_SUCCESS) {
          kit::fail(
              "run_layer returned a success for a layer that cuDNN refuses. A status "
              "that nobody reads leaves y as it was, and the program goes on with it.");
        } else if (outcome.status != refusal_of(l)) {
          kit::fail(std::string("run_layer returned ") + cudnnGetErrorString(outcome.status) +
                    ", but what failed first said " + cudnnGetErrorString(refusal_of(l)) +
                    ": later calls fail for the sake of the first.");
        }
      });
}

// A card need not look at addresses; the simulator does.
TEST(CudnnMistakes, SaysThatTheCallWasRefused) {
  RecordProperty("todo", 1);
  if (!kit::simulated()) return;
  const StridedLayer l = {1, 16, 5, 4, 16, 1, 1, 0, 0, 1};
  const auto d_halves =
      kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(4000, 0.5f)), "x, f and y");
  const auto d_workspace = kit::DeviceBuffer<char>::output(1 << 16, "workspace");
  const CudnnHandle handle;
  Outcome outcome;
  kit::run([&] {
    // x begins 2 bytes behind a multiple of 16.
    return outcome.status =
               run_layer(handle.get(), l, d_halves.get() + 1, d_halves.get(), d_workspace.get(),
                         1 << 16, d_halves.get() + 2000, &outcome.used);
  });
  if (outcome.status != CUDNN_STATUS_SUCCESS) return;
  kit::fail(
      "run_layer returned a success, although cuDNN refused to execute the plan: x does not begin "
      "at a multiple of 16 bytes here. y is as it was, and nobody knows.");
}

TEST(CudnnMistakes, FiltersWithoutPadding) {
  RecordProperty("todo", 2);
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{2, 16, 7, 9, 32, 3, 3, 0, 0, 1}, {1, 16, 5, 4, 16, 1, 1, 0, 0, 2}},
      [](const StridedLayer& l) { check_layer(l, enough_for(l)); });
}

TEST(CudnnMistakes, FiltersWithPadding) {
  RecordProperty("todo", 2);
  kit::for_each("x",
                std::vector<StridedLayer>{{2, 16, 7, 9, 32, 3, 3, 1, 1, 1},
                                          {1, 16, 6, 8, 16, 5, 3, 2, 0, 1},
                                          {3, 16, 9, 5, 16, 3, 3, 1, 1, 2}},
                [](const StridedLayer& l) { check_layer(l, enough_for(l)); });
}

TEST(CudnnMistakes, AsksWhetherAnEngineWorks) {
  RecordProperty("todo", 3);
  // 8 channels, and no padding, so that this is asked by itself.
  kit::for_each(
      "x",
      std::vector<StridedLayer>{{2, 8, 9, 8, 16, 3, 3, 0, 0, 1}, {1, 24, 5, 6, 8, 1, 1, 0, 0, 1}},
      [](const StridedLayer& l) { check_choice(l, enough_for(l)); });
}

TEST(CudnnMistakes, ChoosesWithinTheWorkspace) {
  RecordProperty("todo", 3);
  const StridedLayer layer = {2, 16, 20, 18, 16, 3, 3, 0, 0, 1};
  const size_t most = enough_for(layer);
  kit::for_each("bytes of workspace",
                std::vector<size_t>{most, most > 0 ? most - 1 : 0, most / 2, 0},
                [&](size_t bytes) { check_choice(layer, bytes); });
}

// Tests of 09/08 cuDNN, convolution.
#include "08_cudnn_conv.h"

#include <cmath>

#include "09_cuda_libraries/test/cudnn.h"
#include "09_cuda_libraries/test/cudnn_graph.h"
#include "kit/kit.h"
#include "warplings/script.h"

// As in "1 x 7 x 9 x 8, 16 filters of 3 x 3, pad 1 1, stride 2".
static std::ostream& operator<<(std::ostream& out, const ConvSetup& s) {
  return out << s.n << " x " << s.h << " x " << s.w << " x " << s.c << ", " << s.k << " filters of "
             << s.r << " x " << s.s << ", pad " << s.pad_h << " " << s.pad_w << ", stride "
             << s.stride;
}

namespace {

// No two sizes alike, no padding, a single pixel of a filter, other paddings down than across.
const std::vector<ConvSetup>& layers() {
  static const std::vector<ConvSetup> all = {{2, 16, 7, 9, 32, 3, 3, 1, 1, 1},
                                             {1, 16, 5, 4, 16, 1, 1, 0, 0, 2},
                                             {1, 16, 6, 8, 16, 5, 3, 2, 0, 1},
                                             {3, 16, 9, 5, 16, 3, 3, 1, 1, 2},
                                             {2, 8, 9, 8, 16, 3, 3, 0, 0, 1}};
  return all;
}

void check_flatten(const kit::Shape3& shape) {
  const int c = shape.depth, h = shape.rows, w = shape.cols;
  std::vector<float> planes(shape.size()), expected(shape.size()), flat(shape.size(), -1);
  for (size_t i = 0; i < planes.size(); ++i) planes[i] = static_cast<float>(i);
  for (int channel = 0; channel < c; ++channel) {
    for (int pixel = 0; pixel < h * w; ++pixel) {
      expected[pixel * c + channel] = planes[channel * h * w + pixel];
    }
  }
  // Rows that lie apart, in another order than in the tensor.
  std::vector<std::vector<float>> rows;
  std::vector<const float*> row_of(shape.size());
  for (int i = 0; i < c * h; ++i) {
    rows.emplace_back(planes.begin() + i * w, planes.begin() + (i + 1) * w);
  }
  std::vector<const float* const*> channels;
  for (size_t i = 0; i < rows.size(); ++i) row_of[i] = rows[i].data();
  for (int channel = 0; channel < c; ++channel) channels.push_back(&row_of[channel * h]);
  flatten(channels.data(), c, h, w, flat.data());
  kit::expect_equal("flat (rows, columns, channels)", flat, expected, kit::Shape(h, w, c));
}

// The same as in cuDNN's own words: from where a filter begins, one step after the other.
int count_places(int size, int pad, int filter, int stride) {
  int places = 0;
  for (int begin = -pad; begin + filter <= size + pad; begin += stride) ++places;
  return places;
}

// Everything that describe_conv has set, as far as the simulator says.
std::vector<int> numbers(Node node, cudnnBackendAttributeName_t name) {
  std::vector<int64_t> found(2, -1);
  int64_t there = 0;
  cudnnBackendGetAttribute(node, name, CUDNN_TYPE_INT64, 2, &there, found.data());
  return {found.begin(), found.end()};
}
Node node_of(Node node, cudnnBackendAttributeName_t name) {
  Node found = nullptr;
  int64_t there = 0;
  cudnnBackendGetAttribute(node, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &there, &found);
  return found;
}
void expect_movement(Node operations, const ConvSetup& s) {
  const Node how = node_of(node_of(operations, CUDNN_ATTR_OPERATIONGRAPH_OPS),
                           CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
  cudnnConvolutionMode_t mode = CUDNN_CONVOLUTION;
  int64_t there = 0;
  cudnnBackendGetAttribute(how, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1,
                           &there, &mode);
  expect_settings("The convolution", {"the padding above", "the padding on the left"},
                  numbers(how, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS), {s.pad_h, s.pad_w});
  expect_settings("The convolution", {"the stride down", "the stride across"},
                  numbers(how, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES), {s.stride, s.stride});
  if (mode != CUDNN_CROSS_CORRELATION) {
    kit::fail("The mode is CUDNN_CONVOLUTION, which turns every filter by 180 degrees first.");
  }
}

std::vector<float> small_halves(size_t count) { return kit::random_integer_floats(count, -2, 2); }
size_t input_size(const ConvSetup& s) { return static_cast<size_t>(s.n) * s.h * s.w * s.c; }
size_t filter_size(const ConvSetup& s) { return static_cast<size_t>(s.k) * s.r * s.s * s.c; }

// Small integers, whose sums are exact in halves. An engine that transforms rounds a little.
void expect_result(const kit::DeviceBuffer<__half>& d_y, const std::vector<float>& x,
                   const std::vector<float>& f, const ConvSetup& s) {
  kit::expect_near("y (images and rows, columns, channels)", floats(d_y.download()),
                   convolution_on_cpu(x, f, s), kit::Tolerance::absolute(0.5),
                   kit::Shape(s.n * rows_of(s), cols_of(s), s.k));
}

// The learner's graph, run by the first plan that the test can make of it.
void check_graph(const ConvSetup& s) {
  const CudnnHandle handle;
  CompiledGraph conv(handle.get());
  const Node operations = describe_conv(conv.graph, s);
  expect_success("One of the calls of describe_conv", conv.graph.status());
  if (!conv.graph.ok()) return;
  if (kit::simulated()) expect_movement(operations, s);
  const std::vector<OwnPlan> plans = plans_of(conv.graph, operations);
  if (plans.empty()) {
    kit::fail("No plan can be made of the graph.");
    return;
  }
  const std::vector<float> x = small_halves(input_size(s)), f = small_halves(filter_size(s));
  const auto d_x = kit::DeviceBuffer<__half>::input(halves(x), "x");
  const auto d_f = kit::DeviceBuffer<__half>::input(halves(f), "f");
  const auto d_y = kit::DeviceBuffer<__half>::output(
      static_cast<size_t>(s.n) * rows_of(s) * cols_of(s) * s.k, "y");
  const auto d_workspace =
      kit::DeviceBuffer<char>::output(static_cast<size_t>(plans[0].workspace), "workspace");
  expect_success("cudnnBackendExecute, called by the test,",
                 own_call(conv.graph, plans[0].node, {kX, kFilters, kY},
                          {d_x.get(), d_f.get(), d_y.get()}, d_workspace.get()));
  expect_result(d_y, x, f, s);
}

std::vector<OwnPlan> plans_of_layer(const ConvSetup& s) {
  const CudnnHandle handle;
  CudnnGraph graph(handle.get());
  return plans_of(graph, own_convolution(graph, s, kX, kFilters, kY));
}
int64_t most_of(const std::vector<OwnPlan>& plans) {
  int64_t most = 0;
  for (const OwnPlan& each : plans) most = std::max(most, each.workspace);
  return most;
}

void check_choice(const ConvSetup& s, int64_t limit) {
  OwnPlan expected;
  for (const OwnPlan& each : plans_of_layer(s)) {
    if (expected.number < 0 && each.workspace <= limit) expected = each;
  }
  const CudnnHandle handle;
  CompiledGraph conv(handle.get());
  const cudnnStatus_t status = choose_plan(s, limit, &conv);
  if (expected.number < 0) {
    if (status != CUDNN_STATUS_NOT_SUPPORTED) {
      kit::fail(std::string("choose_plan returned ") + cudnnGetErrorString(status) +
                ", but no plan of this layer does with " + std::to_string(limit) +
                " bytes: CUDNN_STATUS_NOT_SUPPORTED.");
    } else if (conv.plan != nullptr) {
      kit::fail("choose_plan found nothing, and left a plan.");
    }
    return;
  }
  expect_success("choose_plan", status);
  if (status != CUDNN_STATUS_SUCCESS) return;
  if (conv.plan == nullptr) {
    kit::fail("choose_plan returned a success and left conv->plan a nullptr.");
  } else if (conv.workspace != expected.workspace) {
    kit::fail("The chosen plan needs " + std::to_string(conv.workspace) +
              " bytes of workspace. The first of the list that works with " +
              std::to_string(limit) + " is number " + std::to_string(expected.number) +
              ", which needs " + std::to_string(expected.workspace) + ".");
  }
}

// A plan of the test's own choice, its workspace, and the arrays of one call.
void check_call(const ConvSetup& s, int64_t limit) {
  const CudnnHandle handle;
  CompiledGraph conv(handle.get());
  for (const OwnPlan& each :
       plans_of(conv.graph, own_convolution(conv.graph, s, kX, kFilters, kY))) {
    if (conv.plan != nullptr || each.workspace > limit) continue;
    conv.plan = conv.graph.release(each.node);
    conv.workspace = each.workspace;
  }
  if (conv.plan == nullptr) return;  // a card may have no plan for so little
  const std::vector<float> x = small_halves(input_size(s)), f = small_halves(filter_size(s));
  const auto d_from = kit::DeviceBuffer<__half>::input(halves(x), "a copy of x");
  const auto d_x = kit::DeviceBuffer<__half>::output(x.size(), "x");
  const auto d_f = kit::DeviceBuffer<__half>::input(halves(f), "f");
  const auto d_y = kit::DeviceBuffer<__half>::output(
      static_cast<size_t>(s.n) * rows_of(s) * cols_of(s) * s.k, "y");
  const auto d_workspace =
      kit::DeviceBuffer<char>::output(static_cast<size_t>(conv.workspace), "workspace");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // x arrives in the stream, right before the call
    cudaMemcpyAsync(d_x.get(), d_from.get(), x.size() * sizeof(__half), cudaMemcpyDeviceToDevice,
                    handle.stream());
    return status = launch_conv(conv, d_x.get(), d_f.get(), d_workspace.get(), d_y.get());
  });
  expect_success("launch_conv", status);
  expect_no_wait("launch_conv");
  handle.expect_unchanged();
  expect_result(d_y, x, f, s);
}

}  // namespace

TEST(CudnnConv, FlattensAnImage) {
  // contract: flat = the image x of c channels, h rows and w columns, with its channels last
  // contract: x[channel][row] is the address of a row of w floats
  // contract: all in host memory
  RecordProperty("todo", 1);
  kit::for_each("x", std::vector<kit::Shape3>{{4, 2, 3}, {1, 1, 1}, {3, 1, 5}, {2, 7, 1}},
                check_flatten);
}

TEST(CudnnConv, SaysHowLargeTheResultIs) {
  // contract: *p, *q: how many rows and columns the result has
  RecordProperty("todo", 2);
  std::vector<ConvSetup> all = layers();
  all.insert(all.end(), {{1, 8, 7, 9, 8, 3, 5, 1, 2, 2}, {1, 8, 4, 40, 8, 4, 7, 0, 3, 3}});
  kit::for_each("x", all, [](const ConvSetup& s) {
    int p = -1, q = -1;
    size_output(s, &p, &q);
    expect_settings(
        "size_output", {"*p", "*q"}, {p, q},
        {count_places(s.h, s.pad_h, s.r, s.stride), count_places(s.w, s.pad_w, s.s, s.stride)});
  });
}

TEST(CudnnConv, DescribesALayer) {
  // contract: Letters as in cuDNN's documentation
  // contract: In device memory all arrays are halves with channels last, as in 07
  // contract: c and k are multiples of 8, and the arrays begin at multiples of 16 bytes
  // contract: x  n images of h x w pixels with c channels
  // contract: f  k filters of r x s pixels with c channels
  // contract: y  n images of p x q pixels with k channels
  // contract: The names of the three tensors
  // contract: A finished graph of one operation: kY is kX filtered by kFilters
  RecordProperty("todo", 3);
  kit::for_each("x", layers(), check_graph);
}

TEST(CudnnConv, LeavesNoDescriptorOfAGraph) {
  // contract: All of its descriptors belong to `graph`
  RecordProperty("todo", 3);
  const CudnnHandle handle;
  kit::run([&] {
    CudnnGraph graph(handle.get());
    describe_conv(graph, {2, 16, 7, 9, 32, 3, 3, 1, 1, 1});
    return graph.status();
  });
}

TEST(CudnnConv, ChoosesWithinTheWorkspace) {
  // contract: conv->plan: a plan of the first configuration of the heuristic of mode A
  // contract: conv->workspace: what it needs
  // contract: That a plan of some configuration is refused when it is finalized is no such status
  RecordProperty("todo", 4);
  const ConvSetup few = {2, 8, 9, 8, 16, 3, 3, 0, 0, 1}, many = {2, 16, 20, 18, 16, 3, 3, 0, 0, 1};
  const int64_t most = most_of(plans_of_layer(many));
  check_choice(few, most_of(plans_of_layer(few)));
  kit::for_each("bytes of workspace",
                std::vector<int64_t>{most, std::max<int64_t>(most - 1, 0), most / 2, 0},
                [&](int64_t limit) { check_choice(many, limit); });
}

// No version of cuDNN promises an order.
TEST(CudnnConv, ChoosesFromAListInAnotherOrder) {
  // contract: a plan of the first configuration of the heuristic of mode A of which one can be made
  // contract: Returns the first status that is no success, or CUDNN_STATUS_NOT_SUPPORTED
  // contract: conv->plan stays a nullptr then
  RecordProperty("todo", 4);
  if (!kit::simulated()) return;
  const ConvSetup layer = {2, 16, 9, 8, 16, 3, 3, 0, 0, 1};
  wsim_script_turned_lists(1);
  kit::for_each("bytes of workspace", std::vector<int64_t>{1 << 20, 4096, 4095, 0, -1},
                [&](int64_t limit) { check_choice(layer, limit); });
  wsim_script_turned_lists(0);
}

TEST(CudnnConv, TheFirstRefusalEndsTheChoice) {
  // contract: Returns the first status that is no success
  RecordProperty("todo", 4);
  // The first is accepted. No images; no filters; filters that are larger than image and padding.
  kit::for_each("x",
                std::vector<ConvSetup>{{2, 8, 9, 8, 16, 3, 3, 0, 0, 1},
                                       {0, 8, 6, 6, 8, 3, 3, 1, 1, 1},
                                       {1, 8, 6, 6, 0, 3, 3, 1, 1, 1},
                                       {1, 8, 4, 6, 8, 7, 3, 1, 1, 1}},
                [](const ConvSetup& s) {
                  const CudnnHandle handle;
                  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
                  bool has_plan = false;
                  kit::run([&] {
                    CompiledGraph conv(handle.get());
                    status = choose_plan(s, 1 << 30, &conv);
                    has_plan = conv.plan != nullptr;
                    return status;
                  });
                  const cudnnStatus_t expected = refusal_of(s);
                  if (status != expected) {
                    kit::fail(std::string("choose_plan returned ") + cudnnGetErrorString(status) +
                              ", but what cuDNN says first is " + cudnnGetErrorString(expected) +
                              ": later calls fail for the sake of the first.");
                  } else if (has_plan != (status == CUDNN_STATUS_SUCCESS)) {
                    kit::fail(has_plan ? "choose_plan failed and left a plan."
                                       : "choose_plan returned a success and left no plan.");
                  }
                });
}

TEST(CudnnConv, ConvolvesImages) {
  // contract: y = x filtered by f, by this plan, as work of the stream of the graph's handle
  // contract: Does not wait, and leaves no descriptor behind
  RecordProperty("todo", 5);
  kit::for_each("x", layers(), [](const ConvSetup& s) { check_call(s, 0); });
}

TEST(CudnnConv, UsesItsWorkspace) {
  // contract: d_workspace: conv.workspace bytes
  // contract: all in device memory
  RecordProperty("todo", 5);
  check_call({2, 16, 7, 9, 32, 3, 3, 1, 1, 1}, 1 << 30);
}

// A card need not look at addresses; the simulator does.
TEST(CudnnConv, SaysThatTheCallWasRefused) {
  // contract: Returns the first status that is no success
  RecordProperty("todo", 5);
  if (!kit::simulated()) return;
  const ConvSetup s = {1, 16, 5, 4, 16, 1, 1, 0, 0, 1};
  const CudnnHandle handle;
  CompiledGraph conv(handle.get());
  for (const OwnPlan& each :
       plans_of(conv.graph, own_convolution(conv.graph, s, kX, kFilters, kY))) {
    if (conv.plan == nullptr && each.workspace == 0) conv.plan = conv.graph.release(each.node);
  }
  const auto d_halves =
      kit::DeviceBuffer<__half>::inout(halves(std::vector<float>(4000, 0.5f)), "x, f and y");
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  kit::run([&] {  // x begins 2 bytes behind a multiple of 16
    return status = launch_conv(conv, d_halves.get() + 1, d_halves.get() + 1000, nullptr,
                                d_halves.get() + 2000);
  });
  expect_refusal("launch_conv", status);
}
